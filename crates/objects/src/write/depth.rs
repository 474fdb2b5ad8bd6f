//! How deep JSON values are nested.

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
