//! HorizontalPodAutoscaler: v2 is stored, v1 is offered too.
//!
//! v1 has one number for CPU utilisation. Everything else that v2 can say is carried in
//! annotations, so that an object written back as v1 loses nothing.

mod metric;

use masthead_api::json_text;
use serde_json::{Map, Value, json};

use metric::Side;

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const CPU: &str = "targetCPUUtilizationPercentage";
const CURRENT_CPU: &str = "currentCPUUtilizationPercentage";
/// Members of one direction of scaling, under their names in the annotation.
const RULES: [(&str, &str); 4] = [
    ("StabilizationWindowSeconds", "stabilizationWindowSeconds"),
    ("SelectPolicy", "selectPolicy"),
    ("Policies", "policies"),
    ("Tolerance", "tolerance"),
];
const POLICY: [(&str, &str); 3] = [
    ("Type", "type"),
    ("Value", "value"),
    ("PeriodSeconds", "periodSeconds"),
];
const DIRECTIONS: [(&str, &str); 2] = [("ScaleUp", "scaleUp"), ("ScaleDown", "scaleDown")];

/// From v1 to v2.
pub(super) fn to_v2(object: &mut Value) {
    let metrics = take_annotation(object, METRICS);
    let current = take_annotation(object, CURRENT);
    let behavior = take_annotation(object, BEHAVIOR);
    let conditions = items(take_annotation(object, CONDITIONS));
    if let Some(spec) = member(object, "spec") {
        let cpu = cpu_metric(
            spec.shift_remove(CPU),
            |percent| json!({"target": {"type": "Utilization", "averageUtilization": percent}}),
        );
        let others = items(metrics).into_iter();
        let others = others.map(|metric| metric::to_v2(&metric, Side::Target));
        let metrics: Vec<Value> = others.chain(cpu).collect();
        if !metrics.is_empty() {
            spec.insert("metrics".to_owned(), metrics.into());
        }
        let behavior = behavior.map(|behavior| scaling(&behavior, Way::ToV2));
        let behavior = behavior.filter(|b| b.as_object().is_some_and(|b| !b.is_empty()));
        spec.extend(behavior.map(|behavior| ("behavior".to_owned(), behavior)));
    }
    if let Some(status) = member(object, "status") {
        if status.get("currentReplicas").and_then(Value::as_i64) == Some(0) {
            status.shift_remove("currentReplicas");
        }
        let cpu = cpu_metric(
            status.shift_remove(CURRENT_CPU),
            |percent| json!({"current": {"averageUtilization": percent}}),
        );
        let all = items(current).into_iter();
        let all: Vec<Value> = all
            .map(|metric| metric::to_v2(&metric, Side::Current))
            .collect();
        // The annotation knows more than the number.
        let metrics = if all.is_empty() {
            cpu.map(|cpu| vec![cpu])
        } else {
            Some(all)
        };
        status.insert("currentMetrics".to_owned(), metrics.into());
        if !conditions.is_empty() {
            status.insert("conditions".to_owned(), conditions.into());
        }
    }
}

/// The metric of v2 that a number of v1 means; `side` makes its target or its current value.
fn cpu_metric(percent: Option<Value>, side: impl FnOnce(Value) -> Value) -> Option<Value> {
    let mut resource = Map::from_iter([("name".to_owned(), "cpu".into())]);
    if let Value::Object(side) = side(percent.filter(|percent| !percent.is_null())?) {
        resource.extend(side);
    }
    Some(json!({"type": "Resource", "resource": resource}))
}

/// From v2 to v1.
pub(super) fn to_v1(object: &mut Value) {
    let mut annotations: Vec<(&str, Value)> = Vec::new();
    if let Some(spec) = member(object, "spec") {
        let behavior = spec.shift_remove("behavior").filter(Value::is_object);
        annotations.extend(behavior.map(|behavior| (BEHAVIOR, scaling(&behavior, Way::ToV1))));
        let (mut cpu, mut others) = (None, Vec::new());
        for metric in items(spec.shift_remove("metrics")) {
            match metric::cpu_utilization(&metric, Side::Target) {
                Some(percent) if cpu.is_none() => cpu = Some(percent.clone()),
                _ => others.push(metric::to_v1(&metric, Side::Target)),
            }
        }
        if !others.is_empty() {
            annotations.push((METRICS, others.into()));
        }
        spec.extend(cpu.map(|percent| (CPU.to_owned(), percent)));
    }
    if let Some(status) = member(object, "status") {
        status_to_v1(status, &mut annotations);
    }
    if !annotations.is_empty()
        && let Some(metadata) = member(object, "metadata")
    {
        annotate(metadata, annotations);
    }
}

/// The cpu's part of the current metrics is told twice: the annotation has its raw value too.
fn status_to_v1(status: &mut Map<String, Value>, annotations: &mut Vec<(&str, Value)>) {
    let current = items(status.shift_remove("currentMetrics"));
    let conditions = items(status.shift_remove("conditions"));
    if !status.contains_key("currentReplicas") {
        let at = index_of(status, "desiredReplicas").unwrap_or(status.len());
        status.shift_insert(at, "currentReplicas".to_owned(), 0.into());
    }
    let mut percents = current
        .iter()
        .filter_map(|metric| metric::cpu_utilization(metric, Side::Current));
    let percent = percents.next_back().cloned();
    status.extend(percent.map(|percent| (CURRENT_CPU.to_owned(), percent)));
    if !current.is_empty() {
        let metrics = current.iter();
        let metrics = metrics.map(|metric| metric::to_v1(metric, Side::Current));
        annotations.push((CURRENT, metrics.collect()));
    }
    if !conditions.is_empty() {
        annotations.push((CONDITIONS, conditions.into()));
    }
}

