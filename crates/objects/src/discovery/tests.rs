use serde_json::{Value, json};

use super::*;

fn discovery() -> Discovery {
    Discovery::new(Catalog::builtin(), "127.0.0.1:6443")
}

fn value(bytes: &Bytes) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn the_versions_of_core_name_the_server() {
    let expected = r#"{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"127.0.0.1:6443"}]}"#;
    assert_eq!(discovery().api(), expected);
}

#[test]
fn groups_come_in_order_of_priority_with_the_preferred_version_first() {
    let list = value(discovery().apis());
    let groups = list["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 20);
    assert_eq!(groups[0]["name"], "apiregistration.k8s.io");
    assert_eq!(
        groups[1],
        json!({"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}],
        "preferredVersion": {"groupVersion": "apps/v1", "version": "v1"}})
    );
    let expected = r#"{"kind":"APIGroup","apiVersion":"v1","name":"autoscaling","versions":[{"groupVersion":"autoscaling/v2","version":"v2"},{"groupVersion":"autoscaling/v1","version":"v1"}],"preferredVersion":{"groupVersion":"autoscaling/v2","version":"v2"}}"#;
    assert_eq!(discovery().group("autoscaling").unwrap(), expected);
    assert!(discovery().group("nope").is_none());
}

#[test]
fn resource_lists_hold_subresources_and_storage_hashes() {
    let discovery = discovery();
    let core = value(discovery.resources("v1").unwrap());
    assert!(core.get("apiVersion").is_none());
    let pods = core["resources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|r| r["name"] == "pods")
        .unwrap();
    assert_eq!(pods["storageVersionHash"], "xPOwRZ+Yhw8=");
    let apps = value(discovery.resources("apps/v1").unwrap());
    assert_eq!(apps["apiVersion"], "v1");
    assert_eq!(
        apps["resources"][4],
        json!({"name": "deployments/scale", "singularName": "", "namespaced": true,
        "group": "autoscaling", "version": "v1", "kind": "Scale", "verbs": ["get", "patch", "update"]})
    );
}

#[test]
fn the_aggregated_form_has_a_tag_that_names_its_content() {
    let discovery = discovery();
    let api = discovery.aggregated(Root::Api);
    assert_eq!(value(&api.json)["items"].as_array().unwrap().len(), 1);
    assert!(api.etag.starts_with('"') && api.etag.len() == 66);
    assert_ne!(api.etag, discovery.aggregated(Root::Apis).etag);
    let text = std::str::from_utf8(&api.json).unwrap();
    assert!(text.contains(r#"{"resource":"configmaps","responseKind":{"group":"","version":"","kind":"ConfigMap"},"scope":"Namespaced","singularResource":"configmap","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["cm"]}"#));
}

#[test]
fn the_root_lists_every_group_version_sorted() {
    let paths = value(&root_paths(Catalog::builtin()));
    let paths: Vec<&str> = paths["paths"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(paths.is_sorted());
    for path in [
        "/api/v1",
        "/apis/apps",
        "/apis/apps/v1",
        "/apis/",
        "/healthz/ping",
    ] {
        assert!(paths.contains(&path), "{path}");
    }
}
