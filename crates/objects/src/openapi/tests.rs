use std::collections::BTreeSet;

use super::*;

fn openapi() -> OpenApi {
    OpenApi::new(Catalog::builtin(), "v1.36.2")
}

fn value(bytes: &Bytes) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn the_index_names_every_document_with_its_hash() {
    let openapi = openapi();
    let index = value(openapi.index());
    let paths = index["paths"].as_object().unwrap();
    for path in [
        "api/v1",
        "apis/apps/v1",
        "apis/autoscaling/v2",
        "apis/apps",
        "apis",
        "api",
        "version",
        "openid/v1/jwks",
    ] {
        let url = paths[path]["serverRelativeURL"].as_str().unwrap();
        let (_, hash) = openapi.document(path).unwrap();
        assert_eq!(url, format!("/openapi/v3/{path}?hash={hash}"));
        assert_eq!(hash.len(), 128);
    }
    assert!(openapi.document("apis/nope.example.com/v1").is_none());
}

#[test]
fn a_document_has_the_paths_of_its_resources() {
    let openapi = openapi();
    let document = value(openapi.document("apis/coordination.k8s.io/v1").unwrap().0);
    let paths: Vec<&str> = document["paths"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let root = "/apis/coordination.k8s.io/v1";
    let expected = [
        "/",
        "/leases",
        "/namespaces/{namespace}/leases",
        "/namespaces/{namespace}/leases/{name}",
        "/watch/leases",
        "/watch/namespaces/{namespace}/leases",
        "/watch/namespaces/{namespace}/leases/{name}",
    ];
    assert_eq!(paths, expected.map(|path| format!("{root}{path}")));
    let object = &document["paths"][format!("{root}/namespaces/{{namespace}}/leases/{{name}}")];
    let methods: Vec<&str> = object
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(methods, ["get", "put", "delete", "patch", "parameters"]);
    assert_eq!(
        object["get"]["operationId"],
        "readCoordinationV1NamespacedLease"
    );
}

#[test]
fn patching_a_kind_takes_field_validation_so_that_kubectl_leaves_it_to_the_server() {
    let openapi = openapi();
    for resource in Catalog::builtin().storages() {
        let path = path_of(&resource.group, &resource.version);
        let document = value(openapi.document(&path).unwrap().0);
        let wanted =
            json!({"group": resource.group, "version": resource.version, "kind": resource.kind});
        let patch = document["paths"]
            .as_object()
            .unwrap()
            .values()
            .find_map(|item| {
                let patch = item.get("patch")?;
                (patch["x-kubernetes-group-version-kind"] == wanted).then_some(patch)
            });
        let parameters = patch.unwrap()["parameters"].as_array().unwrap();
        assert!(
            parameters
                .iter()
                .any(|p| p["name"] == "fieldValidation" && p["in"] == "query")
        );
    }
}

/// Every `$ref` in `value`.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                match value {
                    Value::String(to) if key == "$ref" => {
                        found.insert(to.clone());
                    }
                    value => references(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn references_lead_somewhere_and_ids_are_unique() {
    let openapi = openapi();
    let mut ids = BTreeSet::new();
    let mut documents: Vec<Value> = openapi
        .documents
        .keys()
        .map(|path| value(openapi.document(path).unwrap().0))
        .collect();
    for document in &documents {
        for item in document["paths"].as_object().unwrap().values() {
            for operation in item
                .as_object()
                .unwrap()
                .values()
                .filter_map(|o| o.get("operationId"))
            {
                assert!(
                    ids.insert(operation.as_str().unwrap().to_owned()),
                    "{operation}"
                );
            }
        }
    }
    documents.push(value(openapi.v2()));
    for document in &documents {
        let mut found = BTreeSet::new();
        references(document, &mut found);
        for reference in found {
            assert!(document.pointer(&reference[1..]).is_some(), "{reference}");
        }
    }
}
