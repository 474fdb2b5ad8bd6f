//! [`Resource`]: one resource of one group and version, and what is known about it.

use std::sync::Arc;

use crate::catalog::UnsupportedField;

/// The type that is stored: several API versions of one type share one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorageId(pub u16);

/// Whether objects live in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster.
    Cluster,
}

/// How objects of a resource are written on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// A built-in kind: `kind`, `apiVersion`, `metadata` first; list items carry no kind.
    Builtin,
    /// A custom resource: members in alphabetical order; list items carry their kind.
    Custom,
}

/// What a DELETE of one object that is gone at once answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteAnswer {
    /// A Status with details.
    Status,
    /// The object as it was.
    Object,
}

/// A subresource, e.g. `scale`.
#[derive(Clone, Debug)]
pub struct Subresource {
    /// The last path segment.
    pub name: Box<str>,
    /// Group of the answer's kind where it is not the resource's own.
    pub group: Option<Box<str>>,
    /// Version of the answer's kind where it is not the resource's own.
    pub version: Option<Box<str>>,
    /// Kind of the answer.
    pub kind: Box<str>,
    /// Verbs in discovery order.
    pub verbs: Box<[Box<str>]>,
}

/// Which fields a field selector may name, and how another one is refused.
#[derive(Clone, Debug, Default)]
pub struct SelectableFields {
    /// Accepted labels, `metadata.name` among them; empty means the two that every kind has.
    pub labels: Box<[Box<str>]>,
    /// Other spellings and what they stand for.
    pub aliases: Box<[(Box<str>, Box<str>)]>,
    /// Text of a refusal with `{}` for the label; empty means the text of kinds without own fields.
    pub refusal: Box<str>,
}

/// One resource of one group and version.
#[derive(Clone, Debug)]
pub struct Resource {
    /// API group, empty for core.
    pub group: Box<str>,
    /// e.g. `v1`.
    pub version: Box<str>,
    /// `group/version`, or the version alone in core.
    pub api_version: Box<str>,
    /// Plural name, as in paths.
    pub plural: Box<str>,
    /// Singular name.
    pub singular: Box<str>,
    /// Kind of one object.
    pub kind: Box<str>,
    /// Kind of a list.
    pub list_kind: Box<str>,
    /// Namespaced or not.
    pub scope: Scope,
    /// Verbs in discovery order.
    pub verbs: Box<[Box<str>]>,
    /// Short names, e.g. `po`.
    pub short_names: Box<[Box<str>]>,
    /// Categories, e.g. `all`.
    pub categories: Box<[Box<str>]>,
    /// Subresources in discovery order.
    pub subresources: Box<[Subresource]>,
    /// Where its objects lie; `None` for a resource that only answers (reviews, bindings).
    pub storage: Option<StorageId>,
    /// `true` where this version's JSON is what is stored.
    pub is_stored_version: bool,
    /// First part of every key with its slash, e.g. `/registry/pods/`; empty without storage.
    pub key_prefix: Box<str>,
    /// Field selectors.
    pub fields: SelectableFields,
    /// Answer of a DELETE.
    pub delete_answer: DeleteAnswer,
    /// Order of members on the wire.
    pub wire: Wire,
    /// The zero struct without `kind`, `apiVersion` and `metadata`: `{}` or more.
    pub empty: Box<str>,
}

impl Resource {
    /// Do its objects live in a namespace?
    pub fn is_namespaced(&self) -> bool {
        self.scope == Scope::Namespaced
    }

    /// Is `verb` (`get`, `list`, `deletecollection`, …) offered?
    pub fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|v| v.as_ref() == verb)
    }

    /// The subresource with this name.
    pub fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources.iter().find(|s| s.name.as_ref() == name)
    }

    /// Are its objects deleted after a grace period (pods)?
    pub fn is_graceful(&self) -> bool {
        self.group.is_empty() && self.plural.as_ref() == "pods"
    }

    /// `plural.group`, or the plural alone in core: how messages and metrics name it.
    pub fn group_resource(&self) -> String {
        if self.group.is_empty() {
            self.plural.to_string()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// The path that a field selector's label means, e.g. `spec.nodeName` for `spec.host`.
    ///
    /// # Errors
    /// The label is none that this kind supports; the error's text is the message of the 400.
    pub fn field<'a>(&'a self, label: &'a str) -> Result<&'a str, UnsupportedField> {
        let fields = &self.fields;
        let known = if fields.labels.is_empty() {
            matches!(label, "metadata.name" | "metadata.namespace")
        } else {
            fields.labels.iter().any(|l| l.as_ref() == label)
        };
        if known {
            return Ok(label);
        }
        if let Some((_, path)) = fields
            .aliases
            .iter()
            .find(|(alias, _)| alias.as_ref() == label)
        {
            return Ok(path);
        }
        Err(UnsupportedField(if fields.refusal.is_empty() {
            format!(
                "{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
            )
        } else {
            fields.refusal.replace("{}", label)
        }))
    }
}

/// Shared, because routes, caches and watchers keep it.
pub type SharedResource = Arc<Resource>;
