//! [`ContinueToken`]: where the next page of a list begins.
//!
//! ```text
//! base64url without padding of {"v":"meta.k8s.io/v1","rv":5430,"start":"/ns1/pod-0499\u0000"}
//! ```

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use crate::text::{go_quote, json_string, json_type};

const VERSION: &str = "meta.k8s.io/v1";
/// Longest token that is read: a key has two names of 253 bytes; the rest is margin.
const TOKEN_BYTES_MAX: usize = 16 * 1024;
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireNone),
);

/// Where the next page of a list begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinueToken {
    /// The revision of the listing; -1: go on at the newest state.
    pub revision: i64,
    /// The first key of the page relative to the list's prefix, without a leading `/`: the last
    /// key of the page before and a NUL.
    pub start: String,
}

impl ContinueToken {
    /// The token that goes on right after `key` (relative to the list's prefix).
    pub fn after(revision: i64, key: &str) -> Self {
        Self {
            revision,
            start: format!("{key}\0"),
        }
    }

    /// The token as the client gets it.
    pub fn encode(&self) -> String {
        let mut json = format!(r#"{{"v":"{VERSION}","rv":{},"start":"#, self.revision);
        let mut start = String::with_capacity(self.start.len() + 1);
        if !self.start.starts_with('/') {
            start.push('/');
        }
        start.push_str(&self.start);
        json_string(&mut json, &start);
        json.push('}');
        BASE64.encode(json)
    }

    /// Reads a token, with or without the leading `/` in its key.
    ///
    /// # Errors
    /// The cause, which the answer puts after `invalid continue token: `.
    pub fn decode(token: &str) -> Result<Self, String> {
        Self::read(token).map_err(|why| format!("continue key is not valid: {why}"))
    }

    fn read(token: &str) -> Result<Self, String> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(format!("longer than {TOKEN_BYTES_MAX} bytes"));
        }
        let fields = RawToken::parse(&decode_base64(token)?)?;
        if fields.version != VERSION {
            return Err(format!(
                "server does not recognize this encoded version {}",
                fields.version
            ));
        }
        if fields.revision == 0 {
            return Err(format!(
                "incorrect encoded start resourceVersion (version {VERSION})"
            ));
        }
        if fields.start.is_empty() {
            return Err(format!("encoded start key empty (version {VERSION})"));
        }
        let start = fields.start.strip_prefix('/').unwrap_or(&fields.start);
        if !is_clean(start) {
            return Err(fields.start);
        }
        Ok(Self {
            revision: fields.revision,
            start: start.to_owned(),
        })
    }
}

/// Is a path of these segments the same after cleaning? (No empty segment, `.` or `..`.)
fn is_clean(path: &str) -> bool {
    path.is_empty()
        || path
            .split('/')
            .all(|segment| !matches!(segment, "" | "." | ".."))
}

/// Decodes, skipping line ends; an error names the byte as upstream's decoder does.
fn decode_base64(token: &str) -> Result<Vec<u8>, String> {
    let known = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let corrupt = |at: usize| format!("illegal base64 data at input byte {at}");
    let mut text = Vec::with_capacity(token.len());
    for (at, byte) in token.bytes().enumerate() {
        match byte {
            b'\r' | b'\n' => {}
            byte if known(byte) => text.push(byte),
            _ => return Err(corrupt(at)),
        }
    }
    BASE64
        .decode(&text)
        .map_err(|_| corrupt(token.len().saturating_sub(1)))
}

/// The members of a token before they are judged.
#[derive(Default)]
struct RawToken {
    version: String,
    revision: i64,
    start: String,
}

impl RawToken {
    fn parse(json: &[u8]) -> Result<Self, String> {
        let value: Value =
            serde_json::from_slice(json).map_err(|error| json_fault(json, &error))?;
        let mut token = Self::default();
        let members = match value {
            Value::Object(members) => members,
            Value::Null => return Ok(token),
            other => {
                let kind = json_type(&other);
                return Err(format!(
                    "json: cannot unmarshal {kind} into Go value of type storage.continueToken"
                ));
            }
        };
        for (name, value) in members {
            match name.to_ascii_lowercase().as_str() {
                "v" => read_text(&mut token.version, &value, "v")?,
                "start" => read_text(&mut token.start, &value, "start")?,
                "rv" => match &value {
                    Value::Null => {}
                    value => match value.as_i64() {
                        Some(number) => token.revision = number,
                        None => return Err(type_fault(value, "rv", "int64")),
                    },
                },
                _ => {}
            }
        }
        Ok(token)
    }
}

