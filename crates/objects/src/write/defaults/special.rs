//! Defaults that depend on more than their place.

use serde_json::{Map, Value, json};

use crate::write::base64;
use crate::write::defaults::path;
use crate::write::defaults::rules::{CONTAINERS, POD_SPECS};

const RBAC: &str = "rbac.authorization.k8s.io";

/// What comes before the table.
pub(super) fn before(kind: &str, object: &mut Value) {
    match kind {
        "Secret" => secret(object),
        "Job" => job(object),
        "RoleBinding" | "ClusterRoleBinding" => binding(object),
        _ => {}
    }
    if let Some((_, base)) = POD_SPECS.iter().find(|(k, _)| *k == kind) {
        path::each_object(object, base, &mut pod_spec);
    }
}

/// What comes after the table.
pub(super) fn after(kind: &str, object: &mut Value) {
    match kind {
        "Pod" => pod(object),
        "Service" => service(object),
        "LimitRange" => path::each_object(object, "spec?.limits[]", &mut limit),
        "NetworkPolicy" => network_policy(object),
        "Namespace" => conditions(object, &["lastTransitionTime"]),
        "Node" => node(object),
        "HorizontalPodAutoscaler" => autoscaler(object),
        _ => {}
    }
}

/// `stringData` wins over `data` and is never stored.
fn secret(object: &mut Value) {
    let Some(members) = object.as_object_mut() else {
        return;
    };
    let Some(Value::Object(texts)) = members.shift_remove("stringData") else {
        return;
    };
    let data = members
        .entry("data")
        .or_insert_with(|| Value::Object(Map::new()));
    let Some(data) = data.as_object_mut() else {
        return;
    };
    for (key, value) in texts {
        let text = value.as_str().unwrap_or_default();
        data.insert(key, base64::encode(text.as_bytes()).into());
    }
    data.sort_keys();
}

/// A job that says neither how many pods may run nor how many must end runs one.
fn job(object: &mut Value) {
    path::each(object, "spec?.parallelism", &mut |spec, _| {
        if !spec.contains_key("parallelism") && !spec.contains_key("completions") {
            spec.insert("completions".to_owned(), 1.into());
        }
        spec.entry("parallelism").or_insert_with(|| 1.into());
    });
}

fn binding(object: &mut Value) {
    path::each(object, "roleRef?.apiGroup", &mut |role, name| {
        role.entry(name).or_insert_with(|| RBAC.into());
    });
    path::each(object, "subjects[].apiGroup", &mut |subject, name| {
        let kind = subject.get("kind").and_then(Value::as_str);
        if matches!(kind, Some("User" | "Group")) {
            subject.entry(name).or_insert_with(|| RBAC.into());
        }
    });
}

fn pod_spec(spec: &mut Map<String, Value>) {
    for (from, into) in [
        ("serviceAccountName", "serviceAccount"),
        ("serviceAccount", "serviceAccountName"),
    ] {
        if let Some(name) = spec.get(from).cloned() {
            spec.entry(into).or_insert(name);
        }
    }
    let host_network = spec.get("hostNetwork").and_then(Value::as_bool) == Some(true);
    for list in CONTAINERS {
        let containers = spec.get_mut(*list).and_then(Value::as_array_mut);
        for container in containers
            .into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
        {
            image_policy(container);
            requests(container);
            if host_network {
                host_ports(container);
            }
        }
    }
    let volumes = spec.get_mut("volumes").and_then(Value::as_array_mut);
    for volume in volumes
        .into_iter()
        .flatten()
        .filter_map(Value::as_object_mut)
    {
        if volume.keys().all(|name| name == "name") {
            volume.insert("emptyDir".to_owned(), json!({}));
        }
    }
}

/// An image of an unfixed version is pulled always.
fn image_policy(container: &mut Map<String, Value>) {
    let image = container
        .get("image")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let name = image.rsplit('/').next().unwrap_or_default();
    let fixed = name.contains('@')
        || name
            .split_once(':')
            .is_some_and(|(_, tag)| !tag.is_empty() && tag != "latest");
    let policy = if fixed { "IfNotPresent" } else { "Always" };
    container
        .entry("imagePullPolicy")
        .or_insert_with(|| policy.into());
}

/// What is limited but not requested is requested up to its limit.
fn requests(container: &mut Map<String, Value>) {
    let Some(resources) = container
        .get_mut("resources")
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else {
        return;
    };
    let requests = resources
        .entry("requests")
        .or_insert_with(|| Value::Object(Map::new()));
    if let Some(requests) = requests.as_object_mut() {
        for (name, limit) in limits {
            requests.entry(name).or_insert(limit);
        }
    }
}

fn host_ports(container: &mut Map<String, Value>) {
    let ports = container.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        if let Some(number) = port.get("containerPort").cloned() {
            port.entry("hostPort").or_insert(number);
        }
    }
}

fn pod(object: &mut Value) {
    let class = quality(object);
    conditions(object, &["lastProbeTime", "lastTransitionTime"]);
    path::each(object, "status.qosClass", &mut |status, name| {
        status.entry(name).or_insert_with(|| class.into());
        let ip = status.get("podIP").cloned();
        if let Some(ip) = ip.filter(|_| !status.contains_key("podIPs")) {
            status.insert("podIPs".to_owned(), json!([{ "ip": ip }]));
        }
    });
    path::each(object, "spec.tolerations", &mut |spec, name| {
        let list = spec.entry(name).or_insert_with(|| Value::Array(Vec::new()));
        let Some(list) = list.as_array_mut() else {
            return;
        };
        for key in [
            "node.kubernetes.io/not-ready",
            "node.kubernetes.io/unreachable",
        ] {
            let tolerated = list.iter().any(|t| tolerates(t, key));
            if !tolerated {
                list.push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
            }
        }
    });
}

