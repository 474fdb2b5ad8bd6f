use serde_json::json;

use super::*;
use crate::catalog::{BookmarkKind, Catalog, bookmark_json};

fn now() -> Timestamp {
    "2001-01-03T00:00:00Z".parse().unwrap()
}

fn of(group: &str, plural: &str) -> &'static Table {
    Table::of(Catalog::builtin().resource(group, "v1", plural).unwrap())
}

/// The cells of `object`, which is called x and a day old.
fn check(group: &str, plural: &str, mut object: Value, expected: &Value) {
    object["metadata"]["name"] = "x".into();
    object["metadata"]["creationTimestamp"] = "2001-01-02T00:00:00Z".into();
    let cells = of(group, plural).cells(&View::new(&object, now()));
    assert_eq!(&Value::from(cells), expected, "{plural}");
}

#[test]
fn every_expression_in_the_data_is_known() {
    let data: Value = serde_json::from_str(include_str!("../../data/columns.json")).unwrap();
    let tables = data["tables"].as_object().unwrap();
    assert_eq!(columns::read().unwrap().len(), tables.len() + 1);
    for (plural, lines) in tables {
        for line in lines.as_array().unwrap() {
            let expression = line[5].as_str().unwrap();
            assert!(
                cell::Cell::parse(expression).is_some(),
                "{plural}: {expression}"
            );
        }
        if !plural.is_empty() {
            assert!(
                Catalog::builtin()
                    .iter()
                    .any(|r| r.plural.as_ref() == plural),
                "{plural}"
            );
        }
    }
}

