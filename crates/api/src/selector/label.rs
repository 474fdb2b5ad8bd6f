//! Label selectors: `app=x,tier in (a,b),!old`.

use std::fmt::{self, Write as _};

use super::label_parser;
use crate::Labels;

/// Requirements that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelSelector(pub Vec<LabelRequirement>);

/// One requirement on one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelRequirement {
    /// `key in (a,b)`; `key=a` and `key==a` are `In` with one value.
    In {
        /// The label's key.
        key: String,
        /// The accepted values.
        values: Vec<String>,
    },
    /// `key notin (a,b)`, `key!=a`: also true where the key is absent.
    NotIn {
        /// The label's key.
        key: String,
        /// The refused values.
        values: Vec<String>,
    },
    /// `key`
    Exists {
        /// The label's key.
        key: String,
    },
    /// `!key`
    DoesNotExist {
        /// The label's key.
        key: String,
    },
    /// `key>n`, for a value that is an integer.
    GreaterThan {
        /// The label's key.
        key: String,
        /// The bound, excluded.
        bound: i64,
    },
    /// `key<n`, for a value that is an integer.
    LessThan {
        /// The label's key.
        key: String,
        /// The bound, excluded.
        bound: i64,
    },
}

impl LabelSelector {
    /// Reads a selector; its requirements are ordered by key.
    ///
    /// # Errors
    /// The whole text of the answer.
    pub fn parse(text: &str) -> Result<Self, String> {
        label_parser::parse(text).map(Self)
    }

    /// Do all requirements hold for `labels`?
    pub fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|requirement| requirement.matches(labels))
    }

    /// A `key=value` that every match must have, if the selector pins one down.
    pub fn exact(&self) -> Option<(&str, &str)> {
        self.0.iter().find_map(|requirement| match requirement {
            LabelRequirement::In { key, values } => match values.as_slice() {
                [only] => Some((key.as_str(), only.as_str())),
                _ => None,
            },
            _ => None,
        })
    }
}

impl LabelRequirement {
    /// The label that it is about.
    pub fn key(&self) -> &str {
        match self {
            Self::In { key, .. }
            | Self::NotIn { key, .. }
            | Self::Exists { key }
            | Self::DoesNotExist { key }
            | Self::GreaterThan { key, .. }
            | Self::LessThan { key, .. } => key,
        }
    }

    fn matches(&self, labels: &Labels) -> bool {
        let integer = |key: &str| labels.get(key).and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::In { key, values } => labels
                .get(key)
                .is_some_and(|value| values.iter().any(|wanted| wanted == value)),
            Self::NotIn { key, values } => labels
                .get(key)
                .is_none_or(|value| values.iter().all(|refused| refused != value)),
            Self::Exists { key } => labels.get(key).is_some(),
            Self::DoesNotExist { key } => labels.get(key).is_none(),
            Self::GreaterThan { key, bound } => integer(key).is_some_and(|value| value > *bound),
            Self::LessThan { key, bound } => integer(key).is_some_and(|value| value < *bound),
        }
    }
}

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_char(',')?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for LabelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::In { key, values } => set(f, key, values, ("=", "in")),
            Self::NotIn { key, values } => set(f, key, values, ("!=", "notin")),
            Self::Exists { key } => f.write_str(key),
            Self::DoesNotExist { key } => write!(f, "!{key}"),
            Self::GreaterThan { key, bound } => write!(f, "{key}>{bound}"),
            Self::LessThan { key, bound } => write!(f, "{key}<{bound}"),
        }
    }
}

/// One value after the first operator, several in brackets after the second.
fn set(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    values: &[String],
    (one, several): (&str, &str),
) -> fmt::Result {
    match values {
        [only] => write!(f, "{key}{one}{only}"),
        values => write!(f, "{key} {several} ({})", values.join(",")),
    }
}
