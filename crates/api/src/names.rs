//! What a label's key and value and a DNS subdomain may look like, and the words for what is not.

const KEY_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start \
    and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex \
    used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric \
    characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
    'MyValue',  or 'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
    alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character \
    (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const NAME_BYTES_MAX: usize = 63;
const SUBDOMAIN_BYTES_MAX: usize = 253;

/// What is wrong with `key` as the key of a label (`name` or `prefix/name`); empty if nothing.
pub fn qualified_name_errors(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let name = match key.split_once('/') {
        None => key,
        Some((_, name)) if name.contains('/') => {
            return vec![format!(
                "a valid label key {KEY_RULE} with an optional DNS subdomain prefix and '/' \
                 (e.g. 'example.com/MyName')"
            )];
        }
        Some((prefix, name)) => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                errors.extend(
                    subdomain_errors(prefix)
                        .iter()
                        .map(|e| format!("prefix part {e}")),
                );
            }
            name
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_BYTES_MAX {
        errors.push(format!(
            "name part must be no more than {NAME_BYTES_MAX} bytes"
        ));
    }
    if !is_name(name) {
        errors.push(format!("name part {KEY_RULE}"));
    }
    errors
}

/// What is wrong with `value` as the value of a label; empty if nothing.
pub fn label_value_errors(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > NAME_BYTES_MAX {
        errors.push(format!("must be no more than {NAME_BYTES_MAX} bytes"));
    }
    if !value.is_empty() && !is_name(value) {
        errors.push(VALUE_RULE.to_owned());
    }
    errors
}

/// What is wrong with `name` as a lowercase RFC 1123 subdomain; empty if nothing.
pub fn subdomain_errors(name: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if name.len() > SUBDOMAIN_BYTES_MAX {
        errors.push(format!("must be no more than {SUBDOMAIN_BYTES_MAX} bytes"));
    }
    let lower = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    if !name
        .split('.')
        .all(|label| is_framed(label, lower, |b| lower(b) || b == b'-'))
    {
        errors.push(SUBDOMAIN_RULE.to_owned());
    }
    errors
}

fn is_name(name: &str) -> bool {
    is_framed(
        name,
        |b| b.is_ascii_alphanumeric(),
        |b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'),
    )
}

/// Is `text` not empty, its first and last byte an `end`, every byte an `inner`?
fn is_framed(text: &str, end: impl Fn(u8) -> bool, inner: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|&b| end(b))
        && bytes.last().is_some_and(|&b| end(b))
        && bytes.iter().all(|&b| inner(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_are_bounded_and_framed_by_alphanumerics() {
        for key in ["a", "a/b", "example.com/My.Name_1"] {
            assert_eq!(qualified_name_errors(key), Vec::<String>::new(), "{key}");
        }
        for (key, count) in [
            ("", 2),
            ("/x", 1),
            ("a/", 2),
            ("-a", 1),
            ("A/b", 1),
            ("a/b/c", 1),
        ] {
            assert_eq!(qualified_name_errors(key).len(), count, "{key}");
        }
        assert_eq!(label_value_errors(""), Vec::<String>::new());
        assert_eq!(
            label_value_errors(&"x".repeat(64)),
            ["must be no more than 63 bytes"]
        );
        assert_eq!(subdomain_errors("a..b").len(), 1);
    }
}
