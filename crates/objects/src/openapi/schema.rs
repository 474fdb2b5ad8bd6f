//! The schemas that documents refer to, one for each kind.

use serde_json::{Map, Value, json};

use super::machinery;
use super::operation::{Action, Operation, PathItem};
use crate::catalog::{DeleteAnswer, Resource};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";

/// Name of the schema of a kind.
pub(super) fn name_of(group: &str, version: &str, kind: &str) -> String {
    let first = group.split('.').next().unwrap_or_default();
    match group {
        "" => format!("io.k8s.api.core.{version}.{kind}"),
        "apiextensions.k8s.io" => {
            format!("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.{version}.{kind}")
        }
        "apiregistration.k8s.io" => {
            format!("io.k8s.kube-aggregator.pkg.apis.apiregistration.{version}.{kind}")
        }
        group if group.ends_with(".k8s.io") || !group.contains('.') => {
            format!("io.k8s.api.{first}.{version}.{kind}")
        }
        group => {
            let reversed: Vec<&str> = group.rsplit('.').collect();
            format!("{}.{version}.{kind}", reversed.join("."))
        }
    }
}

/// Name of one of the machinery's schemas.
pub(super) fn meta(kind: &str) -> String {
    format!("{META}.{kind}")
}

/// Group, version and kind of what an operation takes or gives.
pub(super) fn kind_of(item: &PathItem<'_>) -> (String, String, String) {
    let resource = item.resource;
    let (group, version, kind) = match item.part {
        Some(part) => (
            part.group.as_deref().unwrap_or(&resource.group),
            part.version.as_deref().unwrap_or(&resource.version),
            part.kind.as_ref(),
        ),
        None => (
            resource.group.as_ref(),
            resource.version.as_ref(),
            resource.kind.as_ref(),
        ),
    };
    (group.to_owned(), version.to_owned(), kind.to_owned())
}

/// Name of the schema that an operation answers with.
pub(super) fn answer(item: &PathItem<'_>, operation: &Operation) -> String {
    let resource = item.resource;
    let (group, version, kind) = kind_of(item);
    match operation.action {
        Action::List => name_of(&resource.group, &resource.version, &resource.list_kind),
        Action::Watch | Action::WatchList => meta("WatchEvent"),
        Action::DeleteCollection => meta("Status"),
        Action::Delete if resource.delete_answer == DeleteAnswer::Status => meta("Status"),
        Action::Get
        | Action::Post
        | Action::Put
        | Action::Patch
        | Action::Delete
        | Action::Connect => name_of(&group, &version, &kind),
    }
}

/// All schemas that the documents of `resources` refer to. `reference` is what stands before a
/// schema's name in a reference.
pub(super) fn all<'a>(
    resources: impl Iterator<Item = &'a Resource>,
    reference: &str,
) -> Map<String, Value> {
    let mut schemas = machinery::all(reference);
    for resource in resources {
        let (group, version) = (resource.group.as_ref(), resource.version.as_ref());
        let own = object(reference, (group, version, &resource.kind));
        schemas.insert(name_of(group, version, &resource.kind), own);
        if resource.has_verb("list") {
            let items = json!({"type": "array", "items": {"$ref": format!("{reference}{}", name_of(group, version, &resource.kind))}});
            let mut list = object(reference, (group, version, &resource.list_kind));
            if let Some(properties) = list.get_mut("properties").and_then(Value::as_object_mut) {
                properties.insert("items".to_owned(), items);
                properties.insert(
                    "metadata".to_owned(),
                    json!({"$ref": format!("{reference}{}", meta("ListMeta"))}),
                );
            }
            schemas.insert(name_of(group, version, &resource.list_kind), list);
        }
        for part in &resource.subresources {
            let group = part.group.as_deref().unwrap_or(group);
            let version = part.version.as_deref().unwrap_or(version);
            schemas
                .entry(name_of(group, version, &part.kind))
                .or_insert_with(|| object(reference, (group, version, &part.kind)));
        }
    }
    schemas.sort_keys();
    schemas
}

fn object(reference: &str, (group, version, kind): (&str, &str, &str)) -> Value {
    let kinds = json!([{"group": group, "kind": kind, "version": version}]);
    // Members beyond these are accepted and kept, whatever they are.
    json!({
        "type": "object",
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"$ref": format!("{reference}{}", meta("ObjectMeta"))},
        },
        "x-kubernetes-group-version-kind": kinds,
        "x-kubernetes-preserve-unknown-fields": true,
    })
}
