//! Members that a kind prints even if they are empty.

use serde_json::{Map, Value};

use crate::catalog::Resource;

/// Puts back what `object` lacks of its kind's empty object.
pub(super) fn fill(resource: &Resource, object: &mut Value) {
    if resource.empty.len() <= 2 {
        return;
    }
    if let Ok(Value::Object(empty)) = serde_json::from_str(&resource.empty)
        && let Some(members) = object.as_object_mut()
    {
        fill_map(members, empty);
    }
}

fn fill_map(members: &mut Map<String, Value>, empty: Map<String, Value>) {
    for (name, zero) in empty {
        match (members.get_mut(&name), zero) {
            (Some(Value::Object(inner)), Value::Object(zero)) => fill_map(inner, zero),
            (Some(_), _) => {}
            (None, zero) => {
                members.insert(name, zero);
            }
        }
    }
}
