//! Drops from an object what says nothing, so that two spellings of the same object are equal.
//!
//! A built-in kind knows no difference between a missing member, a null and an empty list; between
//! missing and empty maps it knows none where the map is one of texts. What a kind prints even if it
//! is empty is put back by [`defaults`](crate::write::defaults).

use serde_json::{Map, Value};

use crate::catalog::{Resource, Wire};
use crate::meta::metadata_mut;
use crate::write::quantity;

/// Members of the metadata that are kept.
const METADATA: &[&str] = &[
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
];

/// Members of an owner reference in their order, and whether each is written even if it is empty.
const OWNER: &[(&str, bool)] = &[
    ("apiVersion", true),
    ("kind", true),
    ("name", true),
    ("uid", true),
    ("controller", false),
    ("blockOwnerDeletion", false),
];

/// Maps of texts wherever they stand.
const TEXT_MAPS: &[&str] = &[
    "allocatable",
    "annotations",
    "capacity",
    "hard",
    "labels",
    "limits",
    "matchLabels",
    "nodeSelector",
    "requests",
    "used",
];

/// Maps of quantities wherever they stand.
const QUANTITY_MAPS: &[&str] = &[
    "allocatable",
    "capacity",
    "hard",
    "limits",
    "requests",
    "used",
];

/// Kinds with members of any shape, in which null and empty mean themselves.
const OPAQUE: &[&str] = &[
    "ControllerRevision",
    "CustomResourceDefinition",
    "DeviceClass",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceSlice",
];

/// Kinds of which all members besides kind, version and metadata are known; others are dropped.
const MEMBERS: &[(&str, &[&str])] = &[
    ("ConfigMap", &["immutable", "data", "binaryData"]),
    ("CronJob", &["spec", "status"]),
    ("DaemonSet", &["spec", "status"]),
    ("Deployment", &["spec", "status"]),
    ("Job", &["spec", "status"]),
    ("Lease", &["spec"]),
    ("Namespace", &["spec", "status"]),
    ("Node", &["spec", "status"]),
    ("PersistentVolume", &["spec", "status"]),
    ("PersistentVolumeClaim", &["spec", "status"]),
    ("Pod", &["spec", "status"]),
    ("ReplicaSet", &["spec", "status"]),
    ("Secret", &["immutable", "data", "stringData", "type"]),
    ("Service", &["spec", "status"]),
    ("StatefulSet", &["spec", "status"]),
];

/// Tidies `object`, whose members have the right types.
pub(super) fn tidy(resource: &Resource, object: &mut Value) {
    if let Some(metadata) = metadata_mut(object) {
        tidy_metadata(metadata);
    }
    if resource.wire == Wire::Custom {
        return;
    }
    let data = matches!(resource.kind.as_ref(), "ConfigMap" | "Secret");
    let Some(members) = object.as_object_mut() else {
        return;
    };
    for name in ["data", "binaryData", "stringData"] {
        if let Some(Value::Object(texts)) = members.get_mut(name).filter(|_| data) {
            nulls_to_texts(texts);
            texts.sort_keys();
        }
    }
    if let Some((_, known)) = MEMBERS
        .iter()
        .find(|(kind, _)| *kind == resource.kind.as_ref())
    {
        members.retain(|name, _| {
            matches!(name.as_str(), "kind" | "apiVersion" | "metadata")
                || known.contains(&name.as_str())
        });
    }
    let opaque = OPAQUE.contains(&resource.kind.as_ref());
    members.retain(|name, value| {
        if name == "metadata" || (opaque && name != "status") {
            return !value.is_null();
        }
        drop_empty(value);
        !(is_nothing(name, value) || data && is_empty_map(value))
    });
}

