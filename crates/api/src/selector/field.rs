//! Field selectors: `metadata.name=a,spec.nodeName!=n1`.

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

fn field<'a>(object: &'a Object, path: &str) -> &'a str {
    match path {
        "metadata.name" => object.key.name(),
        "metadata.namespace" => object.key.namespace(),
        path => object.fields.get(path),
    }
}
