//! Cells that take more than a path: one small function each, found by its name.

use serde_json::Value;

use super::view::{View, get, int, list, or, plain, some_of, text};
use super::{age, pod, selector, service, workload};

/// Makes a cell of an object and the expression's argument.
pub(super) type Special = fn(&View<'_>, &str) -> Value;

const FUNCTIONS: [(&str, Special); 43] = [
    ("pod-ready", pod::ready),
    ("pod-status", pod::status),
    ("pod-restarts", pod::restarts),
    ("pod-ip", pod::ip),
    ("pod-gates", pod::gates),
    ("service-ip", service::cluster_ip),
    ("service-external-ip", service::external_ip),
    ("service-ports", service::ports),
    ("balancer", service::balancer),
    ("endpoints", service::endpoints),
    ("slice-ports", service::slice_ports),
    ("slice-endpoints", service::slice_endpoints),
    ("ingress-hosts", service::ingress_hosts),
    ("ingress-ports", service::ingress_ports),
    ("event-last", workload::event_last),
    ("event-first", workload::event_first),
    ("event-count", workload::event_count),
    ("event-object", workload::event_object),
    ("event-source", workload::event_source),
    ("event-message", workload::event_message),
    ("job-status", workload::job_status),
    ("job-completions", workload::job_completions),
    ("job-duration", workload::job_duration),
    ("scale-target", workload::scale_target),
    ("scale-metrics", workload::scale_metrics),
    ("node-status", node_status),
    ("node-roles", node_roles),
    ("node-address", node_address),
    ("phase", phase),
    ("volume-claim", volume_claim),
    ("claim-capacity", claim_capacity),
    ("claim-modes", claim_modes),
    ("quota-requests", quota_requests),
    ("quota-limits", quota_limits),
    ("controller", controller),
    ("class-name", class_name),
    ("class-parameters", class_parameters),
    ("subjects", subjects),
    ("role", role),
    ("signing-duration", signing_duration),
    ("signing-condition", signing_condition),
    ("param-kind", param_kind),
    ("param-ref", param_ref),
];
const MORE: [(&str, Special); 3] = [
    ("service-of", service_of),
    ("service-available", service_available),
    ("missing-level", missing_level),
];

/// The function with this name.
pub(super) fn named(name: &str) -> Option<Special> {
    FUNCTIONS
        .iter()
        .chain(&MORE)
        .find(|(n, _)| *n == name)
        .map(|(_, make)| *make)
}

fn node_status(view: &View<'_>, _: &str) -> Value {
    let mut status = match view.condition("Ready") {
        Some(c) if text(c, "status") == "True" => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if super::view::flag(view.object, "spec.unschedulable") {
        status.push_str(",SchedulingDisabled");
    }
    status.into()
}

fn node_roles(view: &View<'_>, _: &str) -> Value {
    let mut roles: Vec<&str> = Vec::new();
    for (key, value) in view.map("metadata.labels").into_iter().flatten() {
        match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) if !role.is_empty() => roles.push(role),
            _ if key == "kubernetes.io/role" => {
                roles.extend(value.as_str().filter(|v| !v.is_empty()));
            }
            _ => {}
        }
    }
    roles.sort_unstable();
    roles.dedup();
    if roles.is_empty() {
        "<none>".into()
    } else {
        roles.join(",").into()
    }
}

fn node_address(view: &View<'_>, kind: &str) -> Value {
    let found = view
        .list("status.addresses")
        .iter()
        .find(|a| text(a, "type") == kind);
    found.map_or("<none>", |a| text(a, "address")).into()
}

fn phase(view: &View<'_>, _: &str) -> Value {
    if view.is_being_deleted() {
        "Terminating".into()
    } else {
        view.text("status.phase").into()
    }
}

fn volume_claim(view: &View<'_>, _: &str) -> Value {
    match view.get("spec.claimRef") {
        Some(claim) => format!("{}/{}", text(claim, "namespace"), text(claim, "name")).into(),
        None => "".into(),
    }
}

fn claim_capacity(view: &View<'_>, _: &str) -> Value {
    let bound = !view.text("spec.volumeName").is_empty();
    let size = view.get("status.capacity.storage").filter(|_| bound);
    size.map(plain).unwrap_or_default().into()
}

fn claim_modes(view: &View<'_>, _: &str) -> Value {
    if view.text("spec.volumeName").is_empty() {
        return "".into();
    }
    access_modes(view.list("status.accessModes")).into()
}

/// Access modes by their short names, in a fixed order.
pub(super) fn access_modes(modes: &[Value]) -> String {
    const SHORT: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let has = |long: &&(&str, &str)| modes.iter().any(|mode| mode.as_str() == Some(long.0));
    SHORT
        .iter()
        .filter(has)
        .map(|(_, short)| *short)
        .collect::<Vec<_>>()
        .join(",")
}

fn quota(view: &View<'_>, limits: bool) -> Value {
    let mut hard: Vec<(&String, &Value)> = view.map("status.hard").into_iter().flatten().collect();
    hard.sort_by_key(|(name, _)| *name);
    let used = view.map("status.used");
    let parts: Vec<String> = hard
        .into_iter()
        .filter(|(name, _)| name.starts_with("limits") == limits)
        .map(|(name, hard)| {
            let used = used
                .and_then(|used| used.get(name))
                .map_or("0".to_owned(), plain);
            format!("{name}: {used}/{}", plain(hard))
        })
        .collect();
    parts.join(", ").into()
}

