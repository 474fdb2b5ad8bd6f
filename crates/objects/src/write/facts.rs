//! What differs from kind to kind in how objects are written and deleted.

use crate::catalog::{Resource, Wire};

/// What becomes of an object's dependents when its deletion does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dependents {
    /// They are deleted later.
    Background,
    /// They stay.
    Orphan,
    /// The kind has none: finalizers of the collector are never set.
    Unsupported,
}

/// May an update leave out the version that it is based on?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unconditional {
    Allowed,
    Refused,
}

/// Places (JSON pointers) whose change makes a new generation; `None` for a kind without one.
pub(super) type Generation = Option<&'static [&'static str]>;

/// What differs from kind to kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) generation: Generation,
    pub(super) unconditional: Unconditional,
    pub(super) dependents: Dependents,
}

const SPEC: Generation = Some(&["/spec"]);
const WEBHOOKS: Generation = Some(&["/webhooks"]);

/// Kinds with a generation.
const GENERATIONS: &[(&str, &str, Generation)] = &[
    ("", "pods", SPEC),
    ("", "replicationcontrollers", SPEC),
    (
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicies",
        SPEC,
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings",
        SPEC,
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        WEBHOOKS,
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
        SPEC,
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
        SPEC,
    ),
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
        WEBHOOKS,
    ),
    ("apiextensions.k8s.io", "customresourcedefinitions", SPEC),
    ("apps", "daemonsets", SPEC),
    (
        "apps",
        "deployments",
        Some(&["/spec", "/metadata/annotations"]),
    ),
    ("apps", "replicasets", SPEC),
    ("apps", "statefulsets", SPEC),
    ("batch", "cronjobs", SPEC),
    ("batch", "jobs", SPEC),
    (
        "discovery.k8s.io",
        "endpointslices",
        Some(&["/endpoints", "/ports", "/addressType", "/metadata/labels"]),
    ),
    ("flowcontrol.apiserver.k8s.io", "flowschemas", SPEC),
    (
        "flowcontrol.apiserver.k8s.io",
        "prioritylevelconfigurations",
        SPEC,
    ),
    ("networking.k8s.io", "ingressclasses", SPEC),
    ("networking.k8s.io", "ingresses", SPEC),
    ("networking.k8s.io", "networkpolicies", SPEC),
    ("policy", "poddisruptionbudgets", SPEC),
    ("resource.k8s.io", "deviceclasses", SPEC),
    ("resource.k8s.io", "resourceslices", SPEC),
    ("scheduling.k8s.io", "priorityclasses", Some(&[])),
];

/// Kinds of which an update must name the version that it is based on.
const CONDITIONAL: &[(&str, &str)] = &[
    ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
    (
        "admissionregistration.k8s.io",
        "mutatingadmissionpolicybindings",
    ),
    (
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingadmissionpolicybindings",
    ),
    (
        "admissionregistration.k8s.io",
        "validatingwebhookconfigurations",
    ),
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices"),
    ("coordination.k8s.io", "leases"),
    ("node.k8s.io", "runtimeclasses"),
    ("storage.k8s.io", "csidrivers"),
    ("storage.k8s.io", "csinodes"),
    ("storage.k8s.io", "csistoragecapacities"),
    ("storage.k8s.io", "volumeattachments"),
];

/// Kinds whose dependents are not deleted in the background.
const DEPENDENTS: &[(&str, &str, Dependents)] = &[
    ("", "events", Dependents::Unsupported),
    ("", "replicationcontrollers", Dependents::Orphan),
    ("batch", "jobs", Dependents::Orphan),
    ("events.k8s.io", "events", Dependents::Unsupported),
];

impl Facts {
    /// The facts about `resource`.
    pub(super) fn of(resource: &Resource) -> Self {
        let here = (resource.group.as_ref(), resource.plural.as_ref());
        let custom = resource.wire == Wire::Custom;
        let generation = GENERATIONS
            .iter()
            .find(|(group, plural, _)| (*group, *plural) == here)
            .map_or(if custom { SPEC } else { None }, |(_, _, generation)| {
                *generation
            });
        let unconditional = if custom || CONDITIONAL.contains(&here) {
            Unconditional::Refused
        } else {
            Unconditional::Allowed
        };
        let dependents = DEPENDENTS
            .iter()
            .find(|(group, plural, _)| (*group, *plural) == here)
            .map_or(Dependents::Background, |(_, _, dependents)| *dependents);
        Self {
            generation,
            unconditional,
            dependents,
        }
    }
}

/// Is `resource` this built-in one?
pub(super) fn is(resource: &Resource, group: &str, plural: &str) -> bool {
    resource.group.as_ref() == group && resource.plural.as_ref() == plural
}

/// Has `resource` a status that only its subresource changes?
pub(super) fn has_status(resource: &Resource) -> bool {
    resource.subresource("status").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn every_fact_is_about_a_resource_that_exists() {
        let known =
            |group: &str, plural: &str| Catalog::builtin().iter().any(|r| is(r, group, plural));
        let facts = GENERATIONS.iter().map(|(g, p, _)| (*g, *p));
        let facts = facts.chain(CONDITIONAL.iter().copied());
        let unknown: Vec<_> = facts
            .chain(DEPENDENTS.iter().map(|(g, p, _)| (*g, *p)))
            .filter(|(group, plural)| !known(group, plural))
            .collect();
        assert_eq!(unknown, []);
    }
}
