use masthead_api::{Key, Revision};

use super::*;

fn of(group: &str, version: &str, plural: &str) -> &'static SharedResource {
    Catalog::builtin().resource(group, version, plural).unwrap()
}

#[test]
fn the_table_can_be_read_and_every_resource_is_found_under_its_path() {
    assert_eq!(builtin::resources().unwrap().len(), 68);
    for r in Catalog::builtin().iter() {
        assert_eq!(of(&r.group, &r.version, &r.plural).kind, r.kind);
        assert!(
            Catalog::builtin()
                .of_kind(&r.group, &r.version, &r.kind)
                .is_some()
        );
        assert!(r.storage.is_none() || Catalog::builtin().stored(r.storage.unwrap()).is_some());
        let _: serde_json::Value = serde_json::from_str(&r.empty).unwrap();
    }
    assert!(Catalog::builtin().resource("apps", "v1", "pods").is_none());
    assert_eq!(Catalog::builtin().versions("autoscaling"), ["v2", "v1"]);
    assert_eq!(Catalog::builtin().groups().len(), 21);
}

#[test]
fn versions_of_one_type_share_storage() {
    assert_eq!(
        of("", "v1", "events").storage,
        of("events.k8s.io", "v1", "events").storage
    );
    assert!(of("", "v1", "events").is_stored_version);
    assert!(!of("events.k8s.io", "v1", "events").is_stored_version);
    assert!(of("autoscaling", "v2", "horizontalpodautoscalers").is_stored_version);
    assert_eq!(
        of("authentication.k8s.io", "v1", "tokenreviews").storage,
        None
    );
}

#[test]
fn keys_are_those_of_the_reference_and_lead_back() {
    let rows = [
        ("", "configmaps", "a", "b", "/registry/configmaps/a/b"),
        ("", "services", "a", "b", "/registry/services/specs/a/b"),
        (
            "",
            "endpoints",
            "a",
            "b",
            "/registry/services/endpoints/a/b",
        ),
        ("", "nodes", "", "b", "/registry/minions/b"),
        (
            "",
            "replicationcontrollers",
            "a",
            "b",
            "/registry/controllers/a/b",
        ),
        (
            "networking.k8s.io",
            "ingresses",
            "a",
            "b",
            "/registry/ingress/a/b",
        ),
        (
            "coordination.k8s.io",
            "leases",
            "a",
            "b",
            "/registry/leases/a/b",
        ),
        ("", "events", "a", "b", "/registry/events/a/b"),
    ];
    for (group, plural, namespace, name, key) in rows {
        let resource = of(group, "v1", plural);
        assert_eq!(store_key(resource, namespace, name), key);
        let found = Catalog::builtin().locate(key);
        assert_eq!(
            found,
            Some((resource.storage.unwrap(), Key::new(namespace, name)))
        );
    }
    for key in [
        "/registry/pods/a",
        "/registry/pods/a/b/c",
        "/registry/minions/",
        "/x",
        "compact_rev_key",
    ] {
        assert_eq!(Catalog::builtin().locate(key), None, "{key}");
    }
}

#[test]
fn field_labels_are_accepted_and_refused_in_each_kinds_words() {
    let pods = of("", "v1", "pods");
    assert_eq!(pods.field("spec.host"), Ok("spec.nodeName"));
    assert_eq!(
        pods.field("spec.priority").unwrap_err().0,
        "field label not supported: spec.priority"
    );
    assert_eq!(
        of("apps", "v1", "deployments")
            .field("spec.replicas")
            .unwrap_err()
            .0,
        "\"spec.replicas\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    );
    assert_eq!(
        of("batch", "v1", "jobs")
            .field("spec.suspend")
            .unwrap_err()
            .0,
        "field label \"spec.suspend\" not supported for Job"
    );
    assert_eq!(
        of("events.k8s.io", "v1", "events").field("regarding.name"),
        Ok("involvedObject.name")
    );
}

#[test]
fn bookmarks_print_the_zero_struct_of_their_kind() {
    let at = Revision::new(7).unwrap();
    let json = |group, plural| bookmark_json(of(group, "v1", plural), at, BookmarkKind::Progress);
    assert_eq!(
        json("", "configmaps"),
        r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"7"}}"#
    );
    assert_eq!(
        json("", "pods"),
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"7"},"spec":{"containers":null},"status":{}}"#
    );
    assert_eq!(
        json("apps", "deployments"),
        r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"resourceVersion":"7"},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}"#
    );
    assert_eq!(
        bookmark_json(
            of("rbac.authorization.k8s.io", "v1", "roles"),
            at,
            BookmarkKind::InitialEventsEnd
        ),
        r#"{"kind":"Role","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}},"rules":null}"#
    );
}
