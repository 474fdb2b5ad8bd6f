//! The schemas of the machinery: those that every document may refer to.

use serde_json::{Map, Value, json};

use super::schema::meta;

/// Name and schema.
type Schema = (&'static str, Value);

/// All of them. `reference` is what stands before a schema's name in a reference.
pub(super) fn all(reference: &str) -> Map<String, Value> {
    let metadata = metadata(reference).into_iter();
    metadata
        .chain(requests(reference))
        .chain(answers(reference))
        .map(|(name, schema)| (meta(name), schema))
        .collect()
}

fn to(reference: &str, kind: &str) -> Value {
    json!({"$ref": format!("{reference}{}", meta(kind))})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn number() -> Value {
    json!({"type": "integer", "format": "int64"})
}

fn map() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "string"}})
}

#[expect(clippy::needless_pass_by_value, reason = "made for this call")]
fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

#[expect(clippy::needless_pass_by_value, reason = "made for this call")]
fn of(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

/// What stands in the metadata of objects and lists.
fn metadata(reference: &str) -> [Schema; 4] {
    [
        (
            "ObjectMeta",
            of(json!({
                "annotations": map(), "creationTimestamp": to(reference, "Time"),
                "deletionGracePeriodSeconds": number(), "deletionTimestamp": to(reference, "Time"),
                "finalizers": list(text()), "generateName": text(), "generation": number(),
                "labels": map(), "managedFields": list(to(reference, "ManagedFieldsEntry")), "name": text(), "namespace": text(),
                "ownerReferences": list(to(reference, "OwnerReference")), "resourceVersion": text(), "selfLink": text(), "uid": text(),
            })),
        ),
        (
            "ListMeta",
            of(json!({
                "continue": text(), "remainingItemCount": number(),
                "resourceVersion": text(), "selfLink": text(),
            })),
        ),
        (
            "ManagedFieldsEntry",
            of(json!({
                "apiVersion": text(), "fieldsType": text(), "fieldsV1": {"type": "object"}, "manager": text(),
                "operation": text(), "subresource": text(), "time": to(reference, "Time"),
            })),
        ),
        (
            "OwnerReference",
            json!({
                "type": "object", "required": ["apiVersion", "kind", "name", "uid"],
                "properties": {"apiVersion": text(), "blockOwnerDeletion": {"type": "boolean"},
                    "controller": {"type": "boolean"}, "kind": text(), "name": text(), "uid": text()},
            }),
        ),
    ]
}

/// What clients send.
fn requests(reference: &str) -> [Schema; 4] {
    [
        (
            "DeleteOptions",
            of(json!({
                "apiVersion": text(), "dryRun": list(text()), "gracePeriodSeconds": number(),
                "kind": text(), "orphanDependents": {"type": "boolean"}, "preconditions": to(reference, "Preconditions"), "propagationPolicy": text(),
            })),
        ),
        (
            "Preconditions",
            of(json!({"resourceVersion": text(), "uid": text()})),
        ),
        ("Patch", json!({"type": "object"})),
        ("Time", json!({"type": "string", "format": "date-time"})),
    ]
}

/// What clients get.
fn answers(reference: &str) -> [Schema; 3] {
    [
        (
            "Status",
            of(json!({
                "apiVersion": text(), "code": {"type": "integer", "format": "int32"}, "details": {"type": "object"}, "kind": text(),
                "message": text(), "metadata": to(reference, "ListMeta"), "reason": text(), "status": text(),
            })),
        ),
        (
            "WatchEvent",
            json!({
                "type": "object", "required": ["type", "object"],
                "properties": {"object": {"type": "object"}, "type": text()},
            }),
        ),
        (
            "APIResourceList",
            of(json!({
                "apiVersion": text(), "groupVersion": text(), "kind": text(), "resources": list(json!({"type": "object"})),
            })),
        ),
    ]
}
