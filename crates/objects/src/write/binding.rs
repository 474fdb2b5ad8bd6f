//! The subresources `binding` and `eviction` of a pod.

use masthead_api::{FieldError, Status};
use serde_json::{Map, Value, json};

use crate::meta::{metadata, text};
use crate::write::DeleteOptions;
use crate::write::decode::{Expected, decode_other};
use crate::write::prepare::member;

const BINDING: Expected<'static> = Expected {
    group: "",
    api_version: "v1",
    kind: "Binding",
};
const EVICTION: Expected<'static> = Expected {
    group: "policy",
    api_version: "policy/v1",
    kind: "Eviction",
};

/// `pod` on the node that `binding` names. The answer is a success with the code 201.
///
/// # Errors
/// 400 for what is no binding, 409 for a pod that is bound or being deleted, 500 for a target that
/// is no node.
pub fn bind(pod: &Value, binding: &Value, now: &str) -> Result<Value, Status> {
    decode_other(BINDING, binding)?;
    let name = text(pod, "name");
    let at = |pointer| {
        binding
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (kind, node) = (at("/target/kind"), at("/target/name"));
    if !matches!(kind, "" | "Node") {
        let known = ["Node", "<empty>"];
        let error = FieldError::not_supported("target.kind", kind, &known);
        return Err(Status::bare_500(error.to_string()));
    }
    if node.is_empty() {
        return Err(Status::bare_500(
            FieldError::required("target.name", "").to_string(),
        ));
    }
    let conflict = |detail: &str| Err(Status::conflict("", "pods/binding", name, detail));
    if !text(pod, "deletionTimestamp").is_empty() {
        return conflict(&format!(
            "pod {name} is being deleted, cannot be assigned to a host"
        ));
    }
    let bound = pod
        .pointer("/spec/nodeName")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !bound.is_empty() {
        return conflict(&format!("pod {name} is already assigned to node {bound:?}"));
    }
    let mut pod = pod.clone();
    if let Some(annotations) = metadata(binding).and_then(|m| m.get("annotations")?.as_object())
        && let Some(metadata) = crate::meta::metadata_mut(&mut pod)
    {
        let own = metadata
            .entry("annotations")
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(own) = own.as_object_mut() {
            own.extend(annotations.clone());
            own.sort_keys();
        }
    }
    if let Some(spec) = member(&mut pod, "spec") {
        spec.insert("nodeName".to_owned(), node.into());
    }
    set_scheduled(&mut pod, now);
    Ok(pod)
}

fn set_scheduled(pod: &mut Value, now: &str) {
    let Some(status) = member(pod, "status") else {
        return;
    };
    let conditions = status
        .entry("conditions")
        .or_insert_with(|| Value::Array(Vec::new()));
    let Some(conditions) = conditions.as_array_mut() else {
        return;
    };
    let scheduled = json!({
        "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
    });
    let found = conditions
        .iter_mut()
        .find(|c| c.get("type").and_then(Value::as_str) == Some("PodScheduled"));
    match found {
        Some(condition) => *condition = scheduled,
        None => conditions.push(scheduled),
    }
}

/// How an eviction of the pod of this name deletes it. The answer is a success with the code 201.
///
/// # Errors
/// 400 for what is no eviction of this pod, 422 for options that make no sense.
pub fn evict(path_name: &str, eviction: &Value) -> Result<DeleteOptions, Status> {
    decode_other(EVICTION, eviction)?;
    if text(eviction, "name") != path_name {
        return Err(Status::bad_request(
            "name in URL does not match name in Eviction object",
        ));
    }
    DeleteOptions::of_value(eviction.get("deleteOptions").unwrap_or(&Value::Null))
}