fn quota_requests(view: &View<'_>, _: &str) -> Value {
    quota(view, false)
}

fn quota_limits(view: &View<'_>, _: &str) -> Value {
    quota(view, true)
}

fn controller(view: &View<'_>, _: &str) -> Value {
    let owners = view.list("metadata.ownerReferences").iter();
    let Some(owner) = owners
        .into_iter()
        .find(|o| super::view::flag(o, "controller"))
    else {
        return "<none>".into();
    };
    let kind = text(owner, "kind").to_lowercase();
    match text(owner, "apiVersion").split_once('/') {
        Some((group, _)) => format!("{kind}.{group}/{}", text(owner, "name")).into(),
        None => format!("{kind}/{}", text(owner, "name")).into(),
    }
}

fn class_name(view: &View<'_>, _: &str) -> Value {
    let annotations = view.map("metadata.annotations");
    let is_default = [
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ]
    .iter()
    .any(|key| {
        annotations
            .and_then(|a| a.get(*key))
            .and_then(Value::as_str)
            == Some("true")
    });
    let name = view.text("metadata.name");
    if is_default {
        format!("{name} (default)").into()
    } else {
        name.into()
    }
}

fn class_parameters(view: &View<'_>, _: &str) -> Value {
    let Some(parameters) = view.get("spec.parameters") else {
        return "<none>".into();
    };
    let (kind, name) = (text(parameters, "kind"), text(parameters, "name"));
    match text(parameters, "apiGroup") {
        "" => format!("{kind}/{name}").into(),
        group => format!("{kind}.{group}/{name}").into(),
    }
}

fn subjects(view: &View<'_>, kind: &str) -> Value {
    let of_kind = view
        .list("subjects")
        .iter()
        .filter(|s| text(s, "kind") == kind);
    let names = of_kind.map(|s| match kind {
        "ServiceAccount" => format!("{}/{}", text(s, "namespace"), text(s, "name")),
        _ => text(s, "name").to_owned(),
    });
    names.collect::<Vec<_>>().join(", ").into()
}

fn role(view: &View<'_>, _: &str) -> Value {
    format!(
        "{}/{}",
        view.text("roleRef.kind"),
        view.text("roleRef.name")
    )
    .into()
}

fn signing_duration(view: &View<'_>, _: &str) -> Value {
    match view.get("spec.expirationSeconds") {
        Some(_) => age::human(view.int("spec.expirationSeconds")).into(),
        None => "<none>".into(),
    }
}

fn signing_condition(view: &View<'_>, _: &str) -> Value {
    let has = |kind| view.condition(kind).is_some();
    let mut status = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    }
    .to_owned();
    if has("Failed") {
        status.push_str(",Failed");
    }
    if !view.text("status.certificate").is_empty() {
        status.push_str(",Issued");
    }
    status.into()
}

fn param_kind(view: &View<'_>, _: &str) -> Value {
    match view.get("spec.paramKind") {
        Some(kind) => format!("{}/{}", text(kind, "apiVersion"), text(kind, "kind")).into(),
        None => "<unset>".into(),
    }
}

fn param_ref(view: &View<'_>, _: &str) -> Value {
    let Some(param) = view.get("spec.paramRef") else {
        return "<unset>".into();
    };
    match (text(param, "namespace"), text(param, "name")) {
        (_, "") => match get(param, "selector") {
            Some(found) => selector::of_selector(Some(found)).into(),
            None => "<unset>".into(),
        },
        ("", name) => name.into(),
        (namespace, name) => format!("{namespace}/{name}").into(),
    }
}

fn service_of(view: &View<'_>, _: &str) -> Value {
    match view.get("spec.service") {
        Some(service) => format!("{}/{}", text(service, "namespace"), text(service, "name")).into(),
        None => "Local".into(),
    }
}

fn service_available(view: &View<'_>, _: &str) -> Value {
    match view.condition("Available") {
        Some(c) if text(c, "status") == "True" => "True".into(),
        Some(c) => format!("{} ({})", text(c, "status"), text(c, "reason")).into(),
        None => "Unknown".into(),
    }
}

fn missing_level(view: &View<'_>, _: &str) -> Value {
    view.condition("Dangling")
        .map_or("?", |c| text(c, "status"))
        .into()
}

/// Ports of a list of `{port}`: at most three, `default` where there is none.
pub(super) fn port_numbers(ports: &[Value], default: &str) -> String {
    let numbers: Vec<String> = ports
        .iter()
        .map(|port| {
            if get(port, "port").is_some() {
                int(port, "port").to_string()
            } else {
                "*".to_owned()
            }
        })
        .collect();
    or(&some_of(&numbers, numbers.len(), 3), default).to_owned()
}

/// The strings of a list at `path`.
pub(super) fn strings(value: &Value, path: &str) -> Vec<String> {
    list(value, path).iter().map(plain).collect()
}
