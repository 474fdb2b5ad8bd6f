//! Whether the disruption budgets let a pod be evicted.

use masthead_api::{LabelSelector, Labels, Status, StatusCause};
use serde_json::Value;

use crate::meta::{metadata, number, text};
use crate::write::scale::selector_text;

/// When to try again while a budget has not been looked at by its controller.
const RETRY_AFTER_SECONDS: u32 = 10;

/// May `pod` be evicted as far as `budgets`, those of its namespace, are concerned?
///
/// # Errors
/// 429 where the pod's budget allows no disruption, 500 where more than one budget covers it.
pub fn check_disruption(pod: &Value, budgets: &[Value]) -> Result<(), Status> {
    let phase = pod
        .pointer("/status/phase")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let is_over = matches!(phase, "Pending" | "Succeeded" | "Failed");
    if is_over || !text(pod, "deletionTimestamp").is_empty() {
        return Ok(());
    }
    let labels = metadata(pod)
        .and_then(|m| m.get("labels"))
        .and_then(Value::as_object);
    let labels: Labels = labels
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
        .collect();
    let mut covering = budgets.iter().filter(|budget| covers(budget, &labels));
    let Some(budget) = covering.next() else {
        return Ok(());
    };
    if covering.next().is_some() {
        let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
        return Err(Status::internal_error(message));
    }
    let at = |name: &str| {
        budget
            .pointer(&format!("/status/{name}"))
            .and_then(Value::as_i64)
            .unwrap_or(0)
    };
    let (desired, healthy) = (at("desiredHealthy"), at("currentHealthy"));
    if !is_ready(pod) && (may_always_go(budget) || (healthy >= desired && desired > 0)) {
        return Ok(());
    }
    let name = text(budget, "name");
    if at("observedGeneration") < number(budget, "generation").unwrap_or(0) {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(refusal(why, RETRY_AFTER_SECONDS));
    }
    if at("disruptionsAllowed") > 0 {
        return Ok(());
    }
    Err(refusal(
        format!(
            "The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
        ),
        0,
    ))
}

/// A pod that is not ready is none of the healthy ones that a budget counts.
fn is_ready(pod: &Value) -> bool {
    let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| {
        condition.get("type").and_then(Value::as_str) == Some("Ready")
            && condition.get("status").and_then(Value::as_str) == Some("True")
    })
}

/// Does the budget let pods go that are not ready, whatever its numbers are?
fn may_always_go(budget: &Value) -> bool {
    let policy = budget.pointer("/spec/unhealthyPodEvictionPolicy");
    policy.and_then(Value::as_str) == Some("AlwaysAllow")
}

/// A budget without a selector covers nothing, one with an empty selector everything.
fn covers(budget: &Value, labels: &Labels) -> bool {
    let Some(selector) = budget.pointer("/spec/selector") else {
        return false;
    };
    LabelSelector::parse(&selector_text(selector)).is_ok_and(|selector| selector.matches(labels))
}

fn refusal(why: String, retry_after_seconds: u32) -> Status {
    let message = "Cannot evict pod as it would violate the pod's disruption budget.";
    let cause = StatusCause {
        reason: "DisruptionBudget".to_owned(),
        message: why,
        field: String::new(),
    };
    Status::too_many_requests(message, retry_after_seconds).with_cause(cause)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_is_evicted_only_within_its_budget() {
        let pod = |ready: &str| {
            json!({"metadata": {"name": "y", "labels": {"app": "y"}},
                   "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}})
        };
        let budget = |app: &str, observed: i64, allowed: i64| {
            json!({"metadata": {"name": "b", "generation": 1}, "spec": {"selector": {"matchLabels": {"app": app}}},
                   "status": {"observedGeneration": observed, "disruptionsAllowed": allowed, "desiredHealthy": 1, "currentHealthy": 1}})
        };
        let why = |budgets: &[Value]| {
            let refused = check_disruption(&pod("True"), budgets)
                .map_err(|s| s.details.unwrap().causes[0].message.clone());
            refused.err().unwrap_or_default()
        };
        assert_eq!(why(&[]), "");
        assert_eq!(why(&[budget("other", 0, 0)]), "");
        assert_eq!(why(&[budget("y", 1, 1)]), "");
        assert_eq!(
            why(&[budget("y", 0, 1)]),
            "The disruption budget b is still being processed by the server."
        );
        assert_eq!(
            why(&[budget("y", 1, 0)]),
            "The disruption budget b needs 1 healthy pods and has 1 currently"
        );
        assert!(
            why(&[budget("y", 1, 1), budget("y", 1, 1)]).starts_with("This pod has more than one")
        );
        let unready = |budget| check_disruption(&pod("False"), &[budget]).is_ok();
        assert!(unready(budget("y", 0, 0)), "enough others are healthy");
        let mut few = budget("y", 1, 0);
        few["status"]["currentHealthy"] = 0.into();
        assert!(!unready(few.clone()));
        few["spec"]["unhealthyPodEvictionPolicy"] = "AlwaysAllow".into();
        assert!(unready(few));
    }
}
