//! Good requests, from which the bad ones are made.

use serde_json::{Value, json};

use super::message::Message;
use super::support::Dice;

/// Namespaces in which the objects are, so that the end of one leaves others.
pub(crate) const NAMESPACES: [&str; 4] = ["fuzz-0", "fuzz-1", "fuzz-2", "fuzz-3"];

/// What is read. `{}` is a namespace.
const READS: [&str; 32] = [
    "/api/v1/namespaces/{}/configmaps",
    "/api/v1/namespaces/{}/configmaps/cm",
    "/api/v1/configmaps?limit=2",
    "/api/v1/namespaces/{}/configmaps?labelSelector=app%3Dx,tier+in+(a,b),!c&fieldSelector=metadata.name%3Dcm",
    "/api/v1/namespaces/{}/configmaps?resourceVersion=1&resourceVersionMatch=NotOlderThan",
    "/api/v1/namespaces/{}/configmaps?resourceVersion=9&resourceVersionMatch=Exact&limit=3",
    "/api/v1/namespaces/{}/configmaps?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6OCwic3RhcnQiOiJjbVx1MDAwMCJ9",
    "/api/v1/namespaces/{}/configmaps/cm?resourceVersion=0",
    "/api/v1/namespaces/{}/secrets?fieldSelector=type%3DOpaque",
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dn,status.phase!%3DRunning",
    "/api/v1/namespaces/{}/pods/pod/status",
    "/api/v1/namespaces/{}/pods/pod/log?container=c&tailLines=3",
    "/api/v1/namespaces/{}/services/svc:80/proxy/a/b",
    "/apis/apps/v1/namespaces/{}/deployments/dep/scale",
    "/apis/apps/v1/deployments?limit=500&pretty=true",
    "/apis/events.k8s.io/v1/namespaces/{}/events",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles?limit=3",
    "/api/v1/namespaces/default",
    "/api/v1/namespaces/kube-system/status",
    "/api/v1/nodes",
    "/",
    "/api",
    "/apis",
    "/api/v1",
    "/apis/apps",
    "/apis/apps/v1",
    "/version?timeout=32s",
    "/healthz?verbose",
    "/readyz/etcd?exclude=etcd",
    "/openapi/v3",
    "/api/v1/namespaces/{}/pods/pod/exec?command=ls&stdout=true",
    "/apis/nothing.example.com/v1/things",
];

/// What is watched.
const WATCHES: [&str; 6] = [
    "/api/v1/namespaces/{}/configmaps?watch=true&resourceVersion=0&timeoutSeconds=1",
    "/api/v1/configmaps?watch=1&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=1",
    "/api/v1/namespaces/{}/configmaps?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1",
    "/api/v1/watch/namespaces/{}/configmaps/cm?timeoutSeconds=1",
    "/apis/apps/v1/watch/deployments?resourceVersion=0&timeoutSeconds=1",
    "/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3Dn&labelSelector=a&timeoutSeconds=1",
];

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const OPERATIONS: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// Objects that are there as long as nobody deletes them: collection and object.
pub(crate) fn objects() -> Vec<(&'static str, Value)> {
    let labels = json!({"app": "x"});
    let template = json!({
        "metadata": {"labels": labels},
        "spec": {"containers": [
            {"name": "c", "image": "i", "ports": [{"containerPort": 80, "protocol": "TCP"}],
             "env": [{"name": "A", "value": "b"}],
             "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}}},
            {"name": "d", "image": "j"},
        ]},
    });
    vec![
        (
            "/api/v1/namespaces/{}/configmaps",
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "cm", "labels": labels, "annotations": {"n": "1"},
                             "finalizers": [], "ownerReferences": []},
                "data": {"a": "1", "b": "2"}, "binaryData": {"c": "AAEC"}, "immutable": false,
            }),
        ),
        (
            "/api/v1/namespaces/{}/secrets",
            json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "sec"},
                "type": "Opaque", "data": {"p": "cGFzcw=="}, "stringData": {"q": "r"},
            }),
        ),
        (
            "/api/v1/namespaces/{}/pods",
            json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod", "labels": labels},
                "spec": template["spec"],
            }),
        ),
        (
            "/apis/apps/v1/namespaces/{}/deployments",
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "dep", "labels": labels},
                "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
            }),
        ),
        (
            "/api/v1/namespaces/{}/services",
            json!({
                "apiVersion": "v1", "kind": "Service", "metadata": {"name": "svc"},
                "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": "http"}]},
            }),
        ),
        (
            "/apis/coordination.k8s.io/v1/namespaces/{}/leases",
            json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "lease"},
                "spec": {"holderIdentity": "me", "leaseDurationSeconds": 15,
                         "renewTime": "2026-01-01T00:00:00.000000Z"},
            }),
        ),
    ]
}

/// A request that writes: method, target, kind of body, body.
type WriteSeed = (&'static str, String, &'static str, Value);

