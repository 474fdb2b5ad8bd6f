//! The kinds of patches: what a stored object and a patch make together.
//!
//! A patch is applied to the object as it is stored, its `metadata.resourceVersion` in place; what
//! comes out goes to [`write::update`](crate::write::update). Size of the result: [`RESULT_BYTES_MAX`].

mod go_text;
mod json;
mod keys;
mod merge;
mod order;
mod strategic;

pub use json::{COPY_BYTES_MAX, JsonPatch, JsonPatchError, OPERATIONS_MAX};
pub use keys::{ListRule, list_rule};
pub use masthead_api::PatchType;
use masthead_api::{Reason, Status, StatusDetails, json_type};
pub use merge::merge;
use serde_json::Value;
pub use strategic::{StrategicError, merge as merge_strategic};

use crate::catalog::{Resource, Wire};
use crate::write::{body, decode_patched};

/// How large what a patch makes may be: as large as a request's body.
pub const RESULT_BYTES_MAX: usize = 3 * 1024 * 1024;

/// Why a patch cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// It is no such patch.
    #[error("{0}")]
    Decode(String),
    /// It has more operations than [`OPERATIONS_MAX`].
    #[error(
        "Request entity too large: The allowed maximum operations in a JSON patch is {OPERATIONS_MAX}, got {0}"
    )]
    TooManyOperations(usize),
}

impl PatchError {
    fn status(&self) -> Status {
        match self {
            Self::Decode(message) => Status::bad_request(message.clone()),
            Self::TooManyOperations(_) => {
                Status::failure(413, Reason::REQUEST_ENTITY_TOO_LARGE, self.to_string())
            }
        }
    }
}

/// What the patch in `bytes` makes of `old`, which is an object of `resource`.
///
/// # Errors
/// 400 for what is no such patch, 413 for too large a one, 415 for a kind of patch that the
/// resource does not take, 422 for one that cannot be applied or makes no object of this kind.
pub fn apply(
    resource: &Resource,
    patch_type: PatchType,
    old: &Value,
    bytes: &[u8],
) -> Result<Value, Status> {
    let result = apply_raw(resource, patch_type, old, bytes)?;
    decode_patched(resource, result)
}

/// [`apply`] for what is no object of the resource itself, e.g. a `Scale`: the result is not looked
/// at.
///
/// # Errors
/// As [`apply`]'s.
pub fn apply_raw(
    resource: &Resource,
    patch_type: PatchType,
    old: &Value,
    bytes: &[u8],
) -> Result<Value, Status> {
    let mut result = old.clone();
    match patch_type {
        PatchType::Json => {
            let patch = body::json(bytes)
                .map_err(|e| Status::bad_request(format!("error decoding patch: {e}")))?;
            let patch = JsonPatch::decode(patch).map_err(|e| e.status())?;
            patch.apply(&mut result).map_err(|_| unprocessable())?;
        }
        PatchType::Merge => {
            let patch = object(bytes, "error decoding patch: ")?;
            merge(&mut result, patch);
        }
        PatchType::Strategic if resource.wire == Wire::Custom => return Err(unsupported()),
        PatchType::Strategic => {
            if let Value::Object(patch) = object(bytes, "")? {
                merge_strategic(&resource.kind, &mut result, patch).map_err(|e| refuse(&e))?;
            }
        }
        PatchType::Apply => {
            let config = read_apply(resource, bytes)?;
            lay_over(resource, &mut result, config)?;
        }
    }
    if json::bytes_of(&result) > RESULT_BYTES_MAX {
        return Err(Status::request_entity_too_large(RESULT_BYTES_MAX as u64));
    }
    Ok(result)
}

/// What an apply patch creates where no object of its name exists: its configuration.
///
/// # Errors
/// 400 for a configuration that is none of this kind.
pub fn apply_to_nothing(resource: &Resource, bytes: &[u8]) -> Result<Value, Status> {
    read_apply(resource, bytes)
}

fn object(bytes: &[u8], prefix: &str) -> Result<Value, Status> {
    let patch = body::json(bytes).map_err(|e| Status::bad_request(format!("{prefix}{e}")))?;
    match patch {
        Value::Object(_) => Ok(patch),
        Value::Null => Ok(Value::Object(serde_json::Map::new())),
        other => Err(Status::bad_request(format!(
            "{prefix}json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            json_type(&other)
        ))),
    }
}

/// The configuration in an apply patch, turned from YAML into JSON before.
fn read_apply(resource: &Resource, bytes: &[u8]) -> Result<Value, Status> {
    let decoding = "error decoding YAML: error unmarshaling JSON: while decoding JSON: ";
    let config = object(bytes, decoding)?;
    let text = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if (api_version, kind) != (&resource.api_version, &resource.kind) {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let message = format!("invalid object type: {group}/{version}, Kind={kind}");
        return Err(Status::bad_request(message));
    }
    if config
        .pointer("/metadata/managedFields")
        .is_some_and(|fields| !fields.is_null())
    {
        return Err(Status::bad_request("metadata.managedFields must be nil"));
    }
    Ok(config)
}

/// Lays an applied configuration over an object. Who owns which field is not known: nothing is
/// taken away, and there are no conflicts.
fn lay_over(resource: &Resource, object: &mut Value, config: Value) -> Result<(), Status> {
    if resource.wire == Wire::Custom {
        merge(object, config);
    } else if let Value::Object(config) = config {
        merge_strategic(&resource.kind, object, config).map_err(|e| refuse(&e))?;
    }
    Ok(())
}

/// 422 without a word of why.
fn unprocessable() -> Status {
    let message = "the server rejected our request due to an error in our request";
    Status::failure(422, Reason::INVALID, message).with_details(StatusDetails::default())
}

fn unsupported() -> Status {
    Status::unsupported_media_type(
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )
}

fn refuse(error: &StrategicError) -> Status {
    match error {
        StrategicError::NoMergeKey { .. } | StrategicError::UnknownDirective { .. } => {
            Status::bare_500(error.to_string())
        }
        StrategicError::NotAMap
        | StrategicError::DeleteList
        | StrategicError::RetainKeys
        | StrategicError::ElementOrder => Status::bad_request(error.to_string()),
    }
}

#[cfg(test)]
mod tests;
