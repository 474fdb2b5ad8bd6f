//! Metrics of an autoscaler: v2 has one shape for all sources, the annotations of v1 a flat one.

use serde_json::{Map, Value};

/// What a metric is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// What is aimed at.
    Target,
    /// What is.
    Current,
}

impl Side {
    /// Its member in v2.
    const fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Current => "current",
        }
    }
}

/// Stands for the side's member in a path.
const SIDE: &str = "";

/// Source, member of a target in v1, member of a current value in v1, path in v2.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

/// Members in the order in which v1 writes them.
#[rustfmt::skip]
const ROWS: [Row; 19] = [
    ("object", "target", "target", &["describedObject"]),
    ("object", "metricName", "metricName", &["metric", "name"]),
    ("object", "targetValue", "currentValue", &[SIDE, "value"]),
    ("object", "selector", "selector", &["metric", "selector"]),
    ("object", "averageValue", "averageValue", &[SIDE, "averageValue"]),
    ("pods", "metricName", "metricName", &["metric", "name"]),
    ("pods", "targetAverageValue", "currentAverageValue", &[SIDE, "averageValue"]),
    ("pods", "selector", "selector", &["metric", "selector"]),
    ("resource", "name", "name", &["name"]),
    ("resource", "targetAverageUtilization", "currentAverageUtilization", &[SIDE, "averageUtilization"]),
    ("resource", "targetAverageValue", "currentAverageValue", &[SIDE, "averageValue"]),
    ("containerResource", "name", "name", &["name"]),
    ("containerResource", "targetAverageUtilization", "currentAverageUtilization", &[SIDE, "averageUtilization"]),
    ("containerResource", "targetAverageValue", "currentAverageValue", &[SIDE, "averageValue"]),
    ("containerResource", "container", "container", &["container"]),
    ("external", "metricName", "metricName", &["metric", "name"]),
    ("external", "metricSelector", "metricSelector", &["metric", "selector"]),
    ("external", "targetValue", "currentValue", &[SIDE, "value"]),
    ("external", "targetAverageValue", "currentAverageValue", &[SIDE, "averageValue"]),
];

/// Rows of the sources that `metric` has, with the name that v1 gives each on this side.
fn rows(metric: &Value, side: Side) -> impl Iterator<Item = (&'static Row, &'static str)> {
    ROWS.iter()
        .filter(|(source, ..)| metric.get(*source).is_some_and(Value::is_object))
        .map(move |row| match side {
            Side::Target => (row, row.1),
            Side::Current => (row, row.2),
        })
}

/// How much of the cpu is used or aimed at, where `metric` says this.
pub(super) fn cpu_utilization(metric: &Value, side: Side) -> Option<&Value> {
    let resource = metric.get("resource")?;
    if resource.get("name")?.as_str()? != "cpu" {
        return None;
    }
    let percent = resource.get(side.name())?.get("averageUtilization")?;
    (!percent.is_null()).then_some(percent)
}

/// A metric of v2 in the form of v1.
pub(super) fn to_v1(metric: &Value, side: Side) -> Value {
    let mut out = typed(metric);
    for ((source, _, _, path), name) in rows(metric, side) {
        let value = metric.get(*source).and_then(|from| {
            path.iter().try_fold(from, |value, key| {
                value.get(if *key == SIDE { side.name() } else { key })
            })
        });
        let members = inner(&mut out, source);
        if let (Some(value), Some(members)) = (value, members) {
            members.insert(name.to_owned(), value.clone());
        }
    }
    out.into()
}

/// A metric of v1 in the form of v2.
pub(super) fn to_v2(metric: &Value, side: Side) -> Value {
    let mut out = typed(metric);
    for ((source, _, _, path), name) in rows(metric, side) {
        let value = metric.get(*source).and_then(|from| from.get(name));
        let members = inner(&mut out, source);
        if let (Some(value), Some(members)) = (value, members) {
            put(members, path, side, value.clone());
        }
    }
    out.into()
}

fn typed(metric: &Value) -> Map<String, Value> {
    let kind = metric.get("type").cloned().unwrap_or_default();
    Map::from_iter([("type".to_owned(), kind)])
}

/// The object `name` of `members`, made where it is missing.
fn inner<'a>(
    members: &'a mut Map<String, Value>,
    name: &str,
) -> Option<&'a mut Map<String, Value>> {
    let member = members
        .entry(name)
        .or_insert_with(|| Value::Object(Map::new()));
    member.as_object_mut()
}

/// Puts `value` at `path`. A target also says which of its values is meant: the last one is.
fn put(members: &mut Map<String, Value>, path: &[&str], side: Side, value: Value) {
    match path {
        [name] => {
            members.insert((*name).to_owned(), value);
        }
        [outer, name] => {
            let is_side = *outer == SIDE;
            let outer = if is_side { side.name() } else { outer };
            let Some(members) = inner(members, outer) else {
                return;
            };
            if is_side && side == Side::Target {
                members.insert("type".to_owned(), target_type(name).into());
            }
            members.insert((*name).to_owned(), value);
        }
        _ => {}
    }
}

fn target_type(member: &str) -> &'static str {
    match member {
        "averageUtilization" => "Utilization",
        "averageValue" => "AverageValue",
        _ => "Value",
    }
}
