//! JSON as Go's `%v` prints it: how refusals of a strategic merge patch show it.

use serde_json::{Map, Value};

/// A map as Go prints it: `map[a:1 b:x]`, ordered by key.
pub(super) fn go_map(map: &Map<String, Value>) -> String {
    let mut members: Vec<_> = map.iter().collect();
    members.sort_by_key(|(key, _)| *key);
    let members: Vec<_> = members
        .into_iter()
        .map(|(key, value)| format!("{key}:{}", go_value(value)))
        .collect();
    format!("map[{}]", members.join(" "))
}

/// A value as Go prints it.
pub(super) fn go_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Object(map) => go_map(map),
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(go_value).collect::<Vec<_>>().join(" ")
            )
        }
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
