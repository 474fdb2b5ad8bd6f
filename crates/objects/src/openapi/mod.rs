//! OpenAPI documents: which paths there are, with which verbs and parameters, for which kinds.
//!
//! They are truthful as far as they go: objects are described as objects of a kind with unknown
//! members. Documents are made when they are first asked for; the hash of a document is that of
//! what it is made from, so that the index costs no document.

mod dialect;
mod machinery;
mod operation;
mod schema;
#[cfg(test)]
mod tests;
mod v2;
mod v3;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha512};

use crate::catalog::Catalog;
use crate::wire;

/// Paths under `/openapi/v3` that no group-version has.
const PLAIN: [&str; 5] = [
    ".well-known/openid-configuration",
    "api",
    "apis",
    "openid/v1/jwks",
    "version",
];

/// A document of one path.
#[derive(Debug)]
pub struct Document {
    /// Changes when the document changes; 128 hexadecimal digits.
    pub hash: String,
    json: OnceLock<Bytes>,
}

/// All OpenAPI documents of one catalog.
#[derive(Debug)]
pub struct OpenApi {
    catalog: Catalog,
    version: String,
    index: Bytes,
    documents: BTreeMap<String, Document>,
    v2: OnceLock<Bytes>,
}

impl OpenApi {
    /// The documents of `catalog`; `version` is the version that they name (`v1.36.2`).
    pub fn new(catalog: &Catalog, version: &str) -> Self {
        let mut documents = BTreeMap::new();
        let mut add = |path: String, made_from: String| {
            let hash = hash(&format!("{version} {path} {made_from}"));
            documents.insert(
                path,
                Document {
                    hash,
                    json: OnceLock::new(),
                },
            );
        };
        for path in PLAIN {
            add(path.to_owned(), String::new());
        }
        for group in catalog.groups() {
            if !group.is_empty() {
                add(format!("apis/{group}"), String::new());
            }
            for version in catalog.versions(group) {
                let resources: Vec<_> = catalog.resources(group, version).collect();
                add(path_of(group, version), format!("{resources:?}"));
            }
        }
        let paths: Map<String, Value> = documents
            .iter()
            .map(|(path, document)| {
                (
                    path.clone(),
                    json!({"serverRelativeURL": url(path, &document.hash)}),
                )
            })
            .collect();
        let index = wire::to_vec(&json!({ "paths": paths })).into();
        Self {
            catalog: catalog.clone(),
            version: version.to_owned(),
            index,
            documents,
            v2: OnceLock::new(),
        }
    }

    /// `/openapi/v3`
    pub fn index(&self) -> &Bytes {
        &self.index
    }

    /// The document of a path below `/openapi/v3/`, e.g. `apis/apps/v1`, and its hash.
    pub fn document(&self, path: &str) -> Option<(&Bytes, &str)> {
        let document = self.documents.get(path)?;
        let json = document.json.get_or_init(|| self.make(path).into());
        Some((json, &document.hash))
    }

    /// The path and query under which a document may be kept for ever.
    pub fn location(&self, path: &str) -> Option<String> {
        self.documents
            .get(path)
            .map(|document| url(path, &document.hash))
    }

    /// `/openapi/v2`
    pub fn v2(&self) -> &Bytes {
        self.v2
            .get_or_init(|| wire::to_vec(&v2::document(&self.catalog, &self.version)).into())
    }

    fn make(&self, path: &str) -> Vec<u8> {
        let (group, version) = match path.split('/').collect::<Vec<_>>().as_slice() {
            ["api", version] => ("", *version),
            ["apis", group, version] => (*group, *version),
            _ => return wire::to_vec(&v3::plain(&format!("/{path}/"), &self.version)),
        };
        wire::to_vec(&v3::document(&self.catalog, group, version, &self.version))
    }
}

fn path_of(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("api/{version}")
    } else {
        format!("apis/{group}/{version}")
    }
}

fn url(path: &str, hash: &str) -> String {
    format!("/openapi/v3/{path}?hash={hash}")
}

fn hash(text: &str) -> String {
    let mut hex = String::with_capacity(128);
    for byte in Sha512::digest(text.as_bytes()) {
        // Writing into a String cannot fail.
        write!(hex, "{byte:02X}").unwrap_or_default();
    }
    hex
}
