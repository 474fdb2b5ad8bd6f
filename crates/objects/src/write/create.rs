//! A new object.

use masthead_api::Status;
use serde_json::{Map, Value};

use crate::catalog::Resource;
use crate::meta::{check_new, metadata_mut, text};
use crate::write::decode::decode_body;
use crate::write::{WriteContext, checks, defaults, prepare};

/// How much of `generateName` a name keeps.
const GENERATE_NAME_MAX: usize = 58;

/// What is stored for a POST of `body` to the collection of `resource` in `path_namespace` (empty
/// for cluster scope).
///
/// Whether the namespace exists, and whether the name is free, is not looked at.
///
/// # Errors
/// 400 for what is no such object or belongs to another namespace, 422 for an object that breaks
/// a rule, 500 for one that says at which version it is stored.
pub fn create(
    resource: &Resource,
    path_namespace: &str,
    body: Value,
    ctx: &WriteContext,
) -> Result<Value, Status> {
    let mut object = decode_body(resource, body)?;
    place(resource, path_namespace, &mut object)?;
    if let Some(metadata) = metadata_mut(&mut object) {
        name(metadata, &ctx.suffix);
        for dropped in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
            metadata.shift_remove(dropped);
        }
        metadata.insert("uid".to_owned(), ctx.uid.as_str().into());
        metadata.insert("creationTimestamp".to_owned(), ctx.now.as_str().into());
    }
    prepare::for_create(resource, &mut object, ctx);
    defaults::apply(resource, &mut object);
    let mut errors = check_new(resource, &object);
    errors.extend(checks::check(resource, &object));
    if !errors.is_empty() {
        let (kind, name) = (&resource.kind, text(&object, "name"));
        return Err(Status::invalid(&resource.group, kind, name, &errors));
    }
    let version = metadata_mut(&mut object).and_then(|m| m.shift_remove("resourceVersion"));
    let version = version
        .as_ref()
        .and_then(Value::as_str)
        .and_then(|v| v.parse::<u64>().ok());
    if version.is_some_and(|version| version != 0) {
        return Err(Status::bare_500(
            "resourceVersion should not be set on objects to be created",
        ));
    }
    Ok(object)
}

/// Puts the object into the path's namespace.
fn place(resource: &Resource, path_namespace: &str, object: &mut Value) -> Result<(), Status> {
    let namespace = text(object, "namespace");
    if resource.is_namespaced() && !namespace.is_empty() && namespace != path_namespace {
        return Err(wrong_namespace());
    }
    let Some(metadata) = metadata_mut(object) else {
        return Ok(());
    };
    if path_namespace.is_empty() {
        metadata.shift_remove("namespace");
    } else {
        metadata.insert("namespace".to_owned(), path_namespace.into());
    }
    Ok(())
}

pub(super) fn wrong_namespace() -> Status {
    let message =
        "the namespace of the provided object does not match the namespace sent on the request";
    Status::bad_request(message)
}

fn name(metadata: &mut Map<String, Value>, suffix: &str) {
    let text = |name: &str| {
        metadata
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let prefix = text("generateName");
    if !text("name").is_empty() || prefix.is_empty() {
        return;
    }
    let mut end = prefix.len().min(GENERATE_NAME_MAX);
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    let name = format!("{}{suffix}", prefix.get(..end).unwrap_or_default());
    metadata.insert("name".to_owned(), name.into());
}
