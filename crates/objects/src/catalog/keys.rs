//! Where an object lies in the store: kube-apiserver's own layout, so that either can read the
//! other's store.
//!
//! ```text
//! /registry/pods/NAMESPACE/NAME      /registry/services/specs/NAMESPACE/NAME      /registry/minions/NAME
//! ```

use masthead_api::Key;

use super::Catalog;
use super::resource::{Resource, StorageId};

/// The key of one object; `namespace` is empty for a cluster-scoped one.
pub fn store_key(resource: &Resource, namespace: &str, name: &str) -> String {
    let prefix = &resource.key_prefix;
    let mut key = String::with_capacity(prefix.len() + namespace.len() + 1 + name.len());
    key.push_str(prefix);
    if !namespace.is_empty() {
        key.push_str(namespace);
        key.push('/');
    }
    key.push_str(name);
    key
}

/// What the keys of all objects of `resource` start with, slash included.
pub fn store_prefix(resource: &Resource) -> &str {
    &resource.key_prefix
}

impl Catalog {
    /// Whose object lies at `key`; `None` where the key is none of an object of this catalog.
    pub fn locate(&self, key: &str) -> Option<(StorageId, Key)> {
        let resource = self.owner_of(key)?;
        let rest = key.strip_prefix(resource.key_prefix.as_ref())?;
        let mut segments = rest.split('/');
        let count = if resource.is_namespaced() { 2 } else { 1 };
        let proper = segments.clone().count() == count
            && segments.all(|segment| !matches!(segment, "" | "." | ".."));
        if proper {
            Some((resource.storage?, Key::from_text(rest)))
        } else {
            None
        }
    }
}
