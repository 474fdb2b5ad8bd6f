//! Selectors: which objects of a resource a list or a watch is about.

mod field;
mod label;
mod label_parser;

pub use field::{FieldRequirement, FieldSelector};
pub use label::{LabelRequirement, LabelSelector};

use crate::Object;

/// Longest selector that is read.
const SELECTOR_BYTES_MAX: usize = 64 * 1024;
/// Most requirements of one selector: each is tried on each object; a guess.
const REQUIREMENTS_MAX: usize = 1_000;

/// Everything that narrows a list or watch: scope, labels, fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// Only this namespace (from the path or `metadata.namespace=`).
    pub namespace: Option<String>,
    /// Only this name (from the path or `metadata.name=`).
    pub name: Option<String>,
    /// Requirements on labels; empty matches all.
    pub labels: LabelSelector,
    /// Requirements on fields; empty matches all.
    pub fields: FieldSelector,
}

impl Selector {
    /// Does `object` belong to the selected set?
    pub fn matches(&self, object: &Object) -> bool {
        self.namespace
            .as_deref()
            .is_none_or(|namespace| object.key.namespace() == namespace)
            && self
                .name
                .as_deref()
                .is_none_or(|name| object.key.name() == name)
            && self.labels.matches(&object.labels)
            && self.fields.matches(object)
    }

    /// Are there requirements beyond namespace scope? (Then a list says nothing of how many
    /// items remain.)
    pub fn has_requirements(&self) -> bool {
        !self.labels.0.is_empty() || !self.fields.0.is_empty()
    }
}
