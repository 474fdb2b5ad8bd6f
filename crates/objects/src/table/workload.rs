//! Cells of events, jobs and autoscalers.

use serde_json::Value;

use super::age;
use super::view::{View, get, int, or, plain, some_of, text};

const UNKNOWN: &str = "<unknown>";

fn first_seen(view: &View<'_>) -> String {
    let first = view.ago("firstTimestamp").or_else(|| view.ago("eventTime"));
    first.unwrap_or_else(|| UNKNOWN.to_owned())
}

pub(super) fn event_first(view: &View<'_>, _: &str) -> Value {
    first_seen(view).into()
}

pub(super) fn event_last(view: &View<'_>, _: &str) -> Value {
    if view.get("series").is_some() {
        return view
            .ago("series.lastObservedTime")
            .unwrap_or_else(|| UNKNOWN.to_owned())
            .into();
    }
    view.ago("lastTimestamp")
        .unwrap_or_else(|| first_seen(view))
        .into()
}

pub(super) fn event_count(view: &View<'_>, _: &str) -> Value {
    match view.get("series") {
        Some(series) => int(series, "count").into(),
        None => view.int("count").max(1).into(),
    }
}

pub(super) fn event_object(view: &View<'_>, _: &str) -> Value {
    let kind = view.text("involvedObject.kind").to_lowercase();
    match view.text("involvedObject.name") {
        "" => kind.into(),
        name => format!("{kind}/{name}").into(),
    }
}

pub(super) fn event_source(view: &View<'_>, _: &str) -> Value {
    let component = or(
        view.text("source.component"),
        view.text("reportingComponent"),
    );
    match or(view.text("source.host"), view.text("reportingInstance")) {
        "" => component.into(),
        instance => format!("{component}, {instance}").into(),
    }
}

pub(super) fn event_message(view: &View<'_>, _: &str) -> Value {
    view.text("message").trim().into()
}

pub(super) fn job_status(view: &View<'_>, _: &str) -> Value {
    let word = if view.is_true("Complete") {
        "Complete"
    } else if view.is_true("Failed") {
        "Failed"
    } else if view.is_being_deleted() {
        "Terminating"
    } else if view.is_true("Suspended") {
        "Suspended"
    } else if view.is_true("FailureTarget") {
        "FailureTarget"
    } else if view.is_true("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    };
    word.into()
}

pub(super) fn job_completions(view: &View<'_>, _: &str) -> Value {
    let done = view.int("status.succeeded");
    match (view.get("spec.completions"), view.int("spec.parallelism")) {
        (Some(wanted), _) => format!("{done}/{}", plain(wanted)).into(),
        (None, parallel) if parallel > 1 => format!("{done}/1 of {parallel}").into(),
        (None, _) => format!("{done}/1").into(),
    }
}

pub(super) fn job_duration(view: &View<'_>, _: &str) -> Value {
    let Some(started) = age::since(view.text("status.startTime"), view.now) else {
        return "".into();
    };
    let ended = age::since(view.text("status.completionTime"), view.now).unwrap_or_default();
    age::human(started - ended).into()
}

pub(super) fn scale_target(view: &View<'_>, _: &str) -> Value {
    format!(
        "{}/{}",
        view.text("spec.scaleTargetRef.kind"),
        view.text("spec.scaleTargetRef.name")
    )
    .into()
}

pub(super) fn scale_metrics(view: &View<'_>, _: &str) -> Value {
    let specs = view.list("spec.metrics");
    if specs.is_empty() {
        return "<none>".into();
    }
    let statuses = view.list("status.currentMetrics");
    let shown: Vec<String> = specs
        .iter()
        .enumerate()
        .map(|(at, spec)| metric(spec, statuses.get(at)))
        .collect();
    // Unlike other lists this one has a blank behind each comma.
    some_of(&shown, shown.len(), 2)
        .replacen(',', ", ", 1)
        .into()
}

/// `cpu: 20%/80%` for a resource, `5/10` for any other source.
fn metric(spec: &Value, status: Option<&Value>) -> String {
    let (member, label) = match text(spec, "type") {
        "Resource" => ("resource", text(spec, "resource.name")),
        "ContainerResource" => ("containerResource", text(spec, "containerResource.name")),
        "Pods" => ("pods", ""),
        "Object" => ("object", ""),
        "External" => ("external", ""),
        _ => return "<unknown type>".to_owned(),
    };
    let current = status
        .and_then(|status| get(status, member))
        .and_then(|s| get(s, "current"));
    let target = get(spec, member).and_then(|s| get(s, "target"));
    let amount = |from: Option<&Value>, default: &str| {
        let from = from?;
        let percent = get(from, "averageUtilization").map(|value| format!("{}%", plain(value)));
        let value = get(from, "averageValue")
            .or_else(|| get(from, "value"))
            .map(plain);
        let has_value = target.is_some_and(|t| get(t, "averageUtilization").is_none());
        Some(
            if has_value {
                value.or(percent)
            } else {
                percent
            }
            .unwrap_or_else(|| default.to_owned()),
        )
    };
    let current = amount(current, UNKNOWN).unwrap_or_else(|| UNKNOWN.to_owned());
    let target = amount(target, "<auto>").unwrap_or_else(|| "<auto>".to_owned());
    if label.is_empty() {
        format!("{current}/{target}")
    } else {
        format!("{label}: {current}/{target}")
    }
}
