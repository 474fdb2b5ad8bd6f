use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::catalog::Catalog;
use crate::write::{DEPTH_MAX, depth_of};

fn configmaps() -> &'static Resource {
    Catalog::builtin().resource("", "v1", "configmaps").unwrap()
}

fn config_map() -> Value {
    json!({"kind": "ConfigMap", "apiVersion": "v1",
           "metadata": {"name": "x", "namespace": "n", "uid": "u", "resourceVersion": "7", "creationTimestamp": "2024-01-01T00:00:00Z"},
           "data": {"a": "1", "b": "2"}})
}

fn patched(patch_type: PatchType, patch: &str) -> Result<Value, (u16, String)> {
    apply(configmaps(), patch_type, &config_map(), patch.as_bytes())
        .map(|object| object["data"].clone())
        .map_err(|status| (status.code, status.message))
}

#[test]
fn each_kind_of_patch_changes_what_it_names() {
    let changed = json!({"a": "9", "b": "2"});
    for (patch_type, patch) in [
        (PatchType::Merge, r#"{"data":{"a":"9"}}"#),
        (PatchType::Strategic, r#"{"data":{"a":"9"}}"#),
        (
            PatchType::Json,
            r#"[{"op":"replace","path":"/data/a","value":"9"}]"#,
        ),
        (
            PatchType::Apply,
            r#"{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"9"}}"#,
        ),
    ] {
        assert_eq!(patched(patch_type, patch), Ok(changed.clone()), "{patch}");
    }
    assert_eq!(
        patched(PatchType::Merge, r#"{"data":{"a":null}}"#),
        Ok(json!({"b": "2"}))
    );
    assert_eq!(
        patched(PatchType::Merge, r#"{"data":null}"#),
        Ok(Value::Null)
    );
}

#[test]
fn a_patch_that_cannot_be_done_is_refused() {
    let unprocessable = "the server rejected our request due to an error in our request";
    let decoding = "error decoding patch: json: cannot unmarshal";
    for (patch_type, patch, code, message) in [
        (PatchType::Json, r#"[{"op":"remove","path":"/data/none"}]"#, 422, unprocessable.to_owned()),
        (PatchType::Json, r#"{"op":"add"}"#, 400, format!("{decoding} object into Go value of type []handlers.jsonPatchOp")),
        (PatchType::Merge, "[]", 400, format!("{decoding} array into Go value of type map[string]interface {{}}")),
        (PatchType::Merge, "{", 400, "error decoding patch: unexpected end of JSON input".to_owned()),
        (PatchType::Apply, r#"{"kind":"Secret","apiVersion":"v1"}"#, 400, "invalid object type: /v1, Kind=Secret".to_owned()),
        (PatchType::Apply, "{}", 400, "invalid object type: /, Kind=".to_owned()),
        (PatchType::Apply, "[1]", 400, "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}".to_owned()),
    ] {
        assert_eq!(patched(patch_type, patch), Err((code, message)), "{patch}");
    }
}

#[test]
fn too_many_operations_are_too_large_an_entity() {
    let operations =
        vec![json!({"op": "add", "path": "/data/a", "value": "1"}); OPERATIONS_MAX + 1];
    let message = "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001";
    assert_eq!(
        patched(PatchType::Json, &Value::from(operations).to_string()),
        Err((413, message.to_owned()))
    );
}

#[test]
fn what_a_patch_makes_must_be_an_object_of_the_kind() {
    let refused = |patch| {
        let status = apply(configmaps(), PatchType::Merge, &config_map(), patch).unwrap_err();
        assert_eq!(status.code, 422);
        status.details.unwrap().causes[0]
            .message
            .rsplit_once("}\": ")
            .unwrap()
            .1
            .to_owned()
    };
    assert_eq!(
        refused(br#"{"data":{"y":5}}"#),
        "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
    );
    assert_eq!(
        refused(br#"{"apiVersion":"v2"}"#),
        "no kind \"ConfigMap\" is registered for version \"v2\" in scheme \"pkg/api/legacyscheme/scheme.go:30\""
    );
    assert_eq!(
        refused(br#"{"kind":"Secret"}"#),
        "illegal base64 data at input byte 0"
    );
}

#[test]
fn a_result_that_is_too_large_is_refused() {
    let operations: Vec<Value> = (0..3)
        .map(|at| json!({"op": "add", "path": format!("/data/{at}"), "value": "x".repeat(1_048_576)}))
        .collect();
    let end = patched(PatchType::Json, &Value::from(operations).to_string());
    assert_eq!(end.unwrap_err().0, 413);
}

/// JSON of a few levels with the names that the merges look at.
fn any_json() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "a",
        "b",
        "name",
        "spec",
        "containers",
        "env",
        "finalizers",
        "metadata",
        "$patch",
        "$retainKeys",
        "$setElementOrder/containers",
        "$deleteFromPrimitiveList/finalizers",
        "data",
        "op",
        "path",
        "value",
        "from",
    ]);
    let text = prop::sample::select(vec![
        "a", "b", "delete", "replace", "add", "test", "copy", "move", "/a", "/a/-", "/a/0",
        "/b/-1", "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..5).prop_map(|members| {
                Value::Object(
                    members
                        .into_iter()
                        .map(|(k, v)| (k.to_owned(), v))
                        .collect(),
                )
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_patch_of_any_shape_panics(object in any_json(), patch in any_json()) {
        let bytes = patch.to_string();
        for patch_type in [PatchType::Json, PatchType::Merge, PatchType::Strategic, PatchType::Apply] {
            for (group, plural) in [("", "pods"), ("", "configmaps"), ("apps", "deployments")] {
                let resource = Catalog::builtin().resource(group, "v1", plural).unwrap();
                let raw = apply_raw(resource, patch_type, &object, bytes.as_bytes());
                prop_assert!(raw.is_ok_and(|v| depth_of(&v) <= DEPTH_MAX) || apply(resource, patch_type, &object, bytes.as_bytes()).is_err());
            }
        }
    }

    #[test]
    fn a_merge_done_twice_is_done_once(object in any_json(), patch in any_json()) {
        let mut once = object;
        merge(&mut once, patch.clone());
        let mut twice = once.clone();
        merge(&mut twice, patch);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn a_merge_into_nothing_leaves_no_null(patch in any_json()) {
        fn has_null(value: &Value) -> bool {
            value.as_object().is_some_and(|m| m.values().any(|v| v.is_null() || has_null(v)))
        }
        let mut object = json!({});
        merge(&mut object, patch);
        prop_assert!(!has_null(&object));
    }

    #[test]
    fn an_empty_patch_changes_nothing(object in any_json()) {
        for (patch_type, patch) in [(PatchType::Json, "[]"), (PatchType::Merge, "{}"), (PatchType::Strategic, "{}")] {
            let wrapped = json!({"spec": object});
            prop_assert_eq!(apply_raw(configmaps(), patch_type, &wrapped, patch.as_bytes()), Ok(wrapped));
        }
    }

    #[test]
    fn a_list_of_maps_keeps_each_name_once(names in prop::collection::vec("[a-d]", 0..5), more in prop::collection::vec("[a-f]", 0..5)) {
        let list = |names: &[String]| {
            let mut seen = Vec::new();
            names.iter().filter(|n| { let new = !seen.contains(*n); seen.push((*n).clone()); new })
                .map(|n| json!({"name": n})).collect::<Vec<_>>()
        };
        let mut pod = json!({"spec": {"containers": list(&names)}});
        let Value::Object(patch) = json!({"spec": {"containers": list(&more)}}) else { unreachable!() };
        merge_strategic("Pod", &mut pod, patch).unwrap();
        let merged = pod["spec"]["containers"].as_array().cloned().unwrap_or_default();
        let mut found: Vec<String> = merged.iter().map(Value::to_string).collect();
        found.sort();
        let mut all: Vec<String> = list(&[names, more].concat()).iter().map(Value::to_string).collect();
        all.sort();
        prop_assert_eq!(found, all);
    }
}
