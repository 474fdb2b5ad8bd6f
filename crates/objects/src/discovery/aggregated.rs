//! The aggregated discovery documents: everything in one answer.

use std::fmt::Write as _;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{Aggregated, Root};
use crate::catalog::{Catalog, Resource, Subresource, Wire};
use crate::wire;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    kind: &'static str,
    api_version: &'static str,
    metadata: Empty,
    items: Vec<Group<'a>>,
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
struct Metadata<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
}

#[derive(Serialize)]
struct Group<'a> {
    metadata: Metadata<'a>,
    versions: Vec<Version<'a>>,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
struct Version<'a> {
    version: &'a str,
    resources: Vec<Item<'a>>,
    freshness: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Item<'a> {
    resource: &'a str,
    response_kind: Kind<'a>,
    scope: &'static str,
    singular_resource: &'a str,
    verbs: &'a [Box<str>],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    short_names: &'a [Box<str>],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    categories: &'a [Box<str>],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subresources: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
struct Kind<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    subresource: &'a str,
    response_kind: Kind<'a>,
    verbs: &'a [Box<str>],
}

/// The aggregated document of one half of the API.
pub(super) fn document(catalog: &Catalog, root: Root) -> Aggregated {
    let names = catalog.groups().into_iter();
    let items = names
        .filter(|name| name.is_empty() == (root == Root::Api))
        .map(|name| group(catalog, name))
        .collect();
    let json = wire::to_vec(&List {
        kind: "APIGroupDiscoveryList",
        api_version: "apidiscovery.k8s.io/v2",
        metadata: Empty {},
        items,
    });
    let mut etag = String::with_capacity(66);
    etag.push('"');
    for byte in Sha256::digest(&json) {
        // Writing into a String cannot fail.
        write!(etag, "{byte:02X}").unwrap_or_default();
    }
    etag.push('"');
    Aggregated {
        json: json.into(),
        etag,
    }
}

fn group<'a>(catalog: &'a Catalog, name: &'a str) -> Group<'a> {
    let version = |version| Version {
        version,
        resources: catalog
            .resources(name, version)
            .map(|resource| item(resource))
            .collect(),
        freshness: "Current",
    };
    let versions = catalog.versions(name).into_iter().map(version).collect();
    Group {
        metadata: Metadata { name },
        versions,
    }
}

fn item(resource: &Resource) -> Item<'_> {
    // Built-in resources leave out the group and version that the place in the document says.
    let (group, version) = match resource.wire {
        Wire::Builtin => ("", ""),
        Wire::Custom => (resource.group.as_ref(), resource.version.as_ref()),
    };
    let part = |part| subresource(part, group, version);
    Item {
        resource: &resource.plural,
        response_kind: Kind {
            group,
            version,
            kind: &resource.kind,
        },
        scope: if resource.is_namespaced() {
            "Namespaced"
        } else {
            "Cluster"
        },
        singular_resource: &resource.singular,
        verbs: &resource.verbs,
        short_names: &resource.short_names,
        categories: &resource.categories,
        subresources: resource.subresources.iter().map(part).collect(),
    }
}

fn subresource<'a>(part: &'a Subresource, group: &'a str, version: &'a str) -> Part<'a> {
    Part {
        subresource: &part.name,
        response_kind: Kind {
            group: part.group.as_deref().unwrap_or(group),
            version: part.version.as_deref().unwrap_or(version),
            kind: &part.kind,
        },
        verbs: &part.verbs,
    }
}
