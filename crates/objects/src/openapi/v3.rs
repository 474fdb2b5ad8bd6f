//! OpenAPI 3.0: one document for each group-version.

use serde_json::{Map, Value, json};

use super::dialect::Dialect;
use super::operation::{self, Action, Operation, PathItem};
use super::schema;
use crate::catalog::Catalog;

const REFERENCE: &str = "#/components/schemas/";
const ANSWER_TYPES: [&str; 2] = ["application/json", "application/yaml"];
/// Strategic merge patches are taken, but not named here: a client that finds them computes its
/// patch from the schemas, and these have no members yet.
const PATCH_TYPES: [&str; 3] = [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
];

fn frame(version: &str, paths: &Map<String, Value>, schemas: &Map<String, Value>) -> Value {
    json!({
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": version},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}},
        },
    })
}

/// The document of a path that only answers with a document.
pub(super) fn plain(path: &str, version: &str) -> Value {
    let get = json!({"get": {"responses": {"200": {"description": "OK", "content": {"application/json": {}}}}}});
    frame(
        version,
        &[(path.to_owned(), get)].into_iter().collect(),
        &Map::new(),
    )
}

/// The document of one group-version.
pub(super) fn document(catalog: &Catalog, group: &str, version: &str, server: &str) -> Value {
    let root = format!("/{}", super::path_of(group, version));
    let mut paths = Map::new();
    let list = json!({"description": "OK", "content": content(&ANSWER_TYPES, &schema::meta("APIResourceList"))});
    paths.insert(
        format!("{root}/"),
        json!({"get": {"responses": {"200": list}}}),
    );
    for resource in catalog.resources(group, version) {
        paths.extend(DIALECT.paths(resource, &root));
    }
    paths.sort_keys();
    let resources = catalog.resources(group, version).map(AsRef::as_ref);
    frame(server, &paths, &schema::all(resources, REFERENCE))
}

fn content(types: &[&str], schema: &str) -> Value {
    let reference = json!({"schema": {"$ref": format!("{REFERENCE}{schema}")}});
    types
        .iter()
        .map(|kind| ((*kind).to_owned(), reference.clone()))
        .collect::<Map<_, _>>()
        .into()
}

const DIALECT: Dialect = Dialect {
    typed: |kind| json!({"schema": {"type": kind, "uniqueItems": true}}),
    operation: operation_of,
};

fn operation_of(item: &PathItem<'_>, operation: &Operation) -> Value {
    let (group, version, kind) = schema::kind_of(item);
    let query = operation.action.parameters().iter();
    let parameters: Vec<Value> = query
        .map(|(name, kind)| DIALECT.parameter(name, "query", kind.as_str()))
        .collect();
    let answer = json!({"description": "OK", "content": content(&ANSWER_TYPES, &schema::answer(item, operation))});
    let mut responses = Map::new();
    responses.insert("200".to_owned(), answer.clone());
    if matches!(operation.action, Action::Post | Action::Put | Action::Patch) {
        responses.insert("201".to_owned(), answer);
    }
    responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
    let mut out = Map::new();
    let mut add = |key: &str, value: Value| out.insert(key.to_owned(), value);
    add("tags", json!([tag(item)]));
    add("operationId", operation::id(item, operation).into());
    add("parameters", parameters.into());
    if let Some(body) = body(operation, &schema::name_of(&group, &version, &kind)) {
        add("requestBody", body);
    }
    add("responses", responses.into());
    add("x-kubernetes-action", operation.action.as_str().into());
    let of = json!({"group": group, "version": version, "kind": kind});
    add("x-kubernetes-group-version-kind", of);
    out.into()
}

fn body(operation: &Operation, own: &str) -> Option<Value> {
    match operation.action {
        Action::Post | Action::Put => {
            Some(json!({"content": content(&["*/*"], own), "required": true}))
        }
        Action::Patch => Some(
            json!({"content": content(&PATCH_TYPES, &schema::meta("Patch")), "required": true}),
        ),
        Action::Delete | Action::DeleteCollection => {
            Some(json!({"content": content(&["*/*"], &schema::meta("DeleteOptions"))}))
        }
        Action::Get | Action::List | Action::Watch | Action::WatchList | Action::Connect => None,
    }
}

/// `apps_v1`
pub(super) fn tag(item: &PathItem<'_>) -> String {
    let group = item
        .resource
        .group
        .trim_end_matches(".k8s.io")
        .replace('.', "_");
    format!(
        "{}_{}",
        if group.is_empty() { "core" } else { &group },
        item.resource.version
    )
}
