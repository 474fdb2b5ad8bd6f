//! Places in an object, as text: `spec.ports[].protocol`.
//!
//! `name[]` is every item of a list; `name?` leads on only where there is such an object; a plain
//! name is made where it is missing.

use serde_json::{Map, Value};

/// Calls `act` with the object that holds the last name of `path`, and with that name.
pub(super) fn each(
    object: &mut Value,
    path: &str,
    act: &mut dyn FnMut(&mut Map<String, Value>, &str),
) {
    let Some(members) = object.as_object_mut() else {
        return;
    };
    let Some((here, rest)) = path.split_once('.') else {
        act(members, path);
        return;
    };
    if let Some(name) = here.strip_suffix("[]") {
        if let Some(Value::Array(items)) = members.get_mut(name) {
            for item in items {
                each(item, rest, act);
            }
        }
    } else if let Some(name) = here.strip_suffix('?') {
        if let Some(next) = members.get_mut(name) {
            each(next, rest, act);
        }
    } else {
        let next = members
            .entry(here)
            .or_insert_with(|| Value::Object(Map::new()));
        each(next, rest, act);
    }
}

/// Calls `act` with every object at `path`, which ends in `[]` or names an object.
pub(super) fn each_object(
    object: &mut Value,
    path: &str,
    act: &mut dyn FnMut(&mut Map<String, Value>),
) {
    let (last, items) = match path.strip_suffix("[]") {
        Some(path) => (path, true),
        None => (path, false),
    };
    each(
        object,
        last,
        &mut |members, name| match members.get_mut(name) {
            Some(Value::Array(list)) if items => {
                list.iter_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(&mut *act);
            }
            Some(Value::Object(found)) if !items => act(found),
            _ => {}
        },
    );
}