/// Adds annotations at their place in the wire order.
fn annotate(metadata: &mut Map<String, Value>, annotations: Vec<(&str, Value)>) {
    if !metadata.contains_key("annotations") {
        let behind = ["ownerReferences", "finalizers", "managedFields"];
        let at = behind
            .iter()
            .filter_map(|next| index_of(metadata, next))
            .min();
        let at = at.unwrap_or(metadata.len());
        metadata.shift_insert(at, "annotations".to_owned(), Value::Object(Map::new()));
    }
    let Some(Value::Object(all)) = metadata.get_mut("annotations") else {
        return;
    };
    for (key, value) in annotations {
        all.insert(key.to_owned(), json_text(&value).into());
    }
    all.sort_keys();
}

fn index_of(members: &Map<String, Value>, name: &str) -> Option<usize> {
    members.keys().position(|key| key == name)
}

fn member<'a>(object: &'a mut Value, key: &str) -> Option<&'a mut Map<String, Value>> {
    object.get_mut(key).and_then(Value::as_object_mut)
}

fn take_annotation(object: &mut Value, key: &str) -> Option<Value> {
    let metadata = member(object, "metadata")?;
    let annotations = metadata.get_mut("annotations")?.as_object_mut()?;
    let text = annotations.shift_remove(key)?;
    if annotations.is_empty() {
        metadata.shift_remove("annotations");
    }
    serde_json::from_str(text.as_str()?).ok()
}

/// The objects of an array; nothing of an array that has anything else.
fn items(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) if items.iter().all(Value::is_object) => items,
        _ => Vec::new(),
    }
}

/// Both directions of scaling under their other names.
fn scaling(behavior: &Value, way: Way) -> Value {
    rename(behavior, &DIRECTIONS, way, &|rules| {
        rename(rules, &RULES, way, &|rule| policies(rule, way))
    })
}

/// Which way members are renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    ToV1,
    ToV2,
}

/// `value`'s members under their other names, their values through `inner`. The annotation holds
/// every member, the object those that are set. What is no object has no members: null.
fn rename(
    value: &Value,
    names: &[(&str, &str)],
    way: Way,
    inner: &dyn Fn(&Value) -> Value,
) -> Value {
    let Some(members) = value.as_object() else {
        return Value::Null;
    };
    let mut out = Map::new();
    for (annotation, own) in names {
        let (from, to) = match way {
            Way::ToV1 => (own, annotation),
            Way::ToV2 => (annotation, own),
        };
        let found = members.get(*from).map(inner);
        let found = found.filter(|value| !value.is_null());
        match (found, way) {
            (Some(value), _) => out.insert((*to).to_owned(), value),
            (None, Way::ToV1) => out.insert((*to).to_owned(), Value::Null),
            (None, Way::ToV2) => None,
        };
    }
    out.into()
}

fn policies(value: &Value, way: Way) -> Value {
    match value {
        Value::Array(items) => items
            .iter()
            .map(|item| rename(item, &POLICY, way, &Value::clone))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_utilisation_is_a_number_in_v1_and_a_metric_in_v2() {
        let v1 = json!({"metadata": {"name": "a"}, "spec": {"maxReplicas": 3, "targetCPUUtilizationPercentage": 70},
            "status": {"currentReplicas": 0, "desiredReplicas": 0}});
        let mut object = v1.clone();
        to_v2(&mut object);
        assert_eq!(
            object,
            json!({"metadata": {"name": "a"}, "spec": {"maxReplicas": 3, "metrics": [{"type": "Resource",
            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}]},
            "status": {"desiredReplicas": 0, "currentMetrics": null}})
        );
        to_v1(&mut object);
        assert_eq!(object, v1);
    }

    #[test]
    fn what_v1_cannot_say_is_kept_in_annotations() {
        let rules = json!({"stabilizationWindowSeconds": 0, "selectPolicy": "Max",
            "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}]});
        let metrics = json!([
            {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
            {"type": "Pods", "pods": {"metric": {"name": "m", "selector": {"matchLabels": {"a": "b"}}}, "target": {"type": "AverageValue", "averageValue": "2"}}},
            {"type": "Object", "object": {"describedObject": {"kind": "Service", "name": "s"}, "metric": {"name": "m"}, "target": {"type": "Value", "value": "3"}}},
            {"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "Value", "value": "4"}}}]);
        let v2 = json!({"metadata": {"name": "b"}, "spec": {"maxReplicas": 3, "metrics": metrics, "behavior": {"scaleUp": rules}},
            "status": {"desiredReplicas": 0, "currentMetrics": null}});
        let mut object = v2.clone();
        to_v1(&mut object);
        assert_eq!(
            object["metadata"]["annotations"][BEHAVIOR],
            r#"{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15}],"Tolerance":null},"ScaleDown":null}"#
        );
        let shown = object["metadata"]["annotations"][METRICS].as_str().unwrap();
        assert!(shown.starts_with(
            r#"[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}"#
        ));
        to_v2(&mut object);
        assert_eq!(object, v2);
    }
}
