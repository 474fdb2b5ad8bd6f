//! Words and bounds of JSON values.

use serde_json::Value;

/// How deep an object may be nested. The JSON reader stops at 128; what is stored must be readable
/// inside of a list or an event.
pub const DEPTH_MAX: usize = 120;

/// How deep `value` is nested: 1 for a scalar.
pub fn depth_of(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(depth_of).max().unwrap_or(0),
        Value::Object(members) => members.values().map(depth_of).max().unwrap_or(0),
        _ => 0,
    }
}

/// The word that a client's error messages use for the type of `value`.
pub const fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