fn tidy_metadata(metadata: &mut Map<String, Value>) {
    if let Some(Value::Array(owners)) = metadata.get_mut("ownerReferences") {
        tidy_owners(owners);
    }
    if let Some(Value::Array(finalizers)) = metadata.get_mut("finalizers") {
        finalizers.retain(|name| !name.is_null());
    }
    for name in ["labels", "annotations"] {
        if let Some(Value::Object(texts)) = metadata.get_mut(name) {
            nulls_to_texts(texts);
            texts.sort_keys();
        }
    }
    metadata.retain(|name, value| {
        METADATA.contains(&name.as_str())
            && match value {
                Value::Null => false,
                Value::String(text) => !text.is_empty(),
                Value::Array(items) => !items.is_empty(),
                Value::Object(members) => !members.is_empty(),
                Value::Number(number) => name != "generation" || number.as_i64() != Some(0),
                Value::Bool(_) => true,
            }
    });
}

/// Owners in the order of their members, each one once.
fn tidy_owners(owners: &mut Vec<Value>) {
    let mut tidied: Vec<Value> = Vec::with_capacity(owners.len());
    for owner in owners.drain(..) {
        let mut members = Map::new();
        for (name, always) in OWNER {
            match owner.get(name) {
                Some(Value::Null) | None if *always => {
                    members.insert((*name).to_owned(), "".into());
                }
                Some(Value::Null) | None => {}
                Some(value) => {
                    members.insert((*name).to_owned(), value.clone());
                }
            }
        }
        let owner = Value::Object(members);
        if !tidied.contains(&owner) {
            tidied.push(owner);
        }
    }
    *owners = tidied;
}

/// In a map of texts a null is the empty text.
fn nulls_to_texts(texts: &mut Map<String, Value>) {
    for value in texts.values_mut().filter(|value| value.is_null()) {
        *value = "".into();
    }
}

fn drop_empty(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_empty),
        Value::Object(members) => members.retain(|name, value| {
            match value {
                Value::Object(amounts) if QUANTITY_MAPS.contains(&name.as_str()) => {
                    amounts.values_mut().for_each(spell);
                }
                _ => drop_empty(value),
            }
            !is_nothing(name, value)
        }),
        _ => {}
    }
}

/// A quantity in its one spelling; what is none stays.
fn spell(amount: &mut Value) {
    let text = match amount {
        Value::String(text) => quantity::canonical(text),
        Value::Number(number) => quantity::canonical(&number.to_string()),
        _ => None,
    };
    if let Some(text) = text {
        *amount = text.into();
    }
}

fn is_nothing(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty() && TEXT_MAPS.contains(&name),
        _ => false,
    }
}

fn is_empty_map(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalog::Catalog;

    fn check(group: &str, plural: &str, object: Value, expected: &Value) {
        let resource = Catalog::builtin().resource(group, "v1", plural).unwrap();
        let mut tidied = object;
        tidy(resource, &mut tidied);
        assert_eq!(tidied, *expected);
    }

    #[test]
    fn what_says_nothing_goes_and_what_is_empty_on_purpose_stays() {
        check(
            "",
            "configmaps",
            json!({"metadata": {"name": "x", "namespace": "", "labels": {"b": null, "a": "1"}, "annotations": {}, "finalizers": [],
                   "selfLink": "/x", "managedFields": [{}], "creationTimestamp": null, "generation": 0}, "data": {}, "binaryData": null}),
            &json!({"metadata": {"name": "x", "labels": {"a": "1", "b": ""}}}),
        );
        check(
            "apps",
            "deployments",
            json!({"metadata": {}, "spec": {"template": {"metadata": {"labels": {}, "creationTimestamp": null}, "spec": {"volumes": [], "securityContext": {}}}}}),
            &json!({"metadata": {}, "spec": {"template": {"metadata": {}, "spec": {"securityContext": {}}}}}),
        );
    }

    #[test]
    fn an_owner_given_twice_is_kept_once() {
        let owner =
            json!({"uid": "u", "name": "o", "kind": "K", "apiVersion": "v1", "controller": null});
        check(
            "",
            "configmaps",
            json!({"metadata": {"ownerReferences": [owner, owner, {}]}}),
            &json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "o", "uid": "u"},
                   {"apiVersion": "", "kind": "", "name": "", "uid": ""}]}}),
        );
    }
}
