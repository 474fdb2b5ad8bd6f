//! `resourceVersion` in a request.

use std::num::IntErrorKind;

use crate::text::go_quote;

/// The number that `text` is; `""` and `"0"` are 0.
///
/// # Errors
/// The whole text that a watch and a get answer with; a list puts `invalid resource version: `
/// before it.
pub fn parse_resource_version(text: &str) -> Result<u64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let why = if text.starts_with('+') {
        "invalid syntax"
    } else {
        match text.parse::<u64>() {
            Ok(number) => return Ok(number),
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => "value out of range",
            Err(_) => "invalid syntax",
        }
    };
    let quoted = go_quote(text);
    Err(format!(
        "resourceVersion: Invalid value: {quoted}: strconv.ParseUint: parsing {quoted}: {why}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_decimals_are_versions() {
        for (text, number) in [
            ("", 0),
            ("0", 0),
            ("7", 7),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_resource_version(text), Ok(number));
        }
        for text in ["abc", "-1", "+1", "1.5", "0x1", " 0", "1_0"] {
            let error = parse_resource_version(text).unwrap_err();
            assert_eq!(
                error,
                format!(
                    "resourceVersion: Invalid value: \"{text}\": strconv.ParseUint: parsing \"{text}\": invalid syntax"
                )
            );
        }
        let error = parse_resource_version("18446744073709551616").unwrap_err();
        assert!(
            error.ends_with("\"18446744073709551616\": value out of range"),
            "{error}"
        );
    }
}
