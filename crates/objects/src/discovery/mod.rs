//! What a client reads to learn which resources there are. Every document is serialised once, when
//! the [`Discovery`] of a catalog is made.
//!
//! | path | plain | aggregated |
//! |---|---|---|
//! | `/api` | APIVersions | APIGroupDiscoveryList with core alone |
//! | `/apis` | APIGroupList | APIGroupDiscoveryList with every other group |
//! | `/apis/GROUP` | APIGroup | – |
//! | `/api/v1`, `/apis/GROUP/VERSION` | APIResourceList | – |
//!
//! The aggregated form is offered in version v2 only: a request for v2beta1 falls through to the
//! next type in its Accept header.

mod aggregated;
mod paths;
mod plain;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use bytes::Bytes;

pub use paths::root_paths;

use crate::catalog::Catalog;

/// The content type of the aggregated form.
pub const AGGREGATED_CONTENT_TYPE: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Which half of the API an aggregated document describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// `/api`: the core group.
    Api,
    /// `/apis`: all named groups.
    Apis,
}

/// An aggregated document and its tag.
#[derive(Clone, Debug)]
pub struct Aggregated {
    /// The document.
    pub json: Bytes,
    /// Value of the ETag header, quotes included; the same for the same document.
    pub etag: String,
}

/// All discovery documents of one catalog.
#[derive(Clone, Debug)]
pub struct Discovery {
    api: Bytes,
    apis: Bytes,
    groups: BTreeMap<Box<str>, Bytes>,
    resources: BTreeMap<Box<str>, Bytes>,
    aggregated_api: Aggregated,
    aggregated_apis: Aggregated,
}

impl Discovery {
    /// The documents of `catalog`; `server_address` (`host:port`) is what `/api` names as the
    /// address for every client.
    pub fn new(catalog: &Catalog, server_address: &str) -> Self {
        let mut groups = BTreeMap::new();
        let mut resources = BTreeMap::new();
        for group in catalog.groups() {
            if !group.is_empty() {
                groups.insert(group.into(), plain::group(catalog, group));
            }
            for version in catalog.versions(group) {
                let list = plain::resource_list(catalog, group, version);
                resources.insert(plain::group_version(group, version).into(), list);
            }
        }
        Self {
            api: plain::api_versions(catalog, server_address),
            apis: plain::group_list(catalog),
            groups,
            resources,
            aggregated_api: aggregated::document(catalog, Root::Api),
            aggregated_apis: aggregated::document(catalog, Root::Apis),
        }
    }

    /// `/api`
    pub fn api(&self) -> &Bytes {
        &self.api
    }

    /// `/apis`
    pub fn apis(&self) -> &Bytes {
        &self.apis
    }

    /// `/apis/{group}`
    pub fn group(&self, group: &str) -> Option<&Bytes> {
        self.groups.get(group)
    }

    /// `/api/v1` (`api_version` is `v1`) or `/apis/{group}/{version}` (`group/version`).
    pub fn resources(&self, api_version: &str) -> Option<&Bytes> {
        self.resources.get(api_version)
    }

    /// `/api` or `/apis` in the aggregated form.
    pub fn aggregated(&self, root: Root) -> &Aggregated {
        match root {
            Root::Api => &self.aggregated_api,
            Root::Apis => &self.aggregated_apis,
        }
    }
}
