use serde_json::json;

use super::*;
use crate::catalog::Catalog;

const NOW: &str = "2024-01-01T00:00:00Z";

fn resource(group: &str, plural: &str) -> &'static Resource {
    Catalog::builtin().resource(group, "v1", plural).unwrap()
}

fn with(propagation: Option<Propagation>, grace: Option<i64>) -> DeleteOptions {
    DeleteOptions {
        propagation,
        grace_period_seconds: grace,
        ..DeleteOptions::default()
    }
}

fn config_map(finalizers: &[&str]) -> Value {
    let mut object =
        json!({"metadata": {"name": "x", "namespace": "n", "uid": "u", "resourceVersion": "7"}});
    if !finalizers.is_empty() {
        object["metadata"]["finalizers"] = json!(finalizers);
    }
    object
}

fn pod(node: &str, phase: &str) -> Value {
    json!({"metadata": {"name": "x", "namespace": "n", "uid": "u", "resourceVersion": "7", "generation": 1},
           "spec": {"nodeName": node, "terminationGracePeriodSeconds": 20}, "status": {"phase": phase}})
}

fn marked(outcome: Result<DeleteOutcome, Status>) -> Value {
    match outcome {
        Ok(DeleteOutcome::Mark(object)) => object,
        other => panic!("not marked: {other:?}"),
    }
}

#[test]
fn the_propagation_policy_decides_on_the_collectors_finalizers() {
    use Propagation::{Background, Foreground, Orphan};
    let cases: &[(&[&str], Option<Propagation>, &[&str])] = &[
        (&[], None, &[]),
        (&[], Some(Background), &[]),
        (&[], Some(Foreground), &["foregroundDeletion"]),
        (&[], Some(Orphan), &["orphan"]),
        (&["example.com/a"], None, &["example.com/a"]),
        (
            &["example.com/a"],
            Some(Foreground),
            &["example.com/a", "foregroundDeletion"],
        ),
        (
            &["example.com/a", "foregroundDeletion"],
            Some(Orphan),
            &["example.com/a", "orphan"],
        ),
        (
            &["example.com/a", "orphan"],
            Some(Background),
            &["example.com/a"],
        ),
        (&["orphan"], Some(Background), &[]),
        (&["orphan"], None, &["orphan"]),
    ];
    for (before, policy, after) in cases {
        let outcome = delete(
            resource("", "configmaps"),
            &config_map(before),
            &with(*policy, None),
            NOW,
        );
        if after.is_empty() {
            assert_eq!(outcome, Ok(DeleteOutcome::Remove), "{before:?} {policy:?}");
        } else {
            let object = marked(outcome);
            assert_eq!(
                object["metadata"]["finalizers"],
                json!(after),
                "{before:?} {policy:?}"
            );
            assert_eq!(object["metadata"]["deletionTimestamp"], NOW);
            assert_eq!(object["metadata"]["deletionGracePeriodSeconds"], 0);
        }
    }
    let job = marked(delete(
        resource("batch", "jobs"),
        &pod("", ""),
        &DeleteOptions::default(),
        NOW,
    ));
    assert_eq!(
        (
            &job["metadata"]["finalizers"],
            &job["metadata"]["generation"]
        ),
        (&json!(["orphan"]), &json!(2))
    );
    let event = delete(
        resource("", "events"),
        &config_map(&[]),
        &with(Some(Orphan), None),
        NOW,
    );
    assert_eq!(event, Ok(DeleteOutcome::Remove));
}

#[test]
fn deleting_again_changes_nothing() {
    let resource = resource("", "configmaps");
    let once = marked(delete(
        resource,
        &config_map(&["example.com/a"]),
        &DeleteOptions::default(),
        NOW,
    ));
    let again = delete(
        resource,
        &once,
        &DeleteOptions::default(),
        "2024-01-01T00:00:09Z",
    );
    assert_eq!(again, Ok(DeleteOutcome::Unchanged));
}

