//! An object that is shown in the other version and written back is the object it was.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{CORE, LeftOut, from_stored, from_stored_bytes, is_convertible, to_stored};
use crate::catalog::{Catalog, Resource};

fn resource(group: &str, version: &str, plural: &str) -> &'static Resource {
    Catalog::builtin().resource(group, version, plural).unwrap()
}

fn events() -> &'static Resource {
    resource("events.k8s.io", "v1", "events")
}

fn autoscalers() -> &'static Resource {
    resource("autoscaling", "v1", "horizontalpodautoscalers")
}

fn text() -> impl Strategy<Value = Value> {
    "[a-z<>&\"]{1,6}".prop_map(Value::from)
}

/// A value of the type that the member of a core Event has.
fn event_member(name: &str) -> BoxedStrategy<Value> {
    match name {
        "count" => (1..9_i64).prop_map(Value::from).boxed(),
        "involvedObject" | "source" | "series" | "related" => btree_map("[a-z]{1,4}", text(), 1..3)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
            .boxed(),
        _ => text().boxed(),
    }
}

fn core_event() -> impl Strategy<Value = Value> {
    let members: Vec<_> = CORE
        .iter()
        .map(|(name, ..)| option::of(event_member(name)))
        .collect();
    members.prop_map(|values| {
        let head = json!({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e"}});
        let mut object = head.as_object().cloned().unwrap();
        for ((name, _, absent), value) in CORE.iter().zip(values) {
            let value = value.or(match absent {
                LeftOut => None,
                super::Null => Some(Value::Null),
                super::EmptyObject => Some(json!({})),
                super::EmptyText => Some("".into()),
            });
            object.extend(value.map(|value| ((*name).to_owned(), value)));
        }
        Value::Object(object)
    })
}

/// A metric but for the cpu's utilisation; `side` is `target` or `current`.
fn metric(side: &'static str) -> impl Strategy<Value = Value> {
    let name = || json!({"name": "m", "selector": {"matchLabels": {"a": "b"}}});
    let value = move |kind: &str, member: &str, value: Value| {
        let mut out = Map::new();
        if side == "target" {
            out.insert("type".to_owned(), kind.into());
        }
        out.insert(member.to_owned(), value);
        Value::Object(out)
    };
    (0..6, 1..100_i64).prop_map(move |(which, number)| {
        let (average, share) = (
            value("AverageValue", "averageValue", number.to_string().into()),
            value("Utilization", "averageUtilization", number.into()),
        );
        let whole = value("Value", "value", number.to_string().into());
        let (kind, source, inner) = match which {
            0 => ("Resource", "resource", json!({"name": "memory", side: average})),
            1 => ("Resource", "resource", json!({"name": "cpu", side: average})),
            2 => ("Pods", "pods", json!({"metric": name(), side: average})),
            3 => ("Object", "object",
                json!({"describedObject": {"kind": "S", "name": "s"}, "metric": name(), side: whole})),
            4 => ("External", "external", json!({"metric": name(), side: whole})),
            _ => ("ContainerResource", "containerResource",
                json!({"name": "cpu", "container": "c", side: share})),
        };
        json!({"type": kind, source: inner})
    })
}

fn rules() -> impl Strategy<Value = Value> {
    (0..300_i64, vec(1..9_i64, 1..3), any::<bool>()).prop_map(|(window, policies, tolerant)| {
        let policy = |value| json!({"type": "Pods", "value": value, "periodSeconds": 15});
        let policies: Vec<Value> = policies.into_iter().map(policy).collect();
        let mut rules = json!({"stabilizationWindowSeconds": window, "selectPolicy": "Max", "policies": policies});
        if tolerant {
            rules["tolerance"] = "100m".into();
        }
        rules
    })
}

fn autoscaler() -> impl Strategy<Value = Value> {
    let spec = (
        vec(metric("target"), 0..4),
        option::of(1..100_i64),
        option::of(rules()),
        option::of(rules()),
    );
    let status = (
        vec(metric("current"), 0..4),
        option::of(1..100_i64),
        0..3_i64,
        any::<bool>(),
    );
    (spec, status).prop_map(
        |((mut metrics, cpu, up, down), (mut current, used, replicas, told))| {
            metrics.extend(cpu.map(|percent| {
                json!({"type": "Resource", "resource":
            {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}}})
            }));
            current.extend(used.map(|percent| {
                json!({"type": "Resource", "resource":
            {"name": "cpu", "current": {"averageUtilization": percent, "averageValue": "7m"}}})
            }));
            let mut spec = json!({"maxReplicas": 3});
            if !metrics.is_empty() {
                spec["metrics"] = metrics.into();
            }
            if up.is_some() || down.is_some() {
                spec["behavior"] = json!({});
            }
            for (name, rules) in [("scaleUp", up), ("scaleDown", down)] {
                if let Some(rules) = rules {
                    spec["behavior"][name] = rules;
                }
            }
            let mut status = json!({"desiredReplicas": 0, "currentMetrics": null});
            if replicas > 0 {
                status["currentReplicas"] = replicas.into();
            }
            if !current.is_empty() {
                status["currentMetrics"] = current.into();
            }
            if told {
                status["conditions"] = json!([{"type": "AbleToScale", "status": "True"}]);
            }
            json!({"kind": "HorizontalPodAutoscaler", "apiVersion": "autoscaling/v2",
            "metadata": {"name": "a", "managedFields": []}, "spec": spec, "status": status})
        },
    )
}

proptest! {
    #[test]
    fn an_event_comes_back_as_it_was(event in core_event()) {
        let shown = from_stored(events(), event.clone());
        prop_assert_eq!(&shown["apiVersion"], "events.k8s.io/v1");
        prop_assert_eq!(to_stored(events(), shown).to_string(), event.to_string());
    }

    #[test]
    fn an_autoscaler_comes_back_as_it_was(object in autoscaler()) {
        let shown = from_stored(autoscalers(), object.clone());
        prop_assert_eq!(&shown["apiVersion"], "autoscaling/v1");
        for member in ["/spec/metrics", "/spec/behavior", "/status/currentMetrics", "/status/conditions"] {
            prop_assert!(shown.pointer(member).is_none(), "{}", member);
        }
        prop_assert_eq!(to_stored(autoscalers(), shown), object);
    }
}

#[test]
fn what_is_stored_as_it_is_served_is_not_touched() {
    let odd = json!({"spec": {"targetCPUUtilizationPercentage": 1}, "note": "n"});
    for resource in [
        resource("", "v1", "events"),
        resource("autoscaling", "v2", "horizontalpodautoscalers"),
        resource("", "v1", "pods"),
    ] {
        assert!(!is_convertible(resource));
        assert_eq!(from_stored(resource, odd.clone()), odd);
        assert_eq!(to_stored(resource, odd.clone()), odd);
        assert_eq!(from_stored_bytes(resource, b"no json"), "no json");
    }
}

#[test]
fn an_autoscaler_shown_as_v1_has_its_annotations_in_wire_order() {
    let stored = br#"{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{"name":"b","resourceVersion":"7","managedFields":[]},"spec":{"maxReplicas":3,"metrics":[{"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Gi"}}}],"behavior":{"scaleDown":{"stabilizationWindowSeconds":60,"selectPolicy":"Max","policies":[{"type":"Percent","value":100,"periodSeconds":15}]}}},"status":{"desiredReplicas":0,"currentMetrics":null}}"#;
    let shown = r#"{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v1","metadata":{"name":"b","resourceVersion":"7","annotations":{"autoscaling.alpha.kubernetes.io/behavior":"{\"ScaleUp\":null,\"ScaleDown\":{\"StabilizationWindowSeconds\":60,\"SelectPolicy\":\"Max\",\"Policies\":[{\"Type\":\"Percent\",\"Value\":100,\"PeriodSeconds\":15}],\"Tolerance\":null}}","autoscaling.alpha.kubernetes.io/metrics":"[{\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"targetAverageValue\":\"1Gi\"}}]"},"managedFields":[]},"spec":{"maxReplicas":3},"status":{"currentReplicas":0,"desiredReplicas":0}}"#;
    assert_eq!(from_stored_bytes(autoscalers(), stored), shown);
}

#[test]
fn annotations_that_cannot_be_read_are_dropped() {
    let prefix = "autoscaling.alpha.kubernetes.io/";
    for text in [
        "",
        "{",
        "7",
        "[7]",
        "null",
        r#"{"ScaleUp":7}"#,
        "[[]]",
        r#"[{"resource":7}]"#,
    ] {
        let mut object = json!({"apiVersion": "autoscaling/v1", "metadata": {"annotations": {}}, "spec": {}, "status": {}});
        for name in ["metrics", "current-metrics", "behavior", "conditions"] {
            object["metadata"]["annotations"][format!("{prefix}{name}")] = text.into();
        }
        let stored = to_stored(autoscalers(), object);
        assert!(stored["metadata"].get("annotations").is_none(), "{stored}");
    }
    for odd in [
        json!(7),
        json!({"metadata": 7, "spec": [], "status": "x"}),
        Value::Null,
    ] {
        assert_eq!(to_stored(autoscalers(), odd.clone()), odd);
        assert_eq!(from_stored(autoscalers(), odd.clone()), odd);
    }
}
