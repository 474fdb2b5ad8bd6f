//! [`Query`]: the parameters of a request.

use std::num::IntErrorKind;

use crate::Status;
use crate::text::go_quote;

/// Longest query string that is read: the size of the whole request head, generously.
const QUERY_BYTES_MAX: usize = 256 * 1024;
/// Most parameters that are read: a guess far above any client's.
const PARAMETERS_MAX: usize = 1_000;

/// Decoded parameters in the order of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Decodes what follows the `?`. As upstream does it, a parameter with a malformed escape or
    /// with a bare `;` is dropped without a word.
    ///
    /// # Errors
    /// 400 where the query is too long or has too many parameters.
    pub fn parse(raw: &str) -> Result<Self, Status> {
        if raw.len() > QUERY_BYTES_MAX {
            return Err(Status::bad_request("the query string is too long"));
        }
        let mut parameters = Vec::new();
        for part in raw
            .split('&')
            .filter(|part| !part.is_empty() && !part.contains(';'))
        {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            if let (Some(name), Some(value)) =
                (decode(name, Plus::Space), decode(value, Plus::Space))
            {
                parameters.push((name, value));
            }
            if parameters.len() > PARAMETERS_MAX {
                return Err(Status::bad_request(
                    "the query string has too many parameters",
                ));
            }
        }
        Ok(Self(parameters))
    }

    /// The first value of `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_all(name).next()
    }

    /// All values of `name`.
    pub fn get_all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(move |(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// All parameters.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// `name` as a boolean, if it is there: everything but `0` and `false` (in any case) is true,
    /// the empty value too.
    pub fn boolean(&self, name: &str) -> Option<bool> {
        self.get(name)
            .map(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// `name` as an integer, if it is there.
    ///
    /// # Errors
    /// 400 where it is none.
    pub fn integer(&self, name: &str) -> Result<Option<i64>, Status> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        text.parse()
            .map(Some)
            .map_err(|error: std::num::ParseIntError| {
                let why = match error.kind() {
                    IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
                    _ => "invalid syntax",
                };
                Status::bad_request(format!(
                    "strconv.ParseInt: parsing {}: {why}",
                    go_quote(text)
                ))
            })
    }
}

/// What a `+` stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plus {
    /// A space, in a query.
    Space,
    /// Itself, in a path.
    Plus,
}

/// `text` without its percent-escapes; `None` where one is malformed. Bytes that are no UTF-8
/// become U+FFFD.
pub(crate) fn decode(text: &str, plus: Plus) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? << 4 | hex(rest.next()?)?,
            b'+' if plus == Plus::Space => b' ',
            byte => byte,
        });
    }
    Some(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_wins_and_malformed_parameters_are_dropped() {
        let query = Query::parse("a=1&a=2&b&c=%zz&d=x;y&e=%41+%2B&&f==").unwrap();
        for (name, value) in [
            ("a", Some("1")),
            ("b", Some("")),
            ("c", None),
            ("d", None),
            ("e", Some("A +")),
            ("f", Some("=")),
        ] {
            assert_eq!(query.get(name), value, "{name}");
        }
        assert_eq!(query.get_all("a").collect::<Vec<_>>(), ["1", "2"]);
    }

    #[test]
    fn every_value_but_zero_and_false_is_true() {
        for (value, wanted) in [
            ("", true),
            ("1", true),
            ("no", true),
            ("0", false),
            ("FALSE", false),
            ("false", false),
        ] {
            let query = Query::parse(&format!("watch={value}")).unwrap();
            assert_eq!(query.boolean("watch"), Some(wanted), "{value}");
        }
        assert_eq!(Query::default().boolean("watch"), None);
    }

    #[test]
    fn integers_are_signed_decimals() {
        let integer = |value: &str| {
            Query::parse(&format!("limit={value}"))
                .unwrap()
                .integer("limit")
        };
        assert_eq!(integer("-1").unwrap(), Some(-1));
        assert_eq!(integer("9223372036854775807").unwrap(), Some(i64::MAX));
        for (value, why) in [
            ("x", "invalid syntax"),
            ("", "invalid syntax"),
            ("1.5", "invalid syntax"),
            ("9223372036854775808", "value out of range"),
        ] {
            let status = integer(value).unwrap_err();
            assert_eq!(status.code, 400);
            assert_eq!(
                status.message,
                format!("strconv.ParseInt: parsing \"{value}\": {why}")
            );
        }
    }

    #[test]
    fn too_much_is_refused() {
        assert_eq!(Query::parse(&"a&".repeat(2_000)).unwrap_err().code, 400);
        assert_eq!(
            Query::parse(&"a".repeat(QUERY_BYTES_MAX + 1))
                .unwrap_err()
                .code,
            400
        );
    }
}
