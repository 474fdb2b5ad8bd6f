//! The table of resources: what can be asked for, under which path, and where it lies.
//!
//! [`Catalog::builtin`] holds what every server has; a catalog with more ([`Catalog::with`]) is
//! another value, so that definitions made at run time swap one for the next.

mod bookmark;
mod builtin;
mod keys;
mod resource;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use bookmark::{BookmarkKind, bookmark_json};
pub use keys::{store_key, store_prefix};
pub use resource::{
    DeleteAnswer, Resource, Scope, SelectableFields, SharedResource, StorageId, Subresource, Wire,
};

/// A field selector names a label that the kind does not support.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnsupportedField(pub String);

/// All resources, in discovery order.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    resources: Vec<SharedResource>,
    /// Positions ordered by plural, group, version.
    by_path: Vec<usize>,
    /// Positions of stored versions, ordered by key prefix.
    by_prefix: Vec<usize>,
}

impl Catalog {
    /// The resources that every server has.
    pub fn builtin() -> &'static Self {
        // A test proves that the table can be read.
        static BUILTIN: LazyLock<Catalog> =
            LazyLock::new(|| Catalog::default().with(builtin::resources().unwrap_or_default()));
        &BUILTIN
    }

    /// This catalog and `more` behind it.
    #[must_use]
    pub fn with(&self, more: impl IntoIterator<Item = Resource>) -> Self {
        let mut resources = self.resources.clone();
        resources.extend(more.into_iter().map(SharedResource::new));
        let mut by_path: Vec<usize> = (0..resources.len()).collect();
        by_path.sort_by_key(|at| resources.get(*at).map(|r| path_of(r)));
        let mut by_prefix: Vec<usize> = (0..resources.len())
            .filter(|at| resources.get(*at).is_some_and(|r| r.is_stored_version))
            .collect();
        by_prefix.sort_by_key(|at| resources.get(*at).map(|r| r.key_prefix.as_ref()));
        Self {
            resources,
            by_path,
            by_prefix,
        }
    }

    /// The resource at `/apis/{group}/{version}/{plural}`, or `/api/v1/{plural}` for an empty group.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<&SharedResource> {
        let wanted = (plural, group, version);
        let found = self
            .by_path
            .binary_search_by(|at| {
                self.resources
                    .get(*at)
                    .map(|r| path_of(r))
                    .cmp(&Some(wanted))
            })
            .ok()?;
        self.resources.get(*self.by_path.get(found)?)
    }

    /// The resource whose objects have this kind.
    pub fn of_kind(&self, group: &str, version: &str, kind: &str) -> Option<&SharedResource> {
        self.iter().find(|r| {
            r.kind.as_ref() == kind && r.group.as_ref() == group && r.version.as_ref() == version
        })
    }

    /// The resource in whose version the objects of `storage` are stored.
    pub fn stored(&self, storage: StorageId) -> Option<&SharedResource> {
        self.iter()
            .find(|r| r.storage == Some(storage) && r.is_stored_version)
    }

    /// All resources in discovery order.
    pub fn iter(&self) -> impl Iterator<Item = &SharedResource> {
        self.resources.iter()
    }

    /// One resource for each type that is stored.
    pub fn storages(&self) -> impl Iterator<Item = &SharedResource> {
        self.iter().filter(|r| r.is_stored_version)
    }

    /// Group names in discovery order, core (empty) among them.
    pub fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        for resource in self.iter() {
            if !groups.contains(&resource.group.as_ref()) {
                groups.push(&resource.group);
            }
        }
        groups
    }

    /// Versions of `group`, the preferred one first; empty for an unknown group.
    pub fn versions(&self, group: &str) -> Vec<&str> {
        let mut versions: Vec<&str> = Vec::new();
        for resource in self.iter().filter(|r| r.group.as_ref() == group) {
            if !versions.contains(&resource.version.as_ref()) {
                versions.push(&resource.version);
            }
        }
        versions
    }

    /// Resources of one group and version, in discovery order.
    pub fn resources<'a>(
        &'a self,
        group: &'a str,
        version: &'a str,
    ) -> impl Iterator<Item = &'a SharedResource> {
        self.iter()
            .filter(move |r| r.group.as_ref() == group && r.version.as_ref() == version)
    }

    /// The stored resource whose key prefix starts `key`. No prefix starts another one.
    fn owner_of(&self, key: &str) -> Option<&SharedResource> {
        let behind = self.by_prefix.partition_point(|at| {
            self.resources
                .get(*at)
                .is_some_and(|r| r.key_prefix.as_ref() <= key)
        });
        let found = self
            .resources
            .get(*self.by_prefix.get(behind.checked_sub(1)?)?)?;
        key.starts_with(found.key_prefix.as_ref()).then_some(found)
    }
}

fn path_of(resource: &Resource) -> (&str, &str, &str) {
    (&resource.plural, &resource.group, &resource.version)
}