#[test]
fn workloads_show_what_kubectl_prints() {
    let template = json!({"spec": {"containers": [{"name": "c", "image": "nginx"}]}});
    let selector = json!({"matchLabels": {"app": "a"}});
    check(
        "apps",
        "deployments",
        json!({"spec": {"replicas": 3, "selector": selector, "template": template},
        "status": {"readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 1}}),
        &json!(["x", "2/3", 3, 1, "24h", "c", "nginx", "app=a"]),
    );
    check(
        "apps",
        "daemonsets",
        json!({"spec": {"selector": selector, "template": template}, "status": {"desiredNumberScheduled": 3,
        "currentNumberScheduled": 2, "numberReady": 1, "updatedNumberScheduled": 1, "numberAvailable": 1}}),
        &json!(["x", 3, 2, 1, 1, 1, "<none>", "24h", "c", "nginx", "app=a"]),
    );
    check(
        "apps",
        "statefulsets",
        json!({"spec": {"replicas": 3, "template": template}, "status": {"readyReplicas": 2}}),
        &json!(["x", "2/3", "24h", "c", "nginx"]),
    );
    check(
        "batch",
        "jobs",
        json!({"spec": {"completions": 3, "template": template}, "status": {"succeeded": 1}}),
        &json!(["x", "Running", "1/3", "", "24h", "c", "nginx", "<none>"]),
    );
    check(
        "batch",
        "cronjobs",
        json!({"spec": {"schedule": "*/5 * * * *", "timeZone": "Etc/UTC", "suspend": false,
        "jobTemplate": {"spec": {"template": template}}}, "status": {"lastScheduleTime": "2001-01-01T00:00:00Z"}}),
        &json!([
            "x",
            "*/5 * * * *",
            "Etc/UTC",
            "False",
            0,
            "2d",
            "24h",
            "c",
            "nginx",
            "<none>"
        ]),
    );
}

#[test]
fn other_kinds_show_what_kubectl_prints() {
    check(
        "",
        "configmaps",
        json!({"data": {"a": "", "b": ""}, "binaryData": {"c": ""}}),
        &json!(["x", 3, "24h"]),
    );
    check(
        "",
        "services",
        json!({"spec": {"type": "ClusterIP", "clusterIPs": ["10.0.0.9"], "selector": {"app": "a"},
        "ports": [{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]}}),
        &json!([
            "x",
            "ClusterIP",
            "10.0.0.9",
            "<none>",
            "80/TCP,53/UDP",
            "24h",
            "app=a"
        ]),
    );
    let addresses: Vec<Value> = (1..6)
        .map(|n| json!({"ip": format!("10.1.2.{n}")}))
        .collect();
    check(
        "",
        "endpoints",
        json!({"subsets": [{"addresses": addresses, "ports": [{"port": 80}]}]}),
        &json!([
            "x",
            "10.1.2.1:80,10.1.2.2:80,10.1.2.3:80 + 2 more...",
            "24h"
        ]),
    );
    check(
        "",
        "events",
        json!({"involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.containers{c}"}, "reason": "Because",
        "message": "a message\n", "type": "Warning", "count": 4, "source": {"component": "kubelet", "host": "h"},
        "firstTimestamp": "2001-01-01T00:00:00Z", "lastTimestamp": "2001-01-02T00:00:00Z"}),
        &json!([
            "24h",
            "Warning",
            "Because",
            "pod/p",
            "spec.containers{c}",
            "kubelet, h",
            "a message",
            "2d",
            4,
            "x"
        ]),
    );
}

#[test]
fn networking_storage_and_access_kinds_show_what_kubectl_prints() {
    check(
        "networking.k8s.io",
        "ingresses",
        json!({"spec": {"ingressClassName": "nginx", "tls": [{}],
        "rules": [{"host": "a.example.com"}, {"host": "b.example.com"}]}, "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}}),
        &json!([
            "x",
            "nginx",
            "a.example.com,b.example.com",
            "192.0.2.7",
            "80, 443",
            "24h"
        ]),
    );
    check(
        "",
        "persistentvolumeclaims",
        json!({"spec": {"storageClassName": "fast", "volumeName": "v", "volumeMode": "Filesystem"},
        "status": {"phase": "Bound", "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"]}}),
        &json!([
            "x",
            "Bound",
            "v",
            "2Gi",
            "RWO",
            "fast",
            "<unset>",
            "24h",
            "Filesystem"
        ]),
    );
    check(
        "rbac.authorization.k8s.io",
        "rolebindings",
        json!({"roleRef": {"kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]}),
        &json!(["x", "ClusterRole/view", "24h", "u", "", "n/s"]),
    );
    check(
        "rbac.authorization.k8s.io",
        "roles",
        json!({}),
        &json!(["x", "2001-01-02T00:00:00Z"]),
    );
    check(
        "",
        "nodes",
        json!({"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}, "spec": {"unschedulable": true},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1"}, "addresses": [{"type": "InternalIP", "address": "1"}]}}),
        &json!([
            "x",
            "Ready,SchedulingDisabled",
            "control-plane",
            "24h",
            "v1",
            "1",
            "<none>",
            "<unknown>",
            "<unknown>",
            "<unknown>"
        ]),
    );
    check(
        "autoscaling",
        "horizontalpodautoscalers",
        json!({"spec": {"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "d"},
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}}]}}),
        &json!([
            "x",
            "Deployment/d",
            "cpu: <unknown>/80%",
            "<unset>",
            3,
            0,
            "24h"
        ]),
    );
}

#[test]
fn a_pods_word_says_the_most_telling_thing() {
    let status = |state: Value, ready: bool| json!({"name": "c", "ready": ready, "restartCount": 0, "state": state});
    let rows = [
        (json!({"phase": "Pending"}), "0/1", "Pending"),
        (
            json!({"phase": "Pending", "containerStatuses": [status(json!({"waiting": {"reason": "ImagePullBackOff"}}), false)]}),
            "0/1",
            "ImagePullBackOff",
        ),
        (
            json!({"phase": "Running", "containerStatuses": [status(json!({"terminated": {"exitCode": 3}}), false)]}),
            "0/1",
            "ExitCode:3",
        ),
        (
            json!({"phase": "Succeeded", "containerStatuses": [status(json!({"terminated": {"exitCode": 0, "reason": "Completed"}}), false)]}),
            "0/1",
            "Completed",
        ),
        (
            json!({"phase": "Failed", "reason": "Evicted"}),
            "0/1",
            "Evicted",
        ),
        (
            json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}),
            "0/1",
            "SchedulingGated",
        ),
        (
            json!({"phase": "Running", "containerStatuses": [status(json!({"running": {}}), true)]}),
            "1/1",
            "Running",
        ),
    ];
    for (status, ready, word) in rows {
        let pod = json!({"spec": {"containers": [{"name": "c"}]}, "status": status});
        check(
            "",
            "pods",
            pod,
            &json!([
                "x", ready, word, "0", "24h", "<none>", "<none>", "<none>", "<none>"
            ]),
        );
    }
}

