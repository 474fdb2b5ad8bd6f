//! Field selectors: `metadata.name=a,spec.nodeName!=n1`.

use std::fmt::{self, Write as _};

use super::{REQUIREMENTS_MAX, SELECTOR_BYTES_MAX};
use crate::Object;

/// Requirements that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector(pub Vec<FieldRequirement>);

/// One requirement on one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldRequirement {
    /// `path=value`
    Equals {
        /// e.g. `spec.nodeName`
        path: String,
        /// The wanted value; empty also matches an absent field.
        value: String,
    },
    /// `path!=value`
    NotEquals {
        /// e.g. `spec.nodeName`
        path: String,
        /// The unwanted value.
        value: String,
    },
}

impl FieldSelector {
    /// Reads a selector; its requirements are ordered by their text.
    ///
    /// # Errors
    /// The whole text of the answer.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > SELECTOR_BYTES_MAX {
            return Err(format!(
                "invalid selector: longer than {SELECTOR_BYTES_MAX} bytes"
            ));
        }
        let mut terms: Vec<&str> = split_terms(text).filter(|term| !term.is_empty()).collect();
        if terms.len() > REQUIREMENTS_MAX {
            return Err(format!(
                "invalid selector: more than {REQUIREMENTS_MAX} requirements"
            ));
        }
        terms.sort_unstable();
        terms
            .into_iter()
            .map(|term| FieldRequirement::parse(text, term))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Do all requirements hold for `object`?
    pub fn matches(&self, object: &Object) -> bool {
        self.0.iter().all(|requirement| match requirement {
            FieldRequirement::Equals { path, value } => field(object, path) == value,
            FieldRequirement::NotEquals { path, value } => field(object, path) != value,
        })
    }

    /// The value that `path` must equal, where the selector pins it down.
    pub fn exact(&self, path: &str) -> Option<&str> {
        self.0.iter().find_map(|requirement| match requirement {
            FieldRequirement::Equals { path: p, value } if p == path => Some(value.as_str()),
            FieldRequirement::Equals { .. } | FieldRequirement::NotEquals { .. } => None,
        })
    }
}

impl FieldRequirement {
    /// The field that it is about.
    pub fn path(&self) -> &str {
        match self {
            Self::Equals { path, .. } | Self::NotEquals { path, .. } => path,
        }
    }

    fn parse(selector: &str, term: &str) -> Result<Self, String> {
        // The first of `!=`, `==` and `=` in the term; every `!` that is not part of one is text.
        let operator = term
            .match_indices('=')
            .next()
            .map(|(at, _)| at)
            .ok_or_else(|| format!("invalid selector: '{selector}'; can't understand '{term}'"))?;
        let (path, value) = term.split_at(operator);
        let value = value
            .strip_prefix("==")
            .or(value.strip_prefix('='))
            .unwrap_or_default();
        match path.strip_suffix('!') {
            // `!==x` is `!=` and the value `=x`.
            Some(path) => {
                let value = term.get(operator + 1..).unwrap_or_default();
                Ok(Self::NotEquals {
                    path: path.to_owned(),
                    value: unescape(value)?,
                })
            }
            None => Ok(Self::Equals {
                path: path.to_owned(),
                value: unescape(value)?,
            }),
        }
    }
}

/// Splits at the commas that are not escaped.
fn split_terms(text: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    text.split(move |c| {
        let was_escaped = std::mem::take(&mut escaped);
        escaped = !was_escaped && c == '\\';
        !was_escaped && c == ','
    })
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => out.push(c),
                other => {
                    let sequence: String = other.into_iter().collect();
                    return Err(format!(
                        "invalid field selector: invalid escape sequence: \\{sequence}"
                    ));
                }
            },
            ',' | '=' => {
                let number = u32::from(c);
                return Err(format!(
                    "invalid field selector: unescaped character in value: {number}"
                ));
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_char(',')?;
            }
            let (path, operator, value) = match requirement {
                FieldRequirement::Equals { path, value } => (path, "=", value),
                FieldRequirement::NotEquals { path, value } => (path, "!=", value),
            };
            write!(f, "{path}{operator}")?;
            for c in value.chars() {
                if matches!(c, '\\' | ',' | '=') {
                    f.write_char('\\')?;
                }
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

fn field<'a>(object: &'a Object, path: &str) -> &'a str {
    match path {
        "metadata.name" => object.key.name(),
        "metadata.namespace" => object.key.namespace(),
        path => object.fields.get(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_and_printed() {
        for (text, shown) in [
            ("", ""),
            (",", ""),
            ("metadata.name=a,", "metadata.name=a"),
            ("b==x,a!=y", "a!=y,b=x"),
            (r"metadata.name=a\,b\=c\\", r"metadata.name=a\,b\=c\\"),
            ("=a", "=a"),
            ("a b=c", "a b=c"),
            ("a=", "a="),
        ] {
            assert_eq!(
                FieldSelector::parse(text).unwrap().to_string(),
                shown,
                "{text}"
            );
        }
    }

    #[test]
    fn faults_are_told_in_upstreams_words() {
        for (text, error) in [
            (
                "metadata.name",
                "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
            ),
            (
                "a=b,metadata.name>a",
                "invalid selector: 'a=b,metadata.name>a'; can't understand 'metadata.name>a'",
            ),
            (
                "!metadata.name",
                "invalid selector: '!metadata.name'; can't understand '!metadata.name'",
            ),
            (
                "metadata.name=a=b",
                "invalid field selector: unescaped character in value: 61",
            ),
            (
                r"metadata.name=a\",
                r"invalid field selector: invalid escape sequence: \",
            ),
            (
                r"metadata.name=a\x",
                r"invalid field selector: invalid escape sequence: \x",
            ),
            (
                "a!==b",
                "invalid field selector: unescaped character in value: 61",
            ),
        ] {
            assert_eq!(FieldSelector::parse(text).unwrap_err(), error, "{text}");
        }
        assert!(FieldSelector::parse(&"a=b,".repeat(20_000)).is_err());
        assert!(FieldSelector::parse(&"a=b,".repeat(1_001)).is_err());
    }
}
