use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::catalog::{Catalog, Resource};

fn resource(group: &str, plural: &str) -> &'static Resource {
    let found = Catalog::builtin()
        .iter()
        .find(|r| *r.group == *group && *r.plural == *plural);
    found.unwrap()
}

fn ctx() -> WriteContext {
    WriteContext {
        now: "2024-01-01T00:00:00Z".to_owned(),
        uid: "11111111-2222-3333-4444-555555555555".to_owned(),
        suffix: "bcdfg".to_owned(),
    }
}

fn created(group: &str, plural: &str, body: Value) -> Result<Value, (u16, String)> {
    let resource = resource(group, plural);
    let namespace = if resource.is_namespaced() { "n" } else { "" };
    create(resource, namespace, body, &ctx()).map_err(|status| (status.code, status.message))
}

/// As it is read back from the store.
fn stored(group: &str, plural: &str, body: Value) -> Value {
    let mut object = created(group, plural, body).unwrap();
    object["metadata"]["resourceVersion"] = "7".into();
    object
}

fn updated(
    group: &str,
    plural: &str,
    of: UpdateOf,
    old: &Value,
    new: Value,
) -> Result<UpdateOutcome, (u16, String)> {
    update(resource(group, plural), (of, Verb::Put), old, new, &ctx())
        .map_err(|status| (status.code, status.message))
}

fn written(outcome: Result<UpdateOutcome, (u16, String)>) -> Value {
    match outcome {
        Ok(UpdateOutcome::Write(object)) => object,
        other => panic!("no write: {other:?}"),
    }
}

fn cm(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "v"}})
}

fn deployment() -> Value {
    let pod = json!({"containers": [{"name": "c", "image": "nginx"}]});
    json!({"metadata": {"name": "x"}, "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "a"}},
           "template": {"metadata": {"labels": {"app": "a"}}, "spec": pod}}, "status": {"replicas": 7}})
}

#[test]
fn a_new_object_gets_what_the_server_owns_and_loses_what_it_may_not_say() {
    let given = json!({"metadata": {"name": "x", "uid": "theirs", "creationTimestamp": "2001-01-01T00:00:00Z", "generation": 42,
        "selfLink": "/nope", "deletionTimestamp": "2001-01-01T00:00:00Z", "deletionGracePeriodSeconds": 5, "managedFields": [{}]}});
    let ctx = ctx();
    assert_eq!(
        created("", "configmaps", given).unwrap(),
        json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x", "namespace": "n", "uid": ctx.uid, "generation": 42, "creationTimestamp": ctx.now}})
    );
}

#[test]
fn names_are_given_or_made() {
    let name = |metadata| {
        created("", "configmaps", json!({"metadata": metadata}))
            .map(|o| o["metadata"]["name"].clone())
    };
    assert_eq!(name(json!({"generateName": "g-"})), Ok("g-bcdfg".into()));
    assert_eq!(
        name(json!({"generateName": "g-", "name": "own"})),
        Ok("own".into())
    );
    assert_eq!(
        name(json!({"generateName": format!("{}-", "x".repeat(70))}))
            .unwrap()
            .as_str()
            .unwrap()
            .len(),
        63
    );
    let required = "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required";
    assert_eq!(name(json!({})), Err((422, required.to_owned())));
    assert_eq!(name(json!({"generateName": "Bad_"})).unwrap_err().0, 422);
}

#[test]
fn a_new_object_is_refused_where_it_does_not_belong() {
    let mut elsewhere = cm("x");
    elsewhere["metadata"]["namespace"] = "default".into();
    let message =
        "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!(
        created("", "configmaps", elsewhere),
        Err((400, message.to_owned()))
    );
    let mut versioned = cm("x");
    versioned["metadata"]["resourceVersion"] = "1".into();
    let message = "resourceVersion should not be set on objects to be created";
    assert_eq!(
        created("", "configmaps", versioned),
        Err((500, message.to_owned()))
    );
    let node = created(
        "",
        "nodes",
        json!({"metadata": {"name": "a", "namespace": "default"}}),
    )
    .unwrap();
    assert_eq!(node["metadata"].get("namespace"), None);
}

