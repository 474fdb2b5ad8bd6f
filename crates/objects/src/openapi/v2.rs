//! OpenAPI 2.0: one document for everything.

use serde_json::{Map, Value, json};

use super::dialect::Dialect;
use super::operation::{self, Action, Operation, PathItem};
use super::{schema, v3};
use crate::catalog::Catalog;

const REFERENCE: &str = "#/definitions/";

/// The document of the whole catalog.
pub(super) fn document(catalog: &Catalog, server: &str) -> Value {
    let mut paths = Map::new();
    for resource in catalog.iter() {
        let root = format!("/{}", super::path_of(&resource.group, &resource.version));
        paths.extend(DIALECT.paths(resource, &root));
    }
    paths.sort_keys();
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": server},
        "paths": paths,
        "definitions": schema::all(catalog.iter().map(AsRef::as_ref), REFERENCE),
        "parameters": {},
        "securityDefinitions": {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}},
        "security": [{"BearerToken": []}],
    })
}

const DIALECT: Dialect = Dialect {
    typed: |kind| json!({"type": kind, "uniqueItems": true}),
    operation: operation_of,
};

fn operation_of(item: &PathItem<'_>, operation: &Operation) -> Value {
    let (group, version, kind) = schema::kind_of(item);
    let query = operation.action.parameters().iter();
    let mut parameters: Vec<Value> = query
        .map(|(name, kind)| DIALECT.parameter(name, "query", kind.as_str()))
        .collect();
    let (body, consumes): (Option<String>, &[&str]) = match operation.action {
        Action::Post | Action::Put => (Some(schema::name_of(&group, &version, &kind)), &["*/*"]),
        Action::Patch => (
            Some(schema::meta("Patch")),
            &[
                "application/json-patch+json",
                "application/merge-patch+json",
                "application/apply-patch+yaml",
            ],
        ),
        Action::Delete | Action::DeleteCollection => {
            (Some(schema::meta("DeleteOptions")), &["*/*"])
        }
        Action::Get | Action::List | Action::Watch | Action::WatchList | Action::Connect => {
            (None, &["*/*"])
        }
    };
    if let Some(body) = body {
        let required = !matches!(operation.action, Action::Delete | Action::DeleteCollection);
        let schema = json!({"$ref": format!("{REFERENCE}{body}")});
        parameters
            .push(json!({"name": "body", "in": "body", "required": required, "schema": schema}));
    }
    let answer = json!({"$ref": format!("{REFERENCE}{}", schema::answer(item, operation))});
    json!({
        "tags": [v3::tag(item)],
        "operationId": operation::id(item, operation),
        "consumes": consumes,
        "produces": ["application/json", "application/yaml"],
        "schemes": ["https"],
        "parameters": parameters,
        "responses": {"200": {"description": "OK", "schema": answer}, "401": {"description": "Unauthorized"}},
        "x-kubernetes-action": operation.action.as_str(),
        "x-kubernetes-group-version-kind": {"group": group, "version": version, "kind": kind},
    })
}
