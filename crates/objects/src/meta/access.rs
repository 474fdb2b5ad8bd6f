//! Reading and writing members of `metadata`.

use serde_json::{Map, Value};

/// The `metadata` of an object.
pub fn metadata(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata")?.as_object()
}

/// The `metadata` of an object, made where there is none; `None` for what is no object.
pub fn metadata_mut(object: &mut Value) -> Option<&mut Map<String, Value>> {
    let members = object.as_object_mut()?;
    let metadata = members
        .entry("metadata")
        .or_insert_with(|| Value::Object(Map::new()));
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    metadata.as_object_mut()
}

/// The text `metadata.{name}`, empty where there is none.
pub fn text<'v>(object: &'v Value, name: &str) -> &'v str {
    metadata(object)
        .and_then(|m| m.get(name))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The integer `metadata.{name}`.
pub fn number(object: &Value, name: &str) -> Option<i64> {
    metadata(object)?.get(name)?.as_i64()
}

/// The list `metadata.{name}`, empty where there is none.
pub fn list<'v>(object: &'v Value, name: &str) -> &'v [Value] {
    metadata(object)
        .and_then(|m| m.get(name))
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The texts in the list `metadata.{name}`.
pub fn strings<'v>(object: &'v Value, name: &str) -> Vec<&'v str> {
    list(object, name)
        .iter()
        .filter_map(Value::as_str)
        .collect()
}
