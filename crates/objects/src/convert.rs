//! Between the version that is stored and another version of the same type.
//!
//! An Event of `events.k8s.io` is stored as a core Event: the same values under other names. Both
//! print some members even where they are empty. A HorizontalPodAutoscaler is stored as v2.

mod autoscaling;
#[cfg(test)]
mod round_trip;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::catalog::Resource;
use crate::wire;

/// What a member that is absent or empty is printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absent {
    LeftOut,
    Null,
    EmptyObject,
    EmptyText,
}

use Absent::{EmptyObject, EmptyText, LeftOut, Null};

/// Name here, name in the other version, what is printed where it is absent.
type Member = (&'static str, &'static str, Absent);

/// Members of a core Event in wire order, and their names in `events.k8s.io`.
const CORE: [Member; 14] = [
    ("involvedObject", "regarding", EmptyObject),
    ("reason", "reason", LeftOut),
    ("message", "note", LeftOut),
    ("source", "deprecatedSource", EmptyObject),
    ("firstTimestamp", "deprecatedFirstTimestamp", Null),
    ("lastTimestamp", "deprecatedLastTimestamp", Null),
    ("count", "deprecatedCount", LeftOut),
    ("type", "type", LeftOut),
    ("eventTime", "eventTime", Null),
    ("series", "series", LeftOut),
    ("action", "action", LeftOut),
    ("related", "related", LeftOut),
    ("reportingComponent", "reportingController", EmptyText),
    ("reportingInstance", "reportingInstance", EmptyText),
];
/// Members of an Event of `events.k8s.io` in wire order, and their names in core.
const EVENTS: [Member; 14] = [
    ("eventTime", "eventTime", Null),
    ("series", "series", LeftOut),
    ("reportingController", "reportingComponent", LeftOut),
    ("reportingInstance", "reportingInstance", LeftOut),
    ("action", "action", LeftOut),
    ("reason", "reason", LeftOut),
    ("regarding", "involvedObject", EmptyObject),
    ("related", "related", LeftOut),
    ("note", "message", LeftOut),
    ("type", "type", LeftOut),
    ("deprecatedSource", "source", EmptyObject),
    ("deprecatedFirstTimestamp", "firstTimestamp", Null),
    ("deprecatedLastTimestamp", "lastTimestamp", Null),
    ("deprecatedCount", "count", LeftOut),
];

/// Can objects of `resource` be converted to the stored version and back? A resource whose own
/// version is stored needs no conversion, and is not asked for one.
pub fn is_convertible(resource: &Resource) -> bool {
    pair(resource) != Pair::None
}

/// The pairs of versions between which objects are converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    Event,
    Autoscaler,
    None,
}

fn pair(resource: &Resource) -> Pair {
    if resource.is_stored_version {
        return Pair::None;
    }
    match (
        resource.group.as_ref(),
        resource.version.as_ref(),
        resource.plural.as_ref(),
    ) {
        ("events.k8s.io", "v1", "events") => Pair::Event,
        ("autoscaling", "v1", "horizontalpodautoscalers") => Pair::Autoscaler,
        _ => Pair::None,
    }
}

/// `object`, in the version of `resource`, in the version that is stored. An object of a resource
/// that is not convertible comes back as it is.
#[must_use]
pub fn to_stored(resource: &Resource, mut object: Value) -> Value {
    match pair(resource) {
        Pair::Event => rewritten(object, "v1", &CORE),
        Pair::Autoscaler => {
            autoscaling::to_v2(&mut object);
            versioned(object, "autoscaling/v2")
        }
        Pair::None => object,
    }
}

/// `object`, in the version that is stored, in the version of `resource`.
#[must_use]
pub fn from_stored(resource: &Resource, mut object: Value) -> Value {
    match pair(resource) {
        Pair::Event => rewritten(object, &resource.api_version, &EVENTS),
        Pair::Autoscaler => {
            autoscaling::to_v1(&mut object);
            versioned(object, &resource.api_version)
        }
        Pair::None => object,
    }
}

/// [`from_stored`] for an object's bytes: `kind`, `apiVersion` and `metadata` first, as on the wire.
/// Bytes of no object come back as they are.
pub fn from_stored_bytes(resource: &Resource, json: &[u8]) -> Bytes {
    if pair(resource) == Pair::None {
        return Bytes::copy_from_slice(json);
    }
    match serde_json::from_slice(json) {
        Ok(object) => Bytes::from(wire::to_vec(&from_stored(resource, object))),
        Err(_) => Bytes::copy_from_slice(json),
    }
}

fn versioned(mut object: Value, api_version: &str) -> Value {
    if let Some(version) = object.get_mut("apiVersion") {
        *version = api_version.into();
    }
    object
}

fn rewritten(object: Value, api_version: &str, members: &[Member]) -> Value {
    let Value::Object(mut old) = object else {
        return object;
    };
    let mut new = Map::new();
    for key in ["kind", "apiVersion", "metadata"] {
        if let Some(value) = old.remove(key) {
            new.insert(key.to_owned(), value);
        }
    }
    if let Some(version) = new.get_mut("apiVersion") {
        *version = api_version.into();
    }
    for (to, from, absent) in members {
        let value = old.remove(*from).filter(|value| !is_empty(value));
        let value = value.or_else(|| match absent {
            LeftOut => None,
            Null => Some(Value::Null),
            EmptyObject => Some(Value::Object(Map::new())),
            EmptyText => Some("".into()),
        });
        if let Some(value) = value {
            new.insert((*to).to_owned(), value);
        }
    }
    Value::Object(new)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn an_event_reads_the_same_in_both_groups() {
        let resource = Catalog::builtin()
            .resource("events.k8s.io", "v1", "events")
            .unwrap();
        let core = json!({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e"},
            "involvedObject": {"kind": "Pod", "name": "p"}, "reason": "R", "message": "m",
            "source": {"component": "kubelet", "host": "h"}, "firstTimestamp": "t", "lastTimestamp": "u",
            "count": 3, "type": "Warning", "eventTime": null, "reportingComponent": "", "reportingInstance": ""});
        let event = from_stored(resource, core.clone());
        let expected = r#"{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"e"},"eventTime":null,"reason":"R","regarding":{"kind":"Pod","name":"p"},"note":"m","type":"Warning","deprecatedSource":{"component":"kubelet","host":"h"},"deprecatedFirstTimestamp":"t","deprecatedLastTimestamp":"u","deprecatedCount":3}"#;
        assert_eq!(event.to_string(), expected);
        assert_eq!(to_stored(resource, event).to_string(), core.to_string());
        assert!(is_convertible(resource));
    }
}