fn tolerates(toleration: &Value, key: &str) -> bool {
    let text = |name: &str| {
        toleration
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    (text("key") == key || text("key").is_empty()) && matches!(text("effect"), "NoExecute" | "")
}

/// The class of a pod by what its containers request of cpu and memory.
fn quality(pod: &Value) -> &'static str {
    let containers = |list: &str| pod.pointer(list).and_then(Value::as_array);
    let all = containers("/spec/containers")
        .into_iter()
        .chain(containers("/spec/initContainers"));
    let (mut asked, mut bound) = (false, true);
    for container in all.flatten() {
        for name in ["cpu", "memory"] {
            let of = |what: &str| container.pointer(&format!("/resources/{what}/{name}"));
            let (limit, request) = (of("limits"), of("requests"));
            asked |= limit.is_some() || request.is_some();
            bound &= limit.is_some() && limit == request;
        }
    }
    match (asked, bound) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// What a node has is for pods, unless it says less.
fn node(object: &mut Value) {
    conditions(object, &["lastHeartbeatTime", "lastTransitionTime"]);
    path::each(object, "status?.allocatable", &mut |status, name| {
        if let Some(capacity) = status.get("capacity").cloned() {
            status.entry(name).or_insert(capacity);
        }
    });
    path::each(object, "spec?.podCIDRs", &mut |spec, name| {
        if let Some(range) = spec.get("podCIDR").cloned() {
            spec.entry(name).or_insert_with(|| json!([range]));
        }
    });
}

/// Conditions print their times even if they have none.
fn conditions(object: &mut Value, times: &[&str]) {
    for time in times {
        path::each(
            object,
            &format!("status?.conditions[].{time}"),
            &mut |condition, name| {
                condition.entry(name).or_insert(Value::Null);
            },
        );
    }
}

fn service(object: &mut Value) {
    path::each(object, "spec?.ports[].targetPort", &mut |port, name| {
        if let Some(number) = port.get("port").cloned() {
            port.entry(name).or_insert(number);
        }
    });
    path::each(object, "spec?.clusterIPs", &mut |spec, name| {
        if spec.get("type").and_then(Value::as_str) == Some("ExternalName") {
            return;
        }
        let ip = spec
            .get("clusterIP")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let headless = ip.as_deref() == Some("None");
        if let Some(ip) = ip {
            spec.entry(name).or_insert_with(|| json!([ip]));
        }
        // Without a selector nobody knows the family, so a headless service has both.
        let both = headless && !spec.contains_key("selector");
        let (families, policy) = if both {
            (json!(["IPv4", "IPv6"]), "RequireDualStack")
        } else {
            (json!(["IPv4"]), "SingleStack")
        };
        spec.entry("ipFamilies").or_insert(families);
        spec.entry("ipFamilyPolicy")
            .or_insert_with(|| policy.into());
    });
}

/// What a container may have at most is its default, and that is what it requests.
fn limit(limit: &mut Map<String, Value>) {
    if limit.get("type").and_then(Value::as_str) != Some("Container") {
        return;
    }
    for (from, into) in [
        ("max", "default"),
        ("default", "defaultRequest"),
        ("min", "defaultRequest"),
    ] {
        let Some(Value::Object(amounts)) = limit.get(from).cloned() else {
            continue;
        };
        let target = limit
            .entry(into)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(target) = target.as_object_mut() {
            for (name, amount) in amounts {
                target.entry(name).or_insert(amount);
            }
        }
    }
}

fn network_policy(object: &mut Value) {
    path::each(object, "spec?.policyTypes", &mut |spec, name| {
        let egress = spec.contains_key("egress");
        spec.entry(name).or_insert_with(|| {
            if egress {
                json!(["Ingress", "Egress"])
            } else {
                json!(["Ingress"])
            }
        });
    });
}

/// The second version of the kind aims at 80 % of the cpu if nothing is said.
fn autoscaler(object: &mut Value) {
    if object.get("apiVersion").and_then(Value::as_str) != Some("autoscaling/v2") {
        return;
    }
    path::each(object, "spec?.metrics", &mut |spec, name| {
        spec.entry(name).or_insert_with(|| {
            json!([{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}])
        });
    });
    path::each_object(object, "spec?.behavior", &mut scaling);
}

/// A behavior that is given at all is given in full, for both directions.
fn scaling(behavior: &mut Map<String, Value>) {
    let all = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
    let four = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
    let up =
        json!({"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [four, all]});
    let down = json!({"selectPolicy": "Max", "policies": [all]});
    for (name, default) in [("scaleUp", up), ("scaleDown", down)] {
        let rules = behavior
            .entry(name)
            .or_insert_with(|| Value::Object(Map::new()));
        if let (Value::Object(rules), Value::Object(default)) = (rules, default) {
            for (name, value) in default {
                rules.entry(name).or_insert(value);
            }
        }
    }
}
