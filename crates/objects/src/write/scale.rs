//! The subresource `scale`: a view of an object with nothing but its number of replicas.

use masthead_api::Status;
use serde_json::{Map, Value, json};

use crate::catalog::Resource;
use crate::meta::{metadata, text};
use crate::write::checks::not_negative;
use crate::write::decode::{Expected, decode_other};
use crate::write::{check_address, tidy};

const SCALE: Expected<'static> = Expected {
    group: "autoscaling",
    api_version: "autoscaling/v1",
    kind: "Scale",
};

/// Members of the metadata that the view shows.
const METADATA: &[&str] = &[
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
];

/// The `autoscaling/v1` Scale of `object`.
pub fn scale_of(object: &Value) -> Value {
    let shown: Map<String, Value> = METADATA
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), metadata(object)?.get(*name)?.clone())))
        .collect();
    let mut spec = Map::new();
    let wanted = object
        .pointer("/spec/replicas")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    if wanted != 0 {
        spec.insert("replicas".to_owned(), wanted.into());
    }
    let mut status = Map::new();
    let present = object
        .pointer("/status/replicas")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    status.insert("replicas".to_owned(), present.into());
    let selector = selector_text(object.pointer("/spec/selector").unwrap_or(&Value::Null));
    if !selector.is_empty() {
        status.insert("selector".to_owned(), selector.into());
    }
    json!({"kind": SCALE.kind, "apiVersion": SCALE.api_version, "metadata": shown, "spec": spec, "status": status})
}

/// `object` with the replicas of `scale`, to be given to an update of the object.
///
/// A version in the scale is the version that the update is based on.
///
/// # Errors
/// 400 for what is no scale of this object, 422 for less than no replicas.
pub fn with_scale(resource: &Resource, object: &Value, mut scale: Value) -> Result<Value, Status> {
    decode_other(SCALE, &scale)?;
    tidy::tidy(resource, &mut scale);
    let name = text(object, "name");
    check_address(resource, text(object, "namespace"), name, &scale)?;
    let replicas = scale
        .pointer("/spec/replicas")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    if replicas < 0 {
        let error = not_negative("spec.replicas", replicas);
        return Err(Status::invalid(SCALE.group, SCALE.kind, name, &[error]));
    }
    let mut scaled = object.clone();
    let wanted = text(&scale, "resourceVersion");
    if let Some(metadata) = crate::meta::metadata_mut(&mut scaled) {
        // An update without a version is based on whatever is stored.
        metadata.insert("resourceVersion".to_owned(), wanted.into());
        let uid = text(&scale, "uid");
        if !uid.is_empty() {
            metadata.insert("uid".to_owned(), uid.into());
        }
    }
    if let Some(spec) = crate::write::prepare::member(&mut scaled, "spec") {
        spec.insert("replicas".to_owned(), replicas.into());
    }
    Ok(scaled)
}

/// A label selector as text; a replication controller's is a map of labels.
pub(super) fn selector_text(selector: &Value) -> String {
    let labels = selector.get("matchLabels");
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let pairs = if labels.is_some() || expressions.is_some() {
        labels
    } else {
        Some(selector)
    };
    let mut parts: Vec<(String, String)> = Vec::new();
    for (key, value) in pairs.and_then(Value::as_object).into_iter().flatten() {
        parts.push((
            key.clone(),
            format!("{key}={}", value.as_str().unwrap_or_default()),
        ));
    }
    for expression in expressions.into_iter().flatten() {
        let text = |name: &str| {
            expression
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let values = expression.get("values").and_then(Value::as_array);
        let mut values: Vec<&str> = values
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        values.sort_unstable();
        let (key, values) = (text("key"), values.join(","));
        let part = match text("operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => continue,
        };
        parts.push((key.to_owned(), part));
    }
    parts.sort();
    parts
        .into_iter()
        .map(|(_, part)| part)
        .collect::<Vec<_>>()
        .join(",")
}
