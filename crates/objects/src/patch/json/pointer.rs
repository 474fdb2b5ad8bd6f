//! JSON pointers (RFC 6901): what is at a path of a document, and changes there.

use serde_json::Value;

use super::JsonPatchError;
use crate::write::{DEPTH_MAX, depth_of};

/// An object with more members than this loses the order of its members when one is removed, so
/// that a patch of many removals stays cheap. A guess.
const ORDERED_MEMBERS_MAX: usize = 4096;

fn segment(raw: &str) -> String {
    raw.replace("~1", "/").replace("~0", "~")
}

/// The container that the path's last segment names a part of, with that segment.
fn container<'v>(document: &'v mut Value, path: &str) -> Option<(&'v mut Value, String)> {
    let (parents, last) = path.rsplit_once('/')?;
    let mut here = document;
    for raw in parents.split('/').skip(1) {
        let name = segment(raw);
        here = match here {
            Value::Object(members) => members.get_mut(&name)?,
            Value::Array(items) => {
                let at = index(&name, items.len())?;
                items.get_mut(at)?
            }
            _ => return None,
        };
    }
    matches!(here, Value::Object(_) | Value::Array(_)).then(|| (here, segment(last)))
}

/// Position of an existing item; negative counts from the end.
fn index(text: &str, len: usize) -> Option<usize> {
    let at: i64 = text.parse().ok()?;
    let len = i64::try_from(len).ok()?;
    let at = if at < 0 { at + len } else { at };
    (0..len)
        .contains(&at)
        .then(|| usize::try_from(at).ok())
        .flatten()
}

fn missing(path: &str) -> JsonPatchError {
    JsonPatchError::Missing(path.to_owned())
}

fn no_index(path: &str) -> JsonPatchError {
    JsonPatchError::Index(path.to_owned())
}

/// What is at the path; `None` for a member that an existing object lacks.
pub(super) fn get<'v>(
    document: &'v mut Value,
    path: &str,
) -> Result<Option<&'v Value>, JsonPatchError> {
    match container(document, path).ok_or_else(|| missing(path))? {
        (Value::Object(members), name) => Ok(members.get(&name)),
        (Value::Array(items), name) => {
            let at = index(&name, items.len()).ok_or_else(|| no_index(path))?;
            Ok(items.get(at))
        }
        _ => Err(missing(path)),
    }
}

fn fits(path: &str, value: &Value) -> Result<(), JsonPatchError> {
    let above = path.bytes().filter(|byte| *byte == b'/').count();
    if above + depth_of(value) > DEPTH_MAX {
        Err(JsonPatchError::TooDeep)
    } else {
        Ok(())
    }
}

pub(super) fn add(document: &mut Value, path: &str, value: Value) -> Result<(), JsonPatchError> {
    fits(path, &value)?;
    match container(document, path).ok_or_else(|| missing(path))? {
        (Value::Object(members), name) => {
            members.insert(name, value);
        }
        (Value::Array(items), name) if name == "-" => items.push(value),
        (Value::Array(items), name) => {
            let at = index(&name, items.len() + 1).ok_or_else(|| no_index(path))?;
            items.insert(at, value);
        }
        _ => return Err(missing(path)),
    }
    Ok(())
}

pub(super) fn replace(
    document: &mut Value,
    path: &str,
    value: Value,
) -> Result<(), JsonPatchError> {
    fits(path, &value)?;
    if path.is_empty() {
        *document = value;
        return Ok(());
    }
    match container(document, path).ok_or_else(|| missing(path))? {
        (Value::Object(members), name) => {
            members.insert(name, value);
        }
        (Value::Array(items), name) => {
            let at = index(&name, items.len()).ok_or_else(|| no_index(path))?;
            if let Some(item) = items.get_mut(at) {
                *item = value;
            }
        }
        _ => return Err(missing(path)),
    }
    Ok(())
}

pub(super) fn remove(document: &mut Value, path: &str) -> Result<Value, JsonPatchError> {
    match container(document, path).ok_or_else(|| missing(path))? {
        (Value::Object(members), name) => {
            let removed = if members.len() > ORDERED_MEMBERS_MAX {
                members.swap_remove(&name)
            } else {
                members.shift_remove(&name)
            };
            removed.ok_or_else(|| missing(path))
        }
        (Value::Array(items), name) => {
            let at = index(&name, items.len()).ok_or_else(|| no_index(path))?;
            Ok(items.remove(at))
        }
        _ => Err(missing(path)),
    }
}

pub(super) fn test(document: &mut Value, path: &str, wanted: &Value) -> Result<(), JsonPatchError> {
    let found = if path.is_empty() {
        Some(&*document)
    } else {
        get(document, path)?
    };
    if found.unwrap_or(&Value::Null) == wanted {
        Ok(())
    } else {
        Err(JsonPatchError::Differs(path.to_owned()))
    }
}
