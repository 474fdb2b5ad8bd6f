//! [`View`]: an object seen by the cells of its row.

use std::cell::OnceCell;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::age;
use super::pod::Summary;

/// One object and the present moment.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) object: &'a Value,
    pub(super) now: Timestamp,
    /// What three cells of a pod share.
    pub(super) pod: OnceCell<Summary>,
}

impl<'a> View<'a> {
    pub(super) fn new(object: &'a Value, now: Timestamp) -> Self {
        Self {
            object,
            now,
            pod: OnceCell::new(),
        }
    }

    /// The value at a path of member names, e.g. `spec.replicas`.
    pub(super) fn get(&self, path: &str) -> Option<&'a Value> {
        get(self.object, path)
    }

    pub(super) fn text(&self, path: &str) -> &'a str {
        text(self.object, path)
    }

    pub(super) fn int(&self, path: &str) -> i64 {
        int(self.object, path)
    }

    pub(super) fn list(&self, path: &str) -> &'a [Value] {
        list(self.object, path)
    }

    pub(super) fn map(&self, path: &str) -> Option<&'a Map<String, Value>> {
        self.get(path).and_then(Value::as_object)
    }

    /// How long ago the time at `path` is.
    pub(super) fn ago(&self, path: &str) -> Option<String> {
        age::since(self.text(path), self.now).map(age::human)
    }

    pub(super) fn is_being_deleted(&self) -> bool {
        !self.text("metadata.deletionTimestamp").is_empty()
    }

    /// The condition of this type.
    pub(super) fn condition(&self, kind: &str) -> Option<&'a Value> {
        self.list("status.conditions")
            .iter()
            .find(|c| text(c, "type") == kind)
    }

    /// Is there a condition of this type with status True?
    pub(super) fn is_true(&self, kind: &str) -> bool {
        self.condition(kind)
            .is_some_and(|c| text(c, "status") == "True")
    }
}

pub(super) fn get<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.')
        .try_fold(value, |value, key| value.get(key))
        .filter(|found| !found.is_null())
}

pub(super) fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    get(value, path).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn int(value: &Value, path: &str) -> i64 {
    get(value, path).and_then(Value::as_i64).unwrap_or_default()
}

pub(super) fn flag(value: &Value, path: &str) -> bool {
    get(value, path)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

pub(super) fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    get(value, path)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// A string as it is, any other scalar as it is printed, nothing for the rest.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// At most `max` of `items`, then how many more there are.
pub(super) fn some_of(items: &[String], count: usize, max: usize) -> String {
    let shown: Vec<&str> = items.iter().take(max).map(String::as_str).collect();
    let shown = shown.join(",");
    if items.len() > max {
        format!("{shown} + {} more...", count.saturating_sub(max))
    } else {
        shown
    }
}

/// `text`, or `default` where it is empty.
pub(super) fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}
