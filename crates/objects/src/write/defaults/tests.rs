use serde_json::json;

use super::*;
use crate::catalog::Catalog;

fn check(group: &str, plural: &str, mut object: Value, pointer: &str, expected: &Value) {
    let version = if plural == "horizontalpodautoscalers" {
        "v2"
    } else {
        "v1"
    };
    let resource = Catalog::builtin().resource(group, version, plural).unwrap();
    object["kind"] = resource.kind.as_ref().into();
    object["apiVersion"] = resource.api_version.as_ref().into();
    apply(resource, &mut object);
    assert_eq!(
        object.pointer(pointer),
        Some(expected),
        "{plural} {pointer}"
    );
    let once = object.clone();
    apply(resource, &mut object);
    assert_eq!(object, once, "{plural} twice");
}

#[test]
fn a_pod_is_filled_in() {
    let pod = json!({"spec": {"containers": [{"name": "c", "image": "nginx"}]}});
    let toleration = |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    check(
        "",
        "pods",
        pod.clone(),
        "/status",
        &json!({"phase": "Pending", "qosClass": "BestEffort"}),
    );
    check(
        "",
        "pods",
        pod,
        "/spec",
        &json!({
            "containers": [{"name": "c", "image": "nginx", "resources": {}, "terminationMessagePath": "/dev/termination-log",
                            "terminationMessagePolicy": "File", "imagePullPolicy": "Always"}],
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst", "securityContext": {},
            "schedulerName": "default-scheduler", "enableServiceLinks": true, "priority": 0, "preemptionPolicy": "PreemptLowerPriority",
            "tolerations": [toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")],
        }),
    );
}

#[test]
fn containers_are_filled_in_by_what_they_say() {
    let container = json!({"name": "c", "image": "nginx:1", "ports": [{"containerPort": 80}],
        "resources": {"limits": {"cpu": "500m"}}, "livenessProbe": {"httpGet": {"port": 80}},
        "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, {"name": "E"}]});
    let pod = json!({"spec": {"hostNetwork": true, "serviceAccountName": "sa", "containers": [container], "volumes": [{"name": "a"}, {"name": "b", "secret": {"secretName": "m"}}]}});
    for (pointer, expected) in [
        ("/spec/containers/0/imagePullPolicy", json!("IfNotPresent")),
        (
            "/spec/containers/0/ports",
            json!([{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]),
        ),
        (
            "/spec/containers/0/resources/requests",
            json!({"cpu": "500m"}),
        ),
        (
            "/spec/containers/0/livenessProbe",
            json!({"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}, "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}),
        ),
        (
            "/spec/containers/0/env",
            json!([{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name", "apiVersion": "v1"}}}, {"name": "E"}]),
        ),
        (
            "/spec/volumes",
            json!([{"name": "a", "emptyDir": {}}, {"name": "b", "secret": {"secretName": "m", "defaultMode": 420}}]),
        ),
        ("/spec/serviceAccount", json!("sa")),
        ("/status/qosClass", json!("Burstable")),
    ] {
        check("", "pods", pod.clone(), pointer, &expected);
    }
}

#[test]
fn other_kinds_are_filled_in() {
    for (group, plural, object, pointer, expected) in [
        (
            "apps",
            "deployments",
            json!({}),
            "/spec/strategy",
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}),
        ),
        (
            "apps",
            "deployments",
            json!({"spec": {"strategy": {"type": "Recreate"}}}),
            "/spec/strategy",
            json!({"type": "Recreate"}),
        ),
        (
            "apps",
            "statefulsets",
            json!({"spec": {"volumeClaimTemplates": [{}]}}),
            "/spec/volumeClaimTemplates/0/status",
            json!({"phase": "Pending"}),
        ),
        (
            "apps",
            "daemonsets",
            json!({}),
            "/spec/updateStrategy/rollingUpdate",
            json!({"maxUnavailable": 1, "maxSurge": 0}),
        ),
        (
            "batch",
            "jobs",
            json!({"spec": {}}),
            "/spec/completions",
            json!(1),
        ),
        (
            "batch",
            "cronjobs",
            json!({}),
            "/spec/jobTemplate/spec/template/metadata",
            json!({}),
        ),
        (
            "",
            "services",
            json!({"spec": {"ports": [{"port": 80}]}}),
            "/spec/ports",
            json!([{"port": 80, "protocol": "TCP", "targetPort": 80}]),
        ),
        (
            "",
            "services",
            json!({"spec": {"clusterIP": "None"}}),
            "/spec/ipFamilyPolicy",
            json!("RequireDualStack"),
        ),
        (
            "",
            "services",
            json!({}),
            "/status",
            json!({"loadBalancer": {}}),
        ),
        ("", "events", json!({}), "/firstTimestamp", json!(null)),
        (
            "networking.k8s.io",
            "networkpolicies",
            json!({"spec": {"egress": [{}]}}),
            "/spec/policyTypes",
            json!(["Ingress", "Egress"]),
        ),
        (
            "rbac.authorization.k8s.io",
            "roles",
            json!({}),
            "/rules",
            json!(null),
        ),
        (
            "rbac.authorization.k8s.io",
            "rolebindings",
            json!({"subjects": [{"kind": "User"}, {"kind": "ServiceAccount"}]}),
            "/subjects",
            json!([{"kind": "User", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "ServiceAccount"}]),
        ),
        (
            "",
            "nodes",
            json!({"status": {"conditions": [{"type": "Ready"}]}}),
            "/status/conditions/0",
            json!({"type": "Ready", "lastHeartbeatTime": null, "lastTransitionTime": null}),
        ),
    ] {
        check(group, plural, object, pointer, &expected);
    }
}
