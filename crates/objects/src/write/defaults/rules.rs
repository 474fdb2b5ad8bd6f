//! The table of defaults: kind, place, value as JSON, and where it holds.

use serde_json::Value;

use crate::write::defaults::path;

/// Where a rule holds.
#[derive(Clone, Copy, Debug)]
enum When {
    Always,
    /// The text at this JSON pointer is this one.
    Is(&'static str, &'static str),
}

type Rule = (&'static str, &'static str, When);
use When::{Always, Is};

/// Kinds with a pod spec, and where it is.
pub(super) const POD_SPECS: &[(&str, &str)] = &[
    ("CronJob", "spec.jobTemplate.spec.template.spec"),
    ("DaemonSet", "spec.template.spec"),
    ("Deployment", "spec.template.spec"),
    ("Job", "spec.template.spec"),
    ("Pod", "spec"),
    ("PodTemplate", "template.spec"),
    ("ReplicaSet", "spec.template.spec"),
    ("ReplicationController", "spec.template?.spec"),
    ("StatefulSet", "spec.template.spec"),
];

/// The lists of containers in a pod spec.
pub(super) const CONTAINERS: &[&str] = &["containers", "initContainers", "ephemeralContainers"];

const POD_SPEC: &[(&str, &str)] = &[
    ("restartPolicy", r#""Always""#),
    ("terminationGracePeriodSeconds", "30"),
    ("dnsPolicy", r#""ClusterFirst""#),
    ("securityContext", "{}"),
    ("schedulerName", r#""default-scheduler""#),
    ("volumes[].configMap?.defaultMode", "420"),
    ("volumes[].secret?.defaultMode", "420"),
    ("volumes[].downwardAPI?.defaultMode", "420"),
    ("volumes[].projected?.defaultMode", "420"),
    (
        "volumes[].projected?.sources[].serviceAccountToken?.expirationSeconds",
        "3600",
    ),
    ("volumes[].hostPath?.type", r#""""#),
];

const CONTAINER: &[(&str, &str)] = &[
    ("resources", "{}"),
    ("terminationMessagePath", r#""/dev/termination-log""#),
    ("terminationMessagePolicy", r#""File""#),
    ("ports[].protocol", r#""TCP""#),
    ("env[].valueFrom?.fieldRef?.apiVersion", r#""v1""#),
    ("lifecycle?.postStart?.httpGet?.path", r#""/""#),
    ("lifecycle?.postStart?.httpGet?.scheme", r#""HTTP""#),
    ("lifecycle?.preStop?.httpGet?.path", r#""/""#),
    ("lifecycle?.preStop?.httpGet?.scheme", r#""HTTP""#),
];

const PROBES: &[&str] = &["livenessProbe?", "readinessProbe?", "startupProbe?"];

const PROBE: &[(&str, &str)] = &[
    ("timeoutSeconds", "1"),
    ("periodSeconds", "10"),
    ("successThreshold", "1"),
    ("failureThreshold", "3"),
    ("httpGet?.path", r#""/""#),
    ("httpGet?.scheme", r#""HTTP""#),
    ("grpc?.service", r#""""#),
];

const STRATEGY: When = Is("/spec/strategy/type", "RollingUpdate");
const UPDATE_STRATEGY: When = Is("/spec/updateStrategy/type", "RollingUpdate");

const KINDS: &[(&str, &[Rule])] = &[
    (
        "CronJob",
        &[
            ("spec.concurrencyPolicy", r#""Allow""#, Always),
            ("spec.suspend", "false", Always),
            ("spec.successfulJobsHistoryLimit", "3", Always),
            ("spec.failedJobsHistoryLimit", "1", Always),
        ],
    ),
    (
        "DaemonSet",
        &[
            ("spec.updateStrategy.type", r#""RollingUpdate""#, Always),
            (
                "spec.updateStrategy.rollingUpdate.maxUnavailable",
                "1",
                UPDATE_STRATEGY,
            ),
            (
                "spec.updateStrategy.rollingUpdate.maxSurge",
                "0",
                UPDATE_STRATEGY,
            ),
            ("spec.revisionHistoryLimit", "10", Always),
        ],
    ),
    (
        "Deployment",
        &[
            ("spec.replicas", "1", Always),
            ("spec.strategy.type", r#""RollingUpdate""#, Always),
            (
                "spec.strategy.rollingUpdate.maxUnavailable",
                r#""25%""#,
                STRATEGY,
            ),
            ("spec.strategy.rollingUpdate.maxSurge", r#""25%""#, STRATEGY),
            ("spec.revisionHistoryLimit", "10", Always),
            ("spec.progressDeadlineSeconds", "600", Always),
        ],
    ),
    (
        "EndpointSlice",
        &[
            ("endpoints[].conditions", "{}", Always),
            ("ports[].name", r#""""#, Always),
            ("ports[].protocol", r#""TCP""#, Always),
        ],
    ),
    (
        "Endpoints",
        &[("subsets[].ports[].protocol", r#""TCP""#, Always)],
    ),
    (
        "HorizontalPodAutoscaler",
        &[("spec.minReplicas", "1", Always)],
    ),
    (
        "Job",
        &[
            ("spec.backoffLimit", "6", Always),
            ("spec.completionMode", r#""NonIndexed""#, Always),
            ("spec.suspend", "false", Always),
            ("spec.manualSelector", "false", Always),
            (
                "spec.podReplacementPolicy",
                r#""TerminatingOrFailed""#,
                Always,
            ),
        ],
    ),
    (
        "MutatingWebhookConfiguration",
        &[
            ("webhooks[].failurePolicy", r#""Fail""#, Always),
            ("webhooks[].matchPolicy", r#""Equivalent""#, Always),
            ("webhooks[].namespaceSelector", "{}", Always),
            ("webhooks[].objectSelector", "{}", Always),
            ("webhooks[].reinvocationPolicy", r#""Never""#, Always),
            ("webhooks[].timeoutSeconds", "10", Always),
            ("webhooks[].rules[].scope", r#""*""#, Always),
            ("webhooks[].clientConfig?.service?.port", "443", Always),
        ],
    ),
    ("Namespace", &[("status.phase", r#""Active""#, Always)]),
    (
        "NetworkPolicy",
        &[
            ("spec.ingress[].ports[].protocol", r#""TCP""#, Always),
            ("spec.egress[].ports[].protocol", r#""TCP""#, Always),
        ],
    ),
    (
        "PersistentVolume",
        &[
            ("spec.persistentVolumeReclaimPolicy", r#""Retain""#, Always),
            ("spec.volumeMode", r#""Filesystem""#, Always),
            ("spec.hostPath?.type", r#""""#, Always),
            ("status.phase", r#""Pending""#, Always),
        ],
    ),
    (
        "PersistentVolumeClaim",
        &[
            ("spec.volumeMode", r#""Filesystem""#, Always),
            ("status.phase", r#""Pending""#, Always),
        ],
    ),
    (
        "Pod",
        &[
            ("spec.enableServiceLinks", "true", Always),
            ("spec.priority", "0", Always),
            ("spec.preemptionPolicy", r#""PreemptLowerPriority""#, Always),
            ("status.phase", r#""Pending""#, Always),
        ],
    ),
    (
        "PriorityClass",
        &[("preemptionPolicy", r#""PreemptLowerPriority""#, Always)],
    ),
    ("ReplicaSet", &[("spec.replicas", "1", Always)]),
    ("ReplicationController", &[("spec.replicas", "1", Always)]),
    ("Secret", &[("type", r#""Opaque""#, Always)]),
    (
        "Service",
        &[
            ("spec.ports[].protocol", r#""TCP""#, Always),
            ("spec.type", r#""ClusterIP""#, Always),
            ("spec.sessionAffinity", r#""None""#, Always),
            (
                "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
                "10800",
                Is("/spec/sessionAffinity", "ClientIP"),
            ),
            (
                "spec.internalTrafficPolicy",
                r#""Cluster""#,
                Is("/spec/type", "ClusterIP"),
            ),
            (
                "spec.internalTrafficPolicy",
                r#""Cluster""#,
                Is("/spec/type", "NodePort"),
            ),
            (
                "spec.internalTrafficPolicy",
                r#""Cluster""#,
                Is("/spec/type", "LoadBalancer"),
            ),
            (
                "spec.externalTrafficPolicy",
                r#""Cluster""#,
                Is("/spec/type", "NodePort"),
            ),
            (
                "spec.externalTrafficPolicy",
                r#""Cluster""#,
                Is("/spec/type", "LoadBalancer"),
            ),
            (
                "spec.allocateLoadBalancerNodePorts",
                "true",
                Is("/spec/type", "LoadBalancer"),
            ),
        ],
    ),
    (
        "StatefulSet",
        &[
            ("spec.replicas", "1", Always),
            ("spec.podManagementPolicy", r#""OrderedReady""#, Always),
            ("spec.updateStrategy.type", r#""RollingUpdate""#, Always),
            (
                "spec.updateStrategy.rollingUpdate.partition",
                "0",
                UPDATE_STRATEGY,
            ),
            ("spec.revisionHistoryLimit", "10", Always),
            (
                "spec.persistentVolumeClaimRetentionPolicy.whenDeleted",
                r#""Retain""#,
                Always,
            ),
            (
                "spec.persistentVolumeClaimRetentionPolicy.whenScaled",
                r#""Retain""#,
                Always,
            ),
            (
                "spec.volumeClaimTemplates[].kind",
                r#""PersistentVolumeClaim""#,
                Always,
            ),
            ("spec.volumeClaimTemplates[].apiVersion", r#""v1""#, Always),
            (
                "spec.volumeClaimTemplates[].spec.volumeMode",
                r#""Filesystem""#,
                Always,
            ),
            (
                "spec.volumeClaimTemplates[].status.phase",
                r#""Pending""#,
                Always,
            ),
        ],
    ),
    (
        "StorageClass",
        &[
            ("reclaimPolicy", r#""Delete""#, Always),
            ("volumeBindingMode", r#""Immediate""#, Always),
        ],
    ),
    (
        "ValidatingWebhookConfiguration",
        &[
            ("webhooks[].failurePolicy", r#""Fail""#, Always),
            ("webhooks[].matchPolicy", r#""Equivalent""#, Always),
            ("webhooks[].namespaceSelector", "{}", Always),
            ("webhooks[].objectSelector", "{}", Always),
            ("webhooks[].timeoutSeconds", "10", Always),
            ("webhooks[].rules[].scope", r#""*""#, Always),
            ("webhooks[].clientConfig?.service?.port", "443", Always),
        ],
    ),
];

/// Applies the table to an object of `kind`.
pub(super) fn apply(kind: &str, object: &mut Value) {
    if let Some((_, rules)) = KINDS.iter().find(|(k, _)| *k == kind) {
        for (place, value, when) in *rules {
            let holds = match when {
                Always => true,
                Is(pointer, text) => object.pointer(pointer).and_then(Value::as_str) == Some(*text),
            };
            if holds {
                set(object, place, value);
            }
        }
    }
    let Some((_, base)) = POD_SPECS.iter().find(|(k, _)| *k == kind) else {
        return;
    };
    for (place, value) in POD_SPEC {
        set(object, &format!("{base}.{place}"), value);
    }
    for list in CONTAINERS {
        for (place, value) in CONTAINER {
            set(object, &format!("{base}.{list}[].{place}"), value);
        }
        for probe in PROBES {
            for (place, value) in PROBE {
                set(object, &format!("{base}.{list}[].{probe}.{place}"), value);
            }
        }
    }
}

/// Sets what is at `place` to the JSON `value` where nothing is.
fn set(object: &mut Value, place: &str, value: &str) {
    path::each(object, place, &mut |members, name| {
        if !members.contains_key(name) {
            // A test proves that every value of the table is JSON.
            members.insert(
                name.to_owned(),
                serde_json::from_str(value).unwrap_or_default(),
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_the_table_is_json() {
        let kinds = KINDS
            .iter()
            .flat_map(|(_, rules)| rules.iter().map(|(_, value, _)| *value));
        let shared = [POD_SPEC, CONTAINER, PROBE].concat();
        for value in kinds.chain(shared.into_iter().map(|(_, value)| value)) {
            assert!(serde_json::from_str::<Value>(value).is_ok(), "{value}");
        }
    }
}
