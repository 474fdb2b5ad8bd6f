//! The list of paths at `/`.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde::Serialize;

use crate::catalog::Catalog;
use crate::wire;

/// Paths that do not depend on the catalog.
const FIXED: [&str; 19] = [
    "/.well-known/openid-configuration",
    "/api",
    "/apis",
    "/apis/",
    "/healthz",
    "/healthz/etcd",
    "/healthz/ping",
    "/livez",
    "/livez/etcd",
    "/livez/ping",
    "/metrics",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/openid/v1/jwks",
    "/readyz",
    "/readyz/etcd",
    "/readyz/ping",
    "/version",
];

#[derive(Serialize)]
struct Paths {
    paths: BTreeSet<String>,
}

/// The document at `/`: every path that can be asked for without knowing an object, sorted.
pub fn root_paths(catalog: &Catalog) -> Bytes {
    let mut paths: BTreeSet<String> = FIXED.iter().map(ToString::to_string).collect();
    for group in catalog.groups() {
        let root = if group.is_empty() {
            "/api".to_owned()
        } else {
            format!("/apis/{group}")
        };
        for version in catalog.versions(group) {
            paths.insert(format!("{root}/{version}"));
        }
        paths.insert(root);
    }
    wire::to_vec(&Paths { paths }).into()
}
