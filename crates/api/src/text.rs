//! Text as upstream's runtime prints it: quoted strings in messages, strings in JSON bodies.

use std::fmt::Write as _;

/// `text` in double quotes, as messages quote names and values: `"`, `\` and everything that is
/// not printable is escaped.
pub fn go_quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        push_quoted(&mut out, c);
    }
    out.push('"');
    out
}

/// One character of a quoted string.
fn push_quoted(out: &mut String, c: char) {
    let escape = match c {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\x07' => "\\a",
        '\x08' => "\\b",
        '\x0c' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\x0b' => "\\v",
        c if is_printable(c) => return out.push(c),
        c => {
            let number = u32::from(c);
            let written = match number {
                0..0x80 => write!(out, "\\x{number:02x}"),
                0x80..0x1_0000 => write!(out, "\\u{number:04x}"),
                _ => write!(out, "\\U{number:08x}"),
            };
            return written.unwrap_or_default();
        }
    };
    out.push_str(escape);
}

/// Printable, near enough: no control, no space but U+0020, no format or private-use character.
fn is_printable(c: char) -> bool {
    !(c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}'..='\u{ffff}' | '\u{e0000}'..='\u{10ffff}'))
}

/// Appends `text` as a JSON string. Bodies escape `<`, `>`, `&`, U+2028 and U+2029 as well.
pub fn json_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        let escape = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\x08' => "\\b",
            '\x0c' => "\\f",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                write!(out, "\\u{:04x}", u32::from(c)).unwrap_or_default();
                continue;
            }
            c => {
                out.push(c);
                continue;
            }
        };
        out.push_str(escape);
    }
    out.push('"');
}

/// The word that messages use for the type of `value`.
pub const fn json_type(value: &serde_json::Value) -> &'static str {
    use serde_json::Value;
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Compact JSON of `value` with the escapes of [`json_string`].
pub fn json_text(value: &serde_json::Value) -> String {
    // These characters can stand only inside strings.
    let plain = value.to_string();
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        if matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}') {
            write!(out, "\\u{:04x}", u32::from(c)).unwrap_or_default();
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_escapes_what_cannot_be_printed() {
        for (text, quoted) in [
            ("x ", r#""x ""#),
            ("a\u{1}b", r#""a\x01b""#),
            ("a\"\\\n\u{7f}", r#""a\"\\\n\x7f""#),
            ("üé", "\"üé\""),
            ("\u{2028}", r#""\u2028""#),
        ] {
            assert_eq!(go_quote(text), quoted);
        }
    }

    #[test]
    fn body_strings_escape_markup_and_line_separators() {
        let mut out = String::new();
        json_string(&mut out, "ü€😀 \u{2028} <&> \" \\ \t \n \u{1}");
        assert_eq!(
            out,
            r#""ü€😀 \u2028 \u003c\u0026\u003e \" \\ \t \n \u0001""#
        );
        assert_eq!(
            json_text(&serde_json::json!({"a": "x > 1"})),
            r#"{"a":"x \u003e 1"}"#
        );
    }
}
