//! What owner references must look like.

use masthead_api::FieldError;
use serde_json::Value;

const PATH: &str = "metadata.ownerReferences";

/// What is wrong with a list of owner references.
pub(super) fn check(owners: &[Value]) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut controller: Option<String> = None;
    for owner in owners {
        check_one(owner, &mut errors);
        if owner.get("controller").and_then(Value::as_bool) != Some(true) {
            continue;
        }
        let name = format!("{}/{}", text(owner, "kind"), text(owner, "name"));
        if let Some(first) = &controller {
            let detail = format!(
                "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
            );
            errors.push(FieldError::invalid(PATH, owners.to_vec(), detail));
        } else {
            controller = Some(name);
        }
    }
    errors
}

fn check_one(owner: &Value, errors: &mut Vec<FieldError>) {
    let api_version = text(owner, "apiVersion");
    let (group, version) = match api_version.split_once('/') {
        None => ("", api_version),
        Some((_, version)) if version.contains('/') => ("", ""),
        Some(parts) => parts,
    };
    let kind = text(owner, "kind");
    if version.is_empty() {
        let field = format!("{PATH}.apiVersion");
        errors.push(FieldError::invalid(
            field,
            api_version,
            "version must not be empty",
        ));
    }
    for name in ["kind", "name", "uid"] {
        if text(owner, name).is_empty() {
            errors.push(FieldError::invalid(
                format!("{PATH}.{name}"),
                "",
                "must not be empty",
            ));
        }
    }
    if (group, version, kind) == ("", "v1", "Event") {
        let detail = "/v1, Kind=Event is disallowed from being an owner";
        errors.push(FieldError::invalid(PATH, owner.clone(), detail));
    }
}

fn text<'v>(owner: &'v Value, name: &str) -> &'v str {
    owner.get(name).and_then(Value::as_str).unwrap_or_default()
}