#[test]
fn a_pod_that_initializes_restarts_or_ends_says_so() {
    let done = json!({"name": "i", "state": {"terminated": {"exitCode": 0}}});
    let waits = json!({"name": "j", "state": {"waiting": {"reason": "PodInitializing"}}});
    let pod = json!({"spec": {"containers": [{"name": "c"}], "initContainers": [{"name": "i"}, {"name": "j"}]},
        "status": {"phase": "Pending", "initContainerStatuses": [done, waits]}});
    check(
        "",
        "pods",
        pod,
        &json!([
            "x", "0/1", "Init:1/2", "0", "24h", "<none>", "<none>", "<none>", "<none>"
        ]),
    );
    let mut pod = json!({"spec": {"nodeName": "n", "containers": [{"name": "c"}], "readinessGates": [{"conditionType": "g"}]},
        "status": {"phase": "Running", "podIPs": [{"ip": "10.0.9.9"}], "containerStatuses": [{"name": "c", "ready": true, "restartCount": 1,
            "state": {"running": {}}, "lastState": {"terminated": {"exitCode": 1, "finishedAt": "2001-01-02T23:00:00Z"}}}]}});
    check(
        "",
        "pods",
        pod.clone(),
        &json!([
            "x",
            "1/1",
            "Running",
            "1 (60m ago)",
            "24h",
            "10.0.9.9",
            "n",
            "<none>",
            "0/1"
        ]),
    );
    pod["metadata"] = json!({"deletionTimestamp": "2001-01-02T23:00:00Z"});
    check(
        "",
        "pods",
        pod,
        &json!([
            "x",
            "1/1",
            "Terminating",
            "1 (60m ago)",
            "24h",
            "10.0.9.9",
            "n",
            "<none>",
            "0/1"
        ]),
    );
}

#[test]
fn a_table_of_one_carries_what_was_asked_for() {
    let json = br#"{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"7"},"status":{"phase":"Active"}}"#;
    let one = |include, columns| {
        let format = TableFormat {
            version: PartialVersion::V1,
            include,
        };
        of("", "namespaces")
            .one(json, json, format, columns, now())
            .unwrap()
    };
    let head = r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":null,"rows":[{"cells":["a","Active","\u003cunknown\u003e"],"object":"#;
    assert_eq!(
        one(IncludeObject::None, ColumnDefinitions::Omitted),
        format!("{head}null}}]}}")
    );
    let metadata = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","resourceVersion":"7"}}"#;
    assert_eq!(
        one(IncludeObject::Metadata, ColumnDefinitions::Omitted),
        format!("{head}{metadata}}}]}}")
    );
    let shown: Value =
        serde_json::from_slice(&one(IncludeObject::Object, ColumnDefinitions::Shown)).unwrap();
    assert_eq!(shown["columnDefinitions"][0]["format"], "name");
    assert_eq!(shown["rows"][0]["object"]["status"]["phase"], "Active");
    assert!(
        IncludeObject::parse("Bogus")
            .unwrap_err()
            .to_string()
            .ends_with("\"Bogus\": must be 'Metadata', 'Object', 'None', or empty")
    );
}

#[test]
fn a_bookmarks_row_is_empty_and_keeps_the_annotation_that_ends_the_initial_events() {
    let at = masthead_api::Revision::new(7).unwrap();
    let format = TableFormat {
        include: IncludeObject::None,
        ..TableFormat::default()
    };
    for resource in Catalog::builtin().storages() {
        let table = Table::of(resource);
        let read = |kind| -> Value {
            let json = bookmark_json(resource, at, kind);
            let one = table
                .one(&json, &json, format, ColumnDefinitions::Shown, now())
                .unwrap();
            serde_json::from_slice(&one).unwrap()
        };
        let progress = read(BookmarkKind::Progress);
        assert_eq!(progress["rows"][0]["object"], Value::Null);
        assert_eq!(
            progress["rows"][0]["cells"].as_array().unwrap().len(),
            table.width()
        );
        let end = read(BookmarkKind::InitialEventsEnd);
        assert_eq!(
            end["rows"][0]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
            "true"
        );
    }
    let json = bookmark_json(
        Catalog::builtin().resource("", "v1", "configmaps").unwrap(),
        at,
        BookmarkKind::Progress,
    );
    let object: Value = serde_json::from_slice(&json).unwrap();
    let cells = of("", "configmaps").cells(&View::new(&object, now()));
    assert_eq!(Value::from(cells), json!(["", 0, "<unknown>"]));
}
