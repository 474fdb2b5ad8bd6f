//! [`Dialect`]: what the two versions of OpenAPI print in the same way, and in what they differ.

use serde_json::{Map, Value, json};

use super::operation::{self, Operation, PathItem};
use crate::catalog::Resource;

/// In what one version differs.
pub(super) struct Dialect {
    /// How a parameter says its type.
    pub(super) typed: fn(&str) -> Value,
    /// How an operation is printed.
    pub(super) operation: fn(&PathItem<'_>, &Operation) -> Value,
}

impl Dialect {
    /// One parameter.
    pub(super) fn parameter(&self, name: &str, place: &str, kind: &str) -> Value {
        let mut parameter = Map::new();
        parameter.insert("name".to_owned(), name.into());
        parameter.insert("in".to_owned(), place.into());
        if let Value::Object(typed) = (self.typed)(kind) {
            parameter.extend(typed);
        }
        if place == "path" {
            parameter.insert("required".to_owned(), json!(true));
        }
        parameter.into()
    }

    /// All paths of `resource` below `root`, printed.
    pub(super) fn paths(
        &self,
        resource: &Resource,
        root: &str,
    ) -> impl Iterator<Item = (String, Value)> {
        let items = operation::paths(resource, root).into_iter();
        items.map(|item| {
            let printed = self.path_item(&item);
            (item.path, printed)
        })
    }

    fn path_item(&self, item: &PathItem<'_>) -> Value {
        let operations = item.operations.iter();
        let mut out: Map<String, Value> = operations
            .map(|operation| {
                (
                    operation.method.to_owned(),
                    (self.operation)(item, operation),
                )
            })
            .collect();
        let mut parameters: Vec<Value> = item
            .path_parameters
            .iter()
            .map(|name| self.parameter(name, "path", "string"))
            .collect();
        parameters.push(self.parameter("pretty", "query", "string"));
        out.insert("parameters".to_owned(), parameters.into());
        out.into()
    }
}
