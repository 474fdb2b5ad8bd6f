//! The plain discovery documents.

use bytes::Bytes;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::catalog::{Catalog, Resource};
use crate::wire;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiVersions<'a> {
    kind: &'static str,
    versions: Vec<&'a str>,
    #[serde(rename = "serverAddressByClientCIDRs")]
    addresses: [Address<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Address<'a> {
    #[serde(rename = "clientCIDR")]
    client_cidr: &'static str,
    server_address: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupVersion<'a> {
    group_version: String,
    version: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Group<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'static str>,
    name: &'a str,
    versions: Vec<GroupVersion<'a>>,
    preferred_version: Option<GroupVersion<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupList<'a> {
    kind: &'static str,
    api_version: &'static str,
    groups: Vec<Group<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceList<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_version: Option<&'static str>,
    group_version: String,
    resources: Vec<ApiResource<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ApiResource<'a> {
    name: String,
    singular_name: &'a str,
    namespaced: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    kind: &'a str,
    verbs: &'a [Box<str>],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'a [Box<str>],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'a [Box<str>],
    #[serde(skip_serializing_if = "Option::is_none")]
    storage_version_hash: Option<String>,
}

/// `group/version`, or the version alone in core.
pub(super) fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}

/// `/api`
pub(super) fn api_versions(catalog: &Catalog, server_address: &str) -> Bytes {
    let address = Address {
        client_cidr: "0.0.0.0/0",
        server_address,
    };
    let versions = catalog.versions("");
    wire::to_vec(&ApiVersions {
        kind: "APIVersions",
        versions,
        addresses: [address],
    })
    .into()
}

fn describe<'a>(catalog: &'a Catalog, name: &'a str) -> Group<'a> {
    let of = |version| GroupVersion {
        group_version: group_version(name, version),
        version,
    };
    let versions = catalog.versions(name);
    Group {
        kind: None,
        api_version: None,
        name,
        preferred_version: versions.first().copied().map(of),
        versions: versions.into_iter().map(of).collect(),
    }
}

/// `/apis/{group}`
pub(super) fn group(catalog: &Catalog, name: &str) -> Bytes {
    let mut group = describe(catalog, name);
    group.kind = Some("APIGroup");
    group.api_version = Some("v1");
    wire::to_vec(&group).into()
}

/// `/apis`
pub(super) fn group_list(catalog: &Catalog) -> Bytes {
    let names = catalog.groups().into_iter().filter(|name| !name.is_empty());
    let groups = names.map(|name| describe(catalog, name)).collect();
    wire::to_vec(&GroupList {
        kind: "APIGroupList",
        api_version: "v1",
        groups,
    })
    .into()
}

/// `/api/v1` and `/apis/{group}/{version}`
pub(super) fn resource_list(catalog: &Catalog, group: &str, version: &str) -> Bytes {
    let mut resources = Vec::new();
    for resource in catalog.resources(group, version) {
        resources.push(whole(catalog, resource));
        resources.extend(parts(resource));
    }
    wire::to_vec(&ResourceList {
        kind: "APIResourceList",
        api_version: (!group.is_empty()).then_some("v1"),
        group_version: group_version(group, version),
        resources,
    })
    .into()
}

fn whole<'a>(catalog: &Catalog, resource: &'a Resource) -> ApiResource<'a> {
    let stored = resource.storage.and_then(|storage| catalog.stored(storage));
    ApiResource {
        name: resource.plural.to_string(),
        singular_name: &resource.singular,
        namespaced: resource.is_namespaced(),
        group: None,
        version: None,
        kind: &resource.kind,
        verbs: &resource.verbs,
        short_names: &resource.short_names,
        categories: &resource.categories,
        storage_version_hash: stored.map(|r| storage_version_hash(r)),
    }
}

fn parts(resource: &Resource) -> impl Iterator<Item = ApiResource<'_>> {
    resource.subresources.iter().map(|part| ApiResource {
        name: format!("{}/{}", resource.plural, part.name),
        singular_name: "",
        namespaced: resource.is_namespaced(),
        group: part.group.as_deref(),
        version: part.version.as_deref(),
        kind: &part.kind,
        verbs: &part.verbs,
        short_names: &[],
        categories: &[],
        storage_version_hash: None,
    })
}

/// A short hash of the group, version and kind in which objects are stored: clients compare it
/// before they migrate stored objects.
pub(super) fn storage_version_hash(stored: &Resource) -> String {
    let name = format!("{}/{}/{}", stored.group, stored.version, stored.kind);
    let digest = Sha256::digest(name.as_bytes());
    base64(digest.get(..8).unwrap_or_default())
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |word, at| {
            word << 8 | u32::from(chunk.get(at).copied().unwrap_or_default())
        });
        for sextet in 0..4_usize {
            let at = word >> (18 - 6 * sextet) & 63;
            let letter = ALPHABET.get(at as usize).copied().unwrap_or(b'=');
            text.push(if sextet > chunk.len() {
                '='
            } else {
                char::from(letter)
            });
        }
    }
    text
}