/// Requests that write.
fn writes(namespace: &str) -> Vec<WriteSeed> {
    let of = |path: &str| path.replace("{}", namespace);
    let mut writes = Vec::new();
    for (path, object) in objects() {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let item = format!("{}/{name}", of(path));
        let mut made = object.clone();
        made["metadata"] = json!({"generateName": "made-", "labels": {"app": "y"}});
        writes.push(("POST", of(path), JSON, made));
        writes.push(("POST", of(path), JSON, object.clone()));
        writes.push(("PUT", item.clone(), JSON, object.clone()));
        writes.push(("PATCH", item.clone(), MERGE, object.clone()));
        writes.push(("PATCH", item.clone(), STRATEGIC, object.clone()));
        writes.push((
            "PATCH",
            format!("{item}?fieldManager=f&force=true"),
            APPLY,
            object,
        ));
        let options = json!({"propagationPolicy": "Background", "gracePeriodSeconds": 0,
                             "preconditions": {"resourceVersion": "7"}});
        writes.push(("DELETE", item, JSON, options));
    }
    writes.extend(special_writes(namespace));
    writes.extend(side_writes(namespace));
    writes
}

/// Writes that are not the same for all kinds.
fn special_writes(namespace: &str) -> Vec<WriteSeed> {
    let of = |path: &str| path.replace("{}", namespace);
    let cm = of("/api/v1/namespaces/{}/configmaps/cm");
    let dep = of("/apis/apps/v1/namespaces/{}/deployments/dep");
    vec![
        (
            "DELETE",
            of("/api/v1/namespaces/{}/secrets?labelSelector=app%3Dy"),
            JSON,
            json!({}),
        ),
        (
            "PATCH",
            cm,
            OPERATIONS,
            json!([
                {"op": "test", "path": "/data/a", "value": "1"},
                {"op": "add", "path": "/data/z", "value": "9"},
                {"op": "copy", "from": "/data/a", "path": "/data/y"},
                {"op": "move", "from": "/data/b", "path": "/data/x"},
                {"op": "remove", "path": "/data/x"},
                {"op": "replace", "path": "/metadata/labels/app", "value": "x"},
            ]),
        ),
        (
            "PATCH",
            dep.clone(),
            OPERATIONS,
            json!([
                {"op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "e"}},
                {"op": "remove", "path": "/spec/template/spec/containers/0"},
            ]),
        ),
        (
            "PATCH",
            dep.clone(),
            STRATEGIC,
            json!({"spec": {"template": {"spec": {
                "$setElementOrder/containers": [{"name": "d"}, {"name": "c"}],
                "containers": [{"name": "c", "$patch": "delete"},
                               {"name": "d", "image": "k", "$retainKeys": ["name", "image"]}],
            }}}}),
        ),
    ]
}

/// Writes through subresources, and of objects that are not kept.
fn side_writes(namespace: &str) -> Vec<WriteSeed> {
    let of = |path: &str| path.replace("{}", namespace);
    let dep = of("/apis/apps/v1/namespaces/{}/deployments/dep");
    let pod = of("/api/v1/namespaces/{}/pods/pod");
    let meta = json!({"name": "dep", "namespace": namespace});
    vec![
        (
            "PUT",
            format!("{dep}/scale"),
            JSON,
            json!({
                "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": meta,
                "spec": {"replicas": 3},
            }),
        ),
        (
            "PATCH",
            format!("{dep}/status"),
            MERGE,
            json!({"status": {"replicas": 1}}),
        ),
        (
            "POST",
            format!("{pod}/binding"),
            JSON,
            json!({
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "pod"},
                "target": {"kind": "Node", "name": "n"},
            }),
        ),
        (
            "POST",
            format!("{pod}/eviction"),
            JSON,
            json!({
                "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "pod"},
            }),
        ),
        (
            "POST",
            "/api/v1/namespaces".into(),
            JSON,
            json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "made-"},
            }),
        ),
        (
            "POST",
            of("/api/v1/namespaces/{}/events"),
            JSON,
            json!({
                "apiVersion": "v1", "kind": "Event", "metadata": {"generateName": "e-"},
                "involvedObject": {"kind": "Pod", "name": "pod", "namespace": namespace},
                "reason": "R", "message": "m", "type": "Normal", "count": 1,
            }),
        ),
        (
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".into(),
            JSON,
            json!({
                "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
            }),
        ),
    ]
}

/// All good requests that write.
pub(crate) fn all_writes() -> Vec<Message> {
    let of = |namespace: &&str| {
        writes(namespace)
            .into_iter()
            .map(|(method, target, kind, body)| {
                let mut message = Message::new(method, &target).with("content-type", kind);
                message.body = body.to_string().into();
                message
            })
    };
    NAMESPACES.iter().flat_map(of).collect()
}

/// A good request.
pub(crate) fn pick(dice: &mut Dice, writes: &[Message]) -> Message {
    match dice.below(20) {
        0 => {
            let path = dice.pick(&WATCHES);
            Message::new("GET", &path.replace("{}", dice.pick(&NAMESPACES)))
        }
        1..8 => {
            let path = dice.pick(&READS);
            Message::new("GET", &path.replace("{}", dice.pick(&NAMESPACES)))
        }
        _ => writes[dice.below(writes.len())].clone(),
    }
}
