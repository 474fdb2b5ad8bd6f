//! How the lists of built-in kinds merge: by a key, as a set, or not at all.

/// How a list merges with a patch's list of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListRule {
    /// The patch's list replaces it.
    Atomic,
    /// A set of scalars: the union.
    Set,
    /// Maps that belong together where this member is the same.
    Map(&'static str),
}

/// Lists by field name; the same name means the same rule in every built-in kind but for the
/// exceptions in [`list_rule`].
const RULES: &[(&str, ListRule)] = &[
    ("addresses", ListRule::Map("type")),
    ("allocatedResourcesStatus", ListRule::Map("name")),
    ("conditions", ListRule::Map("type")),
    ("containers", ListRule::Map("name")),
    ("drivers", ListRule::Map("name")),
    ("env", ListRule::Map("name")),
    ("ephemeralContainers", ListRule::Map("name")),
    ("finalizers", ListRule::Set),
    ("hostAliases", ListRule::Map("ip")),
    ("hostIPs", ListRule::Map("ip")),
    ("imagePullSecrets", ListRule::Map("name")),
    ("initContainers", ListRule::Map("name")),
    ("matchConditions", ListRule::Map("name")),
    ("ownerReferences", ListRule::Map("uid")),
    ("podCIDRs", ListRule::Set),
    ("podIPs", ListRule::Map("ip")),
    ("reservedFor", ListRule::Map("uid")),
    ("resourceClaimStatuses", ListRule::Map("name")),
    ("resourceClaims", ListRule::Map("name")),
    ("schedulingGates", ListRule::Map("name")),
    ("secrets", ListRule::Map("name")),
    ("topologySpreadConstraints", ListRule::Map("topologyKey")),
    ("volumeDevices", ListRule::Map("devicePath")),
    ("volumeMounts", ListRule::Map("mountPath")),
    ("volumes", ListRule::Map("name")),
    ("webhooks", ListRule::Map("name")),
    ("x-kubernetes-validations", ListRule::Map("rule")),
];

/// Kinds whose `conditions` are an atomic list.
const ATOMIC_CONDITIONS: &[&str] = &[
    "CertificateSigningRequest",
    "CustomResourceDefinition",
    "NetworkPolicy",
    "StorageVersion",
    "ValidatingAdmissionPolicy",
];

/// The rule of the list at `path` (member names only, list positions left out) of `kind`.
pub fn list_rule(kind: &str, path: &[String]) -> ListRule {
    let mut back = path.iter().rev().map(String::as_str);
    let (Some(name), parent) = (back.next(), back.next()) else {
        return ListRule::Atomic;
    };
    match (name, parent) {
        ("ports", Some("containers" | "initContainers" | "ephemeralContainers")) => {
            ListRule::Map("containerPort")
        }
        ("ports", Some("spec")) if kind == "Service" => ListRule::Map("port"),
        ("finalizers", Some("spec")) => ListRule::Atomic,
        ("variables", Some("spec")) if kind == "ValidatingAdmissionPolicy" => ListRule::Map("name"),
        ("addresses", Some(_)) if kind != "Node" => ListRule::Atomic,
        ("conditions", _) if ATOMIC_CONDITIONS.contains(&kind) => ListRule::Atomic,
        ("secrets", _) if kind != "ServiceAccount" => ListRule::Atomic,
        _ => RULES
            .iter()
            .find(|(field, _)| *field == name)
            .map_or(ListRule::Atomic, |(_, r)| *r),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_the_same_name_merges_by_where_it_stands() {
        for (kind, path, rule) in [
            ("Pod", "spec/containers", ListRule::Map("name")),
            (
                "Deployment",
                "spec/template/spec/containers/ports",
                ListRule::Map("containerPort"),
            ),
            ("Service", "spec/ports", ListRule::Map("port")),
            ("Endpoints", "subsets/ports", ListRule::Atomic),
            ("Namespace", "spec/finalizers", ListRule::Atomic),
            ("ConfigMap", "metadata/finalizers", ListRule::Set),
            ("Node", "spec/taints", ListRule::Atomic),
            ("Node", "status/addresses", ListRule::Map("type")),
            ("Endpoints", "subsets/addresses", ListRule::Atomic),
            ("ServiceAccount", "secrets", ListRule::Map("name")),
        ] {
            let path: Vec<String> = path.split('/').map(str::to_owned).collect();
            assert_eq!(list_rule(kind, &path), rule, "{kind} {path:?}");
        }
    }
}