fn read_text(into: &mut String, value: &Value, field: &str) -> Result<(), String> {
    match value {
        Value::Null => {}
        Value::String(text) => into.clone_from(text),
        other => return Err(type_fault(other, field, "string")),
    }
    Ok(())
}

fn type_fault(value: &Value, field: &str, wanted: &str) -> String {
    let mut kind = json_type(value).to_owned();
    if let Value::Number(number) = value
        && wanted != "string"
    {
        write!(kind, " {number}").unwrap_or_default();
    }
    format!(
        "json: cannot unmarshal {kind} into Go struct field continueToken.{field} of type {wanted}"
    )
}

/// The words for JSON that cannot be read; exact where the fault is the first or the last byte.
fn json_fault(json: &[u8], error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "unexpected end of JSON input".to_owned();
    }
    let at = error.column().saturating_sub(1);
    let byte = json.get(at).copied().unwrap_or_default();
    let shown = match byte {
        b'\'' => r"'\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        byte => format!(
            "'{}'",
            go_quote(&char::from(byte).to_string()).trim_matches('"')
        ),
    };
    format!("invalid character {shown} looking for beginning of value")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(token: &str, cause: &str) {
        let text = format!("continue key is not valid: {cause}");
        assert_eq!(ContinueToken::decode(token), Err(text), "{token}");
    }

    #[test]
    fn malformed_tokens_are_refused_with_upstreams_causes() {
        check("x", "illegal base64 data at input byte 0");
        check("!!", "illegal base64 data at input byte 0");
        check(
            "abc",
            "invalid character 'i' looking for beginning of value",
        );
        check(
            "AAAA",
            r"invalid character '\x00' looking for beginning of value",
        );
        check("e30", "server does not recognize this encoded version ");
        check("e30=", "illegal base64 data at input byte 3");
        check("", "unexpected end of JSON input");
        let rv = "incorrect encoded start resourceVersion (version meta.k8s.io/v1)";
        for (json, cause) in [
            (r#"{"v":"meta.k8s.io/v1"}"#, rv),
            (r#"{"v":"meta.k8s.io/v1","start":"../x"}"#, rv),
            (r#"{"v":"meta.k8s.io/v1","rv":0,"start":"s1"}"#, rv),
            (
                r#"{"v":"v9","rv":5,"start":"a\u0000"}"#,
                "server does not recognize this encoded version v9",
            ),
            (
                r#"{"v":"meta.k8s.io/v1","rv":-1}"#,
                "encoded start key empty (version meta.k8s.io/v1)",
            ),
            (r#"{"v":"meta.k8s.io/v1","rv":5,"start":"../x"}"#, "../x"),
            (r#"{"v":"meta.k8s.io/v1","rv":5,"start":"a//x"}"#, "a//x"),
            (r#"{"v":"meta.k8s.io/v1","rv":5,"start":"/a/"}"#, "/a/"),
        ] {
            check(&BASE64.encode(json), cause);
        }
    }

    #[test]
    fn tokens_come_back_as_they_went_and_the_leading_slash_is_optional() {
        let token = ContinueToken::after(5430, "ns1/pod-0499");
        let json = r#"{"v":"meta.k8s.io/v1","rv":5430,"start":"/ns1/pod-0499\u0000"}"#;
        assert_eq!(BASE64.decode(token.encode()).unwrap(), json.as_bytes());
        assert_eq!(ContinueToken::decode(&token.encode()), Ok(token.clone()));
        let bare = BASE64.encode(json.replace("\"/ns1", "\"ns1"));
        assert_eq!(ContinueToken::decode(&bare), Ok(token));
        let newest = ContinueToken::after(-1, "s1");
        assert_eq!(ContinueToken::decode(&newest.encode()), Ok(newest));
    }
}
