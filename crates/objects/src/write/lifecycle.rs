//! Whether a namespace takes new objects.

use masthead_api::{Status, StatusCause};
use serde_json::Value;

use crate::catalog::Resource;

/// May an object called `name` be created in `namespace`, which is `found`?
///
/// # Errors
/// 404 where there is no such namespace, 403 where it is being deleted.
pub fn check_namespace(
    resource: &Resource,
    name: &str,
    namespace: &str,
    found: Option<&Value>,
) -> Result<(), Status> {
    let Some(found) = found else {
        return Err(Status::not_found("namespaces", "", namespace));
    };
    if found.pointer("/status/phase").and_then(Value::as_str) != Some("Terminating") {
        return Ok(());
    }
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    let cause = StatusCause {
        reason: "NamespaceTerminating".to_owned(),
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    };
    Err(Status::forbidden(&resource.group, &resource.plural, name, &why).with_cause(cause))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::catalog::Catalog;

    #[test]
    fn a_namespace_takes_objects_until_it_is_deleted() {
        let resource = Catalog::builtin().resource("", "v1", "configmaps").unwrap();
        let check = |found: Option<Value>| {
            check_namespace(resource, "y", "n", found.as_ref()).map_err(|s| (s.code, s.message))
        };
        assert_eq!(check(Some(json!({"status": {"phase": "Active"}}))), Ok(()));
        assert_eq!(
            check(None),
            Err((404, "namespaces \"n\" not found".to_owned()))
        );
        let message = "configmaps \"y\" is forbidden: unable to create new content in namespace n because it is being terminated";
        assert_eq!(
            check(Some(json!({"status": {"phase": "Terminating"}}))),
            Err((403, message.to_owned()))
        );
    }
}