#[test]
fn a_pods_grace_is_its_own_or_the_one_asked_for() {
    for (node, phase, asked, grace) in [
        ("n", "Running", None, 20),
        ("n", "Running", Some(7), 7),
        ("n", "Running", Some(-1), 1),
    ] {
        let object = marked(delete(
            resource("", "pods"),
            &pod(node, phase),
            &with(None, asked),
            NOW,
        ));
        assert_eq!(object["metadata"]["deletionGracePeriodSeconds"], grace);
        assert_eq!(
            object["metadata"]["deletionTimestamp"],
            format!("2024-01-01T00:00:{grace:02}Z")
        );
        assert_eq!(object["metadata"]["generation"], 2);
    }
    for (node, phase, asked) in [
        ("n", "Running", Some(0)),
        ("", "Pending", None),
        ("n", "Succeeded", None),
        ("n", "Failed", Some(9)),
    ] {
        let outcome = delete(
            resource("", "pods"),
            &pod(node, phase),
            &with(None, asked),
            NOW,
        );
        let Ok(DeleteOutcome::MarkThenRemove(object)) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(object["metadata"]["deletionGracePeriodSeconds"], 0);
    }
}

#[test]
fn a_running_grace_only_gets_shorter() {
    let pods = resource("", "pods");
    let running = marked(delete(
        pods,
        &pod("n", "Running"),
        &DeleteOptions::default(),
        NOW,
    ));
    assert_eq!(
        delete(pods, &running, &with(None, Some(30)), NOW),
        Ok(DeleteOutcome::Unchanged)
    );
    assert_eq!(
        delete(pods, &running, &DeleteOptions::default(), NOW),
        Ok(DeleteOutcome::Unchanged)
    );
    let shorter = marked(delete(pods, &running, &with(None, Some(5)), NOW));
    let metadata = &shorter["metadata"];
    assert_eq!(
        (&metadata["deletionTimestamp"], &metadata["generation"]),
        (&json!("2024-01-01T00:00:05Z"), &json!(2))
    );
    assert!(matches!(
        delete(pods, &shorter, &with(None, Some(0)), NOW),
        Ok(DeleteOutcome::MarkThenRemove(_))
    ));
    let mut held = running;
    held["metadata"]["finalizers"] = json!(["example.com/a"]);
    assert_eq!(
        marked(delete(pods, &held, &with(None, Some(0)), NOW))["metadata"]["deletionGracePeriodSeconds"],
        0
    );
}

#[test]
fn preconditions_name_the_kind_and_what_differs() {
    let refused = |uid: Option<&str>, version: Option<&str>| {
        let options = DeleteOptions {
            uid: uid.map(str::to_owned),
            resource_version: version.map(str::to_owned),
            ..DeleteOptions::default()
        };
        delete(resource("", "configmaps"), &config_map(&[]), &options, NOW)
            .map_err(|s| (s.code, s.message))
    };
    assert_eq!(refused(Some("u"), Some("7")), Ok(DeleteOutcome::Remove));
    assert_eq!(refused(Some("v"), None), Err((409, "Operation cannot be fulfilled on ConfigMap \"x\": the UID in the precondition (v) does not match the UID in record (u). The object might have been deleted and then recreated".to_owned())));
    assert_eq!(refused(Some("u"), Some("1")), Err((409, "Operation cannot be fulfilled on ConfigMap \"x\": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (7). The object might have been modified".to_owned())));
}

#[test]
fn a_namespace_terminates_and_some_never_do() {
    let namespaces = resource("", "namespaces");
    let namespace = |name: &str| json!({"metadata": {"name": name, "uid": "u", "resourceVersion": "7"}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
    let marked = marked(delete(
        namespaces,
        &namespace("a"),
        &DeleteOptions::default(),
        NOW,
    ));
    assert_eq!(marked["status"], json!({"phase": "Terminating"}));
    assert_eq!(
        (
            marked["metadata"]["deletionTimestamp"].as_str(),
            marked["metadata"].get("deletionGracePeriodSeconds")
        ),
        (Some(NOW), None)
    );
    assert_eq!(
        delete(namespaces, &marked, &DeleteOptions::default(), NOW),
        Ok(DeleteOutcome::Unchanged)
    );
    let mut empty = marked;
    empty["spec"] = json!({});
    assert_eq!(
        delete(namespaces, &empty, &DeleteOptions::default(), NOW),
        Ok(DeleteOutcome::Remove)
    );
    for name in ["default", "kube-system", "kube-public"] {
        let refused =
            delete(namespaces, &namespace(name), &DeleteOptions::default(), NOW).unwrap_err();
        assert_eq!(
            (refused.code, refused.message),
            (
                403,
                format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted")
            )
        );
    }
}

#[test]
fn a_job_deleted_without_a_policy_warns() {
    let warned = |options| delete_warning(resource("batch", "jobs"), &options).is_some();
    assert!(warned(DeleteOptions::default()));
    assert!(!warned(with(Some(Propagation::Background), None)));
}
