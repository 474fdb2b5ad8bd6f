//! The cells of a Pod: how many containers are ready, one word for its state, its restarts.

use jiff::Timestamp;
use serde_json::Value;

use super::age;
use super::view::{View, flag, get, int, list, text};

/// What the states of all containers come to.
#[derive(Debug, Default)]
pub(super) struct Summary {
    ready: usize,
    total: usize,
    restarts: i64,
    last_restart: Option<Timestamp>,
    status: String,
}

pub(super) fn ready(view: &View<'_>, _: &str) -> Value {
    let summary = summary(view);
    format!("{}/{}", summary.ready, summary.total).into()
}

pub(super) fn status(view: &View<'_>, _: &str) -> Value {
    summary(view).status.as_str().into()
}

pub(super) fn restarts(view: &View<'_>, _: &str) -> Value {
    let summary = summary(view);
    match summary.last_restart {
        Some(last) if summary.restarts != 0 => {
            let ago = age::human(view.now.duration_since(last).as_secs());
            format!("{} ({ago} ago)", summary.restarts).into()
        }
        _ => summary.restarts.to_string().into(),
    }
}

pub(super) fn ip(view: &View<'_>, _: &str) -> Value {
    let first = view
        .list("status.podIPs")
        .first()
        .map_or_else(|| view.text("status.podIP"), |ip| text(ip, "ip"));
    if first.is_empty() {
        "<none>".into()
    } else {
        first.into()
    }
}

pub(super) fn gates(view: &View<'_>, _: &str) -> Value {
    let gates = view.list("spec.readinessGates");
    if gates.is_empty() {
        return "<none>".into();
    }
    let open = gates
        .iter()
        .filter(|gate| view.is_true(text(gate, "conditionType")))
        .count();
    format!("{open}/{}", gates.len()).into()
}

/// Is the container of this name an init container that is restarted (a sidecar)?
fn is_sidecar(view: &View<'_>, name: &str) -> bool {
    let mut containers = view.list("spec.initContainers").iter();
    containers.any(|c| text(c, "name") == name && text(c, "restartPolicy") == "Always")
}

fn summary<'a>(view: &'a View<'_>) -> &'a Summary {
    view.pod.get_or_init(|| summarise(view))
}

fn summarise(view: &View<'_>) -> Summary {
    let sidecars = view
        .list("spec.initContainers")
        .iter()
        .filter(|c| text(c, "restartPolicy") == "Always");
    let mut summary = Summary {
        total: view.list("spec.containers").len() + sidecars.count(),
        ..Summary::default()
    };
    let reason = [view.text("status.reason"), view.text("status.phase")];
    let reason = reason.into_iter().find(|text| !text.is_empty());
    reason.unwrap_or_default().clone_into(&mut summary.status);
    let gated =
        |c: &&Value| text(c, "type") == "PodScheduled" && text(c, "reason") == "SchedulingGated";
    if view.list("status.conditions").iter().any(|c| gated(&c)) {
        "SchedulingGated".clone_into(&mut summary.status);
    }
    let mut sidecars = Summary::default();
    let initializing = init_containers(view, &mut summary, &mut sidecars);
    if !initializing || view.is_true("Initialized") {
        summary.restarts = sidecars.restarts;
        summary.last_restart = sidecars.last_restart;
        containers(view, &mut summary);
    }
    if view.is_being_deleted() {
        if view.text("status.reason") == "NodeLost" {
            "Unknown".clone_into(&mut summary.status);
        } else if !matches!(view.text("status.phase"), "Succeeded" | "Failed") {
            "Terminating".clone_into(&mut summary.status);
        }
    }
    summary
}

fn add_restarts(summary: &mut Summary, status: &Value) {
    summary.restarts += int(status, "restartCount");
    let finished: Option<Timestamp> = text(status, "lastState.terminated.finishedAt").parse().ok();
    summary.last_restart = summary.last_restart.max(finished);
}

/// Goes through the init containers up to the first that is not done; is there one?
fn init_containers(view: &View<'_>, summary: &mut Summary, sidecars: &mut Summary) -> bool {
    let count = view.list("spec.initContainers").len();
    for (number, status) in view.list("status.initContainerStatuses").iter().enumerate() {
        let sidecar = is_sidecar(view, text(status, "name"));
        add_restarts(summary, status);
        if sidecar {
            add_restarts(sidecars, status);
        }
        let waiting = text(status, "state.waiting.reason");
        let terminated = get(status, "state.terminated");
        match terminated {
            Some(state) if int(state, "exitCode") == 0 => continue,
            _ if sidecar && flag(status, "started") => {
                summary.ready += usize::from(flag(status, "ready"));
                continue;
            }
            Some(state) => summary.status = format!("Init:{}", ending(state)),
            None if !waiting.is_empty() && waiting != "PodInitializing" => {
                summary.status = format!("Init:{waiting}");
            }
            None => summary.status = format!("Init:{number}/{count}"),
        }
        return true;
    }
    false
}

fn ending(state: &Value) -> String {
    match (text(state, "reason"), int(state, "signal")) {
        ("", 0) => format!("ExitCode:{}", int(state, "exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn containers(view: &View<'_>, summary: &mut Summary) {
    let mut running = false;
    for status in list(view.object, "status.containerStatuses").iter().rev() {
        add_restarts(summary, status);
        let waiting = text(status, "state.waiting.reason");
        if !waiting.is_empty() {
            waiting.clone_into(&mut summary.status);
        } else if let Some(state) = get(status, "state.terminated") {
            summary.status = ending(state);
        } else if flag(status, "ready") && get(status, "state.running").is_some() {
            running = true;
            summary.ready += 1;
        }
    }
    if summary.status == "Completed" && running {
        let status = if view.is_true("Ready") {
            "Running"
        } else {
            "NotReady"
        };
        status.clone_into(&mut summary.status);
    }
}
