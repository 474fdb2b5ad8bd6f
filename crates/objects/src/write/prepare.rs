//! What a kind sets, keeps or takes back before a write is checked.

use serde_json::{Map, Value, json};

use crate::catalog::{Resource, Wire};
use crate::meta::{metadata, metadata_mut, number, text};
use crate::write::facts::{Facts, has_status, is};
use crate::write::{UpdateOf, WriteContext};

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";
const NAMESPACE_LABEL: &str = "kubernetes.io/metadata.name";

/// Prepares a new object.
pub(super) fn for_create(resource: &Resource, object: &mut Value, ctx: &WriteContext) {
    // A node reports its status together with itself.
    if has_status(resource) && !is(resource, "", "nodes") {
        object
            .as_object_mut()
            .map(|members| members.shift_remove("status"));
    }
    if Facts::of(resource).generation.is_some() {
        set_metadata(object, "generation", 1.into());
    }
    if resource.wire == Wire::Custom {
        return;
    }
    match (resource.group.as_ref(), resource.plural.as_ref()) {
        ("", "namespaces") => new_namespace(object),
        ("", "nodes") => {
            let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
            if let Some(Value::Array(taints)) = member(object, "spec").map(|spec| {
                spec.entry("taints")
                    .or_insert_with(|| Value::Array(Vec::new()))
            }) && !taints.contains(&taint)
            {
                taints.push(taint);
            }
        }
        ("", "persistentvolumeclaims") => add_finalizer(object, "kubernetes.io/pvc-protection"),
        ("", "persistentvolumes") => {
            add_finalizer(object, "kubernetes.io/pv-protection");
            if let Some(status) = member(object, "status") {
                status.insert(
                    "lastPhaseTransitionTime".to_owned(),
                    ctx.now.as_str().into(),
                );
            }
        }
        ("apps", "daemonsets") => set_in(object, "annotations", TEMPLATE_GENERATION, "1"),
        ("batch", "jobs") => new_job(object, &ctx.uid),
        _ => {}
    }
}

/// Takes over from `old` what this way of updating does not change.
pub(super) fn for_update(
    resource: &Resource,
    of: UpdateOf,
    old: &Value,
    new: &mut Value,
    now: &str,
) {
    keep_metadata(old, new);
    match of {
        UpdateOf::Object => {
            if has_status(resource) {
                keep(old, new, "status");
            }
            if is(resource, "", "namespaces") {
                keep(old, new, "spec");
            }
        }
        UpdateOf::Finalize => keep(old, new, "status"),
        UpdateOf::Status => {
            keep_all_but_status(old, new);
            if resource.wire == Wire::Custom {
                keep(old, new, "metadata");
            } else if is(resource, "apps", "deployments") {
                keep_member(old, new, "labels");
            } else if is(resource, "", "pods") {
                keep_member(old, new, "ownerReferences");
            } else if is(resource, "", "persistentvolumes") {
                note_phase(old, new, now);
            }
        }
    }
    if is(resource, "", "namespaces") {
        let name = text(new, "name").to_owned();
        set_in(new, "labels", NAMESPACE_LABEL, &name);
    }
}

/// Counts the generation up where `new` changes what it counts.
pub(super) fn next_generation(resource: &Resource, of: UpdateOf, old: &Value, new: &mut Value) {
    if of != UpdateOf::Object {
        return;
    }
    if is(resource, "apps", "daemonsets") {
        next_template_generation(old, new);
    }
    let Some(places) = Facts::of(resource).generation else {
        return;
    };
    let changed = if resource.wire == Wire::Custom {
        let rest = |object: &Value| {
            let mut members = object.as_object().cloned().unwrap_or_default();
            members.shift_remove("metadata");
            if has_status(resource) {
                members.shift_remove("status");
            }
            members
        };
        rest(old) != rest(new)
    } else {
        places
            .iter()
            .any(|place| old.pointer(place) != new.pointer(place))
    };
    if changed {
        let next = number(old, "generation").unwrap_or(0).saturating_add(1);
        set_metadata(new, "generation", next.into());
    }
}

/// What no update changes, whoever asks.
fn keep_metadata(old: &Value, new: &mut Value) {
    for name in ["generation", "creationTimestamp"] {
        keep_member(old, new, name);
    }
    if text(new, "uid").is_empty() {
        keep_member(old, new, "uid");
    }
    if !text(old, "deletionTimestamp").is_empty() {
        keep_member(old, new, "deletionTimestamp");
        if number(new, "deletionGracePeriodSeconds").is_none() {
            keep_member(old, new, "deletionGracePeriodSeconds");
        }
    }
}

