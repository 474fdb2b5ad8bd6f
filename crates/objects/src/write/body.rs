//! Reading a request's JSON.

use masthead_api::{Status, json_type};
use serde_json::Value;
use serde_json::error::Category;

use crate::write::{DEPTH_MAX, depth_of};

/// How much of a body an error message shows.
const EXCERPT_BYTES: usize = 30;

/// What the first look at an object reads, as error messages name it.
const TYPE_META: &str = r#"Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

/// Reads the object in a request's body; `kind` is what is wanted and told in the refusal.
///
/// Bytes that are no UTF-8 are read as U+FFFD, of two members of the same name the last one counts,
/// an integer that does not fit into 64 bits is a float.
///
/// # Errors
/// 400: no JSON, no object, nested deeper than [`DEPTH_MAX`], or an `apiVersion` that is none.
pub fn parse(kind: &str, bytes: &[u8]) -> Result<Value, Status> {
    let refuse = |complaint: String| {
        let excerpt = excerpt(bytes);
        Status::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {complaint} ({excerpt})"
        ))
    };
    let prefixed = |e| refuse(format!("couldn't get version/kind; json parse error: {e}"));
    let object = match json(bytes).map_err(prefixed)? {
        Value::Null => Value::Object(serde_json::Map::new()),
        Value::Object(members) => Value::Object(members),
        other => {
            return Err(prefixed(format!(
                "json: cannot unmarshal {} into {TYPE_META}",
                json_type(&other)
            )));
        }
    };
    for name in ["apiVersion", "kind"] {
        match object.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::String(version)) => {
                if name == "apiVersion" && version.split('/').count() > 2 {
                    return Err(refuse(format!("unexpected GroupVersion string: {version}")));
                }
            }
            Some(other) => {
                return Err(prefixed(format!(
                    "json: cannot unmarshal {} into Go struct field .{name} of type string",
                    json_type(other)
                )));
            }
        }
    }
    Ok(object)
}

/// Reads any JSON.
///
/// # Errors
/// What is wrong, in the words of the decoder that clients know.
pub fn json(bytes: &[u8]) -> Result<Value, String> {
    let text = String::from_utf8_lossy(bytes);
    let mut value: Value = serde_json::from_str(&text).map_err(|error| complaint(&text, &error))?;
    if depth_of(&value) > DEPTH_MAX {
        return Err("exceeded max depth".to_owned());
    }
    settle_numbers(&mut value);
    Ok(value)
}

/// An integer is one of 64 bits with a sign; all else is a float, and a float without a fraction
/// is written as an integer.
fn settle_numbers(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(settle_numbers),
        Value::Object(members) => members.values_mut().for_each(settle_numbers),
        Value::Number(number) if !number.is_i64() => {
            let float = number.as_f64().unwrap_or_default();
            if number.is_u64() {
                *value = Value::from(float);
            } else if float.fract() == 0.0 && float.abs() < 9.0e15 {
                *value = Value::from(float as i64);
            }
        }
        _ => {}
    }
}

fn complaint(text: &str, error: &serde_json::Error) -> String {
    if error.classify() == Category::Eof {
        return "unexpected end of JSON input".to_owned();
    }
    if error.to_string().starts_with("recursion limit") {
        return "exceeded max depth".to_owned();
    }
    let line = text
        .split('\n')
        .nth(error.line().saturating_sub(1))
        .unwrap_or_default();
    let at = line
        .as_bytes()
        .get(error.column().saturating_sub(1))
        .copied()
        .unwrap_or(b' ');
    let character = char::from(at).escape_default();
    let whereabouts = if error.to_string().starts_with("trailing characters") {
        "after top-level value"
    } else {
        "looking for beginning of value"
    };
    format!("invalid character '{character}' {whereabouts}")
}

/// The beginning of a body: as it is where it looks like JSON, else in hexadecimal.
fn excerpt(bytes: &[u8]) -> String {
    let shown = bytes.get(..EXCERPT_BYTES).unwrap_or(bytes);
    let more = if bytes.len() > EXCERPT_BYTES {
        " ..."
    } else {
        ""
    };
    match bytes.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(shown)),
        Some(_) => {
            let digit = |four: u8| char::from_digit(u32::from(four), 16).unwrap_or_default();
            let hex: String = shown
                .iter()
                .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
                .collect();
            format!("{hex}{more}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, message: &str) {
        let refusal = parse("ConfigMap", body.as_bytes()).unwrap_err();
        let wanted =
            format!("the object provided is unrecognized (must be of type ConfigMap): {message}");
        assert_eq!(
            (refusal.code, refusal.message.as_str()),
            (400, wanted.as_str()),
            "{body}"
        );
    }

    #[test]
    fn what_is_no_object_is_refused_with_its_beginning() {
        let parsing = "couldn't get version/kind; json parse error:";
        check("{", &format!("{parsing} unexpected end of JSON input ({{)"));
        check(
            "",
            &format!("{parsing} unexpected end of JSON input (<empty>)"),
        );
        check(
            "[]",
            &format!("{parsing} json: cannot unmarshal array into {TYPE_META} (5b5d)"),
        );
        check(
            r#"{"apiVersion": "a/b/c", "kind": "ConfigMap"}"#,
            r#"unexpected GroupVersion string: a/b/c ({"apiVersion": "a/b/c", "kind" ...)"#,
        );
        assert_eq!(parse("X", b"null").unwrap(), parse("X", b"{}").unwrap());
    }

    #[test]
    fn numbers_are_integers_of_64_bits_or_floats() {
        let read = |text: &str| json(text.as_bytes()).unwrap().to_string();
        assert_eq!(read("9223372036854775807"), "9223372036854775807");
        assert_eq!(read("1.0"), "1");
        assert_eq!(read("1.5"), "1.5");
        assert_eq!(read("18446744073709551615"), "1.8446744073709552e+19");
        assert_eq!(
            json("[".repeat(100_000).as_bytes()),
            Err("exceeded max depth".to_owned())
        );
    }

    #[test]
    fn bytes_that_are_no_text_become_the_replacement_character() {
        assert_eq!(json(b"\"a\xffb\"").unwrap(), "a\u{fffd}b");
    }
}