#[test]
fn metadata_that_breaks_a_rule_is_told_field_by_field() {
    for (metadata, message) in [
        (
            json!({"finalizers": ["nodomain"]}),
            "metadata.finalizers[0]: Invalid value: \"nodomain\": name is neither a standard finalizer name nor is it fully qualified",
        ),
        (
            json!({"finalizers": ["foregroundDeletion", "orphan"]}),
            "metadata.finalizers: Invalid value: [\"foregroundDeletion\",\"orphan\"]: finalizer orphan and foregroundDeletion cannot be both set",
        ),
        (
            json!({"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "e", "uid": "u"}]}),
            "metadata.ownerReferences: Invalid value: {\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"e\",\"uid\":\"u\"}: /v1, Kind=Event is disallowed from being an owner",
        ),
        (
            json!({"ownerReferences": [{"apiVersion": "a/b/c", "kind": "K", "name": "e", "uid": "u"}]}),
            "metadata.ownerReferences.apiVersion: Invalid value: \"a/b/c\": version must not be empty",
        ),
        (
            json!({"annotations": {"a": "v".repeat(262_144)}}),
            "metadata.annotations: Too long: may not be more than 262144 bytes",
        ),
    ] {
        let mut body = cm("x");
        body["metadata"]
            .as_object_mut()
            .unwrap()
            .extend(metadata.as_object().unwrap().clone());
        assert_eq!(
            created("", "configmaps", body),
            Err((422, format!("ConfigMap \"x\" is invalid: {message}")))
        );
    }
    let two = json!([{"apiVersion": "v1", "kind": "C", "name": "o", "uid": "1", "controller": true}, {"apiVersion": "v1", "kind": "C", "name": "p", "uid": "2", "controller": true}]);
    let mut body = cm("x");
    body["metadata"]["ownerReferences"] = two;
    assert!(
        created("", "configmaps", body)
            .unwrap_err()
            .1
            .ends_with("Found \"true\" in references for C/o and C/p")
    );
}

#[test]
fn kinds_begin_as_clients_expect_them() {
    let namespace = created("", "namespaces", json!({"metadata": {"name": "n"}})).unwrap();
    assert_eq!(namespace["status"], json!({"phase": "Active"}));
    assert_eq!(namespace["spec"], json!({"finalizers": ["kubernetes"]}));
    assert_eq!(
        namespace["metadata"]["labels"],
        json!({"kubernetes.io/metadata.name": "n"})
    );

    let secret = created("", "secrets", json!({"metadata": {"name": "x"}, "data": {"a": "YQ=="}, "stringData": {"a": "wins", "b": "b"}})).unwrap();
    assert_eq!(
        (&secret["data"], &secret["type"], secret.get("stringData")),
        (
            &json!({"a": "d2lucw==", "b": "Yg=="}),
            &json!("Opaque"),
            None
        )
    );

    let deployment = created("apps", "deployments", deployment()).unwrap();
    assert_eq!(
        (&deployment["metadata"]["generation"], &deployment["status"]),
        (&json!(1), &json!({}))
    );

    let job = created("batch", "jobs", json!({"metadata": {"name": "x"}, "spec": {"template": {"spec": {"containers": [], "restartPolicy": "Never"}}}})).unwrap();
    assert_eq!(
        job["metadata"]["labels"],
        job["spec"]["template"]["metadata"]["labels"]
    );
    assert_eq!(
        job["spec"]["selector"],
        json!({"matchLabels": {"batch.kubernetes.io/controller-uid": ctx().uid}})
    );

    let claim = created(
        "",
        "persistentvolumeclaims",
        json!({"metadata": {"name": "x"}}),
    )
    .unwrap();
    assert_eq!(
        claim["metadata"]["finalizers"],
        json!(["kubernetes.io/pvc-protection"])
    );
}

#[test]
fn an_update_must_fit_the_stored_object() {
    let old = stored("", "configmaps", cm("x"));
    let with = |name: &str, value: &str| {
        let mut new = cm("x");
        new["metadata"][name] = value.into();
        new["data"]["k"] = "2".into();
        updated("", "configmaps", UpdateOf::Object, &old, new)
    };
    for (name, value, code, message) in [
        (
            "resourceVersion",
            "6",
            409,
            "Operation cannot be fulfilled on configmaps \"x\": the object has been modified; please apply your changes to the latest version and try again",
        ),
        (
            "resourceVersion",
            "abc",
            500,
            "strconv.ParseUint: parsing \"abc\": invalid syntax",
        ),
        (
            "resourceVersion",
            "-1",
            500,
            "strconv.ParseUint: parsing \"-1\": invalid syntax",
        ),
        (
            "uid",
            "other",
            409,
            "Operation cannot be fulfilled on configmaps \"x\": StorageError: invalid object, Code: 4, Key: /registry/configmaps/n/x, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: 11111111-2222-3333-4444-555555555555",
        ),
        (
            "name",
            "y",
            400,
            "the name of the object (y) does not match the name on the URL (x)",
        ),
        (
            "name",
            "",
            400,
            "the name of the object (x based on URL) was undeterminable: name must be provided",
        ),
        (
            "deletionTimestamp",
            "2001-01-01T00:00:00Z",
            422,
            "ConfigMap \"x\" is invalid: metadata.deletionTimestamp: Invalid value: \"2001-01-01T00:00:00Z\": field is immutable",
        ),
    ] {
        assert_eq!(
            with(name, value),
            Err((code, message.to_owned())),
            "{name} {value}"
        );
    }
    for (name, value) in [
        ("resourceVersion", "7"),
        ("resourceVersion", "0"),
        ("resourceVersion", ""),
        ("selfLink", "/x"),
        ("creationTimestamp", "2001-01-01T00:00:00Z"),
    ] {
        assert_eq!(
            written(with(name, value))["metadata"],
            old["metadata"],
            "{name} {value}"
        );
    }
    let lease = stored(
        "coordination.k8s.io",
        "leases",
        json!({"metadata": {"name": "x"}}),
    );
    let mut unconditional = lease.clone();
    unconditional["metadata"]["resourceVersion"] = "".into();
    let refused = updated(
        "coordination.k8s.io",
        "leases",
        UpdateOf::Object,
        &lease,
        unconditional,
    );
    assert_eq!(refused.unwrap_err(), (422, "Lease.coordination.k8s.io \"x\" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update".to_owned()));
}

#[test]
fn spec_and_status_are_written_apart_and_only_the_spec_counts() {
    let old = stored("apps", "deployments", deployment());
    let mut both = old.clone();
    both["spec"]["replicas"] = 4.into();
    both["status"] = json!({"replicas": 5});
    both["metadata"]["labels"] = json!({"l": "1"});
    let spec = written(updated(
        "apps",
        "deployments",
        UpdateOf::Object,
        &old,
        both.clone(),
    ));
    assert_eq!(
        (
            &spec["spec"]["replicas"],
            &spec["status"],
            &spec["metadata"]["generation"]
        ),
        (&json!(4), &json!({}), &json!(2))
    );
    let status = written(updated("apps", "deployments", UpdateOf::Status, &old, both));
    assert_eq!(
        (&status["spec"], &status["status"], &status["metadata"]),
        (&old["spec"], &json!({"replicas": 5}), &old["metadata"])
    );
    let mut annotated = old.clone();
    annotated["metadata"]["annotations"] = json!({"a": "1"});
    assert_eq!(
        written(updated(
            "apps",
            "deployments",
            UpdateOf::Object,
            &old,
            annotated
        ))["metadata"]["generation"],
        2
    );
    let mut selector = old.clone();
    selector["spec"]["selector"] = json!({"matchLabels": {"app": "b"}});
    assert_eq!(
        updated("apps", "deployments", UpdateOf::Object, &old, selector)
            .unwrap_err()
            .1,
        "Deployment.apps \"x\" is invalid: spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"b\"}}: field is immutable"
    );
}

#[test]
fn immutable_data_stays() {
    let mut body = cm("x");
    body["immutable"] = true.into();
    let old = stored("", "configmaps", body);
    let mut new = old.clone();
    new["data"]["k"] = "2".into();
    let message =
        "ConfigMap \"x\" is invalid: data: Forbidden: field is immutable when `immutable` is set";
    assert_eq!(
        updated("", "configmaps", UpdateOf::Object, &old, new),
        Err((422, message.to_owned()))
    );
    let mut labelled = old.clone();
    labelled["metadata"]["labels"] = json!({"a": "b"});
    written(updated("", "configmaps", UpdateOf::Object, &old, labelled));
}

#[test]
fn the_last_finalizer_of_a_deleted_object_takes_it_along() {
    let mut body = cm("x");
    body["metadata"]["finalizers"] = json!(["example.com/a", "example.com/b"]);
    let mut old = stored("", "configmaps", body);
    old["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z".into();
    old["metadata"]["deletionGracePeriodSeconds"] = 0.into();
    let with = |finalizers: Value| {
        let mut new = old.clone();
        new["metadata"]["finalizers"] = finalizers;
        updated("", "configmaps", UpdateOf::Object, &old, new)
    };
    written(with(json!(["example.com/a"])));
    assert!(
        matches!(with(json!([])), Ok(UpdateOutcome::Remove(last)) if last["metadata"].get("finalizers").is_none())
    );
    let refused = with(json!(["example.com/a", "example.com/b", "example.com/c"]));
    let message = "ConfigMap \"x\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"example.com/c\"}";
    assert_eq!(refused, Err((422, message.to_owned())));
}

#[test]
fn a_namespace_is_finalized_through_its_subresource_only() {
    let mut old = stored("", "namespaces", json!({"metadata": {"name": "n"}}));
    let empty = json!({"metadata": {"name": "n"}, "spec": {"finalizers": []}});
    assert_eq!(
        updated("", "namespaces", UpdateOf::Object, &old, empty.clone()),
        Ok(UpdateOutcome::Unchanged)
    );
    written(updated(
        "",
        "namespaces",
        UpdateOf::Finalize,
        &old,
        empty.clone(),
    ));
    old["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z".into();
    old["status"]["phase"] = "Terminating".into();
    assert_eq!(
        updated("", "namespaces", UpdateOf::Object, &old, empty.clone()),
        Ok(UpdateOutcome::Unchanged)
    );
    let Ok(UpdateOutcome::Remove(last)) =
        updated("", "namespaces", UpdateOf::Finalize, &old, empty)
    else {
        panic!("stays")
    };
    assert_eq!(
        (&last["spec"], &last["status"]),
        (&json!({}), &json!({"phase": "Terminating"}))
    );
}

#[test]
fn a_scale_is_a_view_that_can_be_written_through() {
    let mut old = stored("apps", "deployments", deployment());
    old["status"]["replicas"] = 1.into();
    let apps = resource("apps", "deployments");
    let mut scale = scale_of(&old);
    assert_eq!(scale["spec"], json!({"replicas": 2}));
    assert_eq!(scale["status"], json!({"replicas": 1, "selector": "app=a"}));
    scale["spec"]["replicas"] = 5.into();
    let scaled = with_scale(apps, &old, scale.clone()).unwrap();
    assert_eq!(
        written(updated(
            "apps",
            "deployments",
            UpdateOf::Object,
            &old,
            scaled
        ))["spec"]["replicas"],
        5
    );
    scale["metadata"]["resourceVersion"] = "3".into();
    let stale = with_scale(apps, &old, scale.clone()).unwrap();
    assert_eq!(
        updated("apps", "deployments", UpdateOf::Object, &old, stale)
            .unwrap_err()
            .0,
        409
    );
    scale["spec"]["replicas"] = (-1).into();
    assert_eq!(
        with_scale(apps, &old, scale.clone()).unwrap_err().message,
        "Scale.autoscaling \"x\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    );
    scale["kind"] = "Deployment".into();
    assert_eq!(
        with_scale(apps, &old, scale).unwrap_err().message,
        "Deployment in version \"v1\" cannot be handled as a Scale: no kind \"Deployment\" is registered for version \"autoscaling/v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\""
    );
    old["spec"]["replicas"] = 0.into();
    assert_eq!(scale_of(&old)["spec"], json!({}));
}

#[test]
fn a_pod_is_bound_once_and_to_a_node() {
    let pod = stored(
        "",
        "pods",
        json!({"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}),
    );
    let binding = |kind: &str| json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "x"}, "target": {"kind": kind, "name": "some-node"}});
    let bound = bind(&pod, &binding("Node"), "2024-01-01T00:00:00Z").unwrap();
    assert_eq!(bound["spec"]["nodeName"], "some-node");
    assert_eq!(
        bound["status"]["conditions"],
        json!([{"type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": "2024-01-01T00:00:00Z"}])
    );
    let refused = |pod: &Value, kind: &str| {
        bind(pod, &binding(kind), "")
            .map_err(|s| (s.code, s.message))
            .unwrap_err()
    };
    assert_eq!(refused(&bound, "Node"), (409, "Operation cannot be fulfilled on pods/binding \"x\": pod x is already assigned to node \"some-node\"".to_owned()));
    assert_eq!(
        refused(&pod, "Pod"),
        (
            500,
            "target.kind: Unsupported value: \"Pod\": supported values: \"Node\", \"<empty>\""
                .to_owned()
        )
    );
    let eviction =
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "z"}});
    assert_eq!(
        evict("y", &eviction).unwrap_err().message,
        "name in URL does not match name in Eviction object"
    );
    assert_eq!(evict("z", &eviction), Ok(DeleteOptions::default()));
}

#[test]
fn every_built_in_kind_updated_with_itself_is_unchanged() {
    for resource in Catalog::builtin().iter().filter(|r| r.storage.is_some()) {
        let namespace = if resource.is_namespaced() { "n" } else { "" };
        let body = json!({"metadata": {"name": "x", "labels": {"a": "b"}}});
        let mut object = create(resource, namespace, body, &ctx()).unwrap();
        object["metadata"]["resourceVersion"] = "7".into();
        for of in [UpdateOf::Object, UpdateOf::Status] {
            let outcome = update(resource, (of, Verb::Put), &object, object.clone(), &ctx());
            assert_eq!(
                outcome,
                Ok(UpdateOutcome::Unchanged),
                "{} {of:?}",
                resource.kind
            );
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "metadata",
        "spec",
        "status",
        "name",
        "generateName",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
        "containers",
        "template",
        "data",
        "stringData",
        "conditions",
        "ports",
        "volumes",
        "replicas",
        "resources",
        "limits",
        "uid",
        "resourceVersion",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "env",
        "image",
        "jobTemplate",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(vec![
            "x",
            "",
            "2024-01-01T00:00:00Z",
            "example.com/f",
            "orphan",
            "7"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6).prop_map(|members| Value::Object(
                members
                    .into_iter()
                    .map(|(k, v)| (k.to_owned(), v))
                    .collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn no_object_of_any_shape_panics(body in any_json(), old in any_json()) {
        for (group, plural) in [("", "pods"), ("apps", "deployments"), ("", "namespaces"), ("batch", "jobs"), ("", "services"), ("", "secrets")] {
            let resource = resource(group, plural);
            let made = create(resource, "n", body.clone(), &ctx());
            let of = [UpdateOf::Object, UpdateOf::Status, UpdateOf::Finalize];
            for of in of {
                drop(update(resource, (of, Verb::Patch), &old, body.clone(), &ctx()));
            }
            drop(delete(resource, &old, &DeleteOptions::default(), "2024-01-01T00:00:00Z"));
            drop(scale_of(&old));
            drop(with_scale(resource, &old, body.clone()));
            drop(bind(&old, &body, ""));
            if let Ok(mut made) = made {
                made["metadata"]["resourceVersion"] = "7".into();
                let same = update(resource, (UpdateOf::Object, Verb::Put), &made, made.clone(), &ctx());
                prop_assert_eq!(same, Ok(UpdateOutcome::Unchanged));
            }
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[{}\\[\\]\",:a0-9. -]{0,60}") {
        drop(body::parse("ConfigMap", &bytes));
        drop(body::parse("ConfigMap", text.as_bytes()));
    }
}