/// A volume's status tells since when it has its phase.
fn note_phase(old: &Value, new: &mut Value, now: &str) {
    if old.pointer("/status/phase") != new.pointer("/status/phase")
        && let Some(status) = member(new, "status")
    {
        status.insert("lastPhaseTransitionTime".to_owned(), now.into());
    }
}

fn keep_all_but_status(old: &Value, new: &mut Value) {
    if let (Some(old), Some(new)) = (old.as_object(), new.as_object_mut()) {
        new.retain(|name, _| matches!(name.as_str(), "status" | "metadata"));
        for (name, value) in old {
            if name != "status" && name != "metadata" {
                new.insert(name.clone(), value.clone());
            }
        }
    }
}

/// `new` has the member `name` exactly as `old` has it.
fn keep(old: &Value, new: &mut Value, name: &str) {
    let Some(members) = new.as_object_mut() else {
        return;
    };
    match old.get(name) {
        Some(value) => {
            members.insert(name.to_owned(), value.clone());
        }
        None => {
            members.shift_remove(name);
        }
    }
}

fn keep_member(old: &Value, new: &mut Value, name: &str) {
    let before = metadata(old).and_then(|m| m.get(name)).cloned();
    match before {
        Some(value) => set_metadata(new, name, value),
        None => {
            metadata_mut(new).map(|metadata| metadata.shift_remove(name));
        }
    }
}

/// Sets `metadata.{name}`.
pub(super) fn set_metadata(object: &mut Value, name: &str, value: Value) {
    if let Some(metadata) = metadata_mut(object) {
        metadata.insert(name.to_owned(), value);
    }
}

/// Sets `metadata.{map}[{key}]`.
fn set_in(object: &mut Value, map: &str, key: &str, value: &str) {
    let Some(metadata) = metadata_mut(object) else {
        return;
    };
    let texts = metadata
        .entry(map)
        .or_insert_with(|| Value::Object(Map::new()));
    if let Some(texts) = texts.as_object_mut() {
        texts.insert(key.to_owned(), value.into());
        texts.sort_keys();
    }
}

/// The object `{name}` of `object`, made where it is missing.
pub(super) fn member<'v>(object: &'v mut Value, name: &str) -> Option<&'v mut Map<String, Value>> {
    let members = object.as_object_mut()?;
    members
        .entry(name)
        .or_insert_with(|| Value::Object(Map::new()))
        .as_object_mut()
}

fn add_finalizer(object: &mut Value, name: &str) {
    let Some(metadata) = metadata_mut(object) else {
        return;
    };
    let list = metadata
        .entry("finalizers")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Some(list) = list
        .as_array_mut()
        .filter(|list| !list.iter().any(|f| f == name))
    {
        list.push(name.into());
    }
}

fn new_namespace(object: &mut Value) {
    let name = text(object, "name").to_owned();
    if !name.is_empty() {
        set_in(object, "labels", NAMESPACE_LABEL, &name);
    }
    let Some(spec) = member(object, "spec") else {
        return;
    };
    let finalizers = spec
        .entry("finalizers")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Some(list) = finalizers
        .as_array_mut()
        .filter(|l| !l.iter().any(|f| f == "kubernetes"))
    {
        list.push("kubernetes".into());
    }
}

/// A job selects its own pods by its uid, unless told not to.
fn new_job(object: &mut Value, uid: &str) {
    if object
        .pointer("/spec/manualSelector")
        .and_then(Value::as_bool)
        == Some(true)
    {
        return;
    }
    let name = text(object, "name").to_owned();
    let labels = [
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", name.as_str()),
        ("controller-uid", uid),
        ("job-name", name.as_str()),
    ];
    let Some(spec) = member(object, "spec") else {
        return;
    };
    let selector = json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}});
    spec.entry("selector").or_insert(selector);
    let template = spec
        .entry("template")
        .or_insert_with(|| Value::Object(Map::new()));
    for (key, value) in labels {
        set_in(template, "labels", key, value);
    }
    for (key, value) in labels {
        set_in(object, "labels", key, value);
    }
}

fn next_template_generation(old: &Value, new: &mut Value) {
    let annotation = |object: &Value| {
        let annotations = metadata(object)?.get("annotations")?;
        annotations
            .get(TEMPLATE_GENERATION)?
            .as_str()?
            .parse::<i64>()
            .ok()
    };
    let before = annotation(old).unwrap_or(1);
    let changed = old.pointer("/spec/template") != new.pointer("/spec/template");
    let now = if changed {
        before.saturating_add(1)
    } else {
        before
    };
    set_in(new, "annotations", TEMPLATE_GENERATION, &now.to_string());
}
