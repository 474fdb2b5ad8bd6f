//! Rules of single kinds beyond their metadata: those that are cheap and often met.

use masthead_api::FieldError;
use serde_json::Value;

use crate::catalog::{Resource, Wire};
use crate::meta::check_finalizer_domain;

/// All data of one config map or secret together.
const DATA_BYTES_MAX: usize = 1024 * 1024;
/// Longest key of such data.
const DATA_KEY_MAX: usize = 253;

const DATA_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const IMMUTABLE: &str = "field is immutable when `immutable` is set";

/// Members that may not change once they are there: group, plural, JSON pointer, field.
const FIXED: &[(&str, &str, &str, &str)] = &[
    ("", "secrets", "/type", "type"),
    ("apps", "daemonsets", "/spec/selector", "spec.selector"),
    ("apps", "deployments", "/spec/selector", "spec.selector"),
    ("apps", "replicasets", "/spec/selector", "spec.selector"),
    (
        "batch",
        "jobs",
        "/spec/completionMode",
        "spec.completionMode",
    ),
    ("batch", "jobs", "/spec/selector", "spec.selector"),
    (
        "rbac.authorization.k8s.io",
        "clusterrolebindings",
        "/roleRef",
        "roleRef",
    ),
    (
        "rbac.authorization.k8s.io",
        "rolebindings",
        "/roleRef",
        "roleRef",
    ),
    ("scheduling.k8s.io", "priorityclasses", "/value", "value"),
    (
        "storage.k8s.io",
        "storageclasses",
        "/provisioner",
        "provisioner",
    ),
];

/// Numbers that may not be negative: group, plural, JSON pointer, field.
const NOT_NEGATIVE: &[(&str, &str, &str, &str)] = &[
    (
        "",
        "replicationcontrollers",
        "/spec/replicas",
        "spec.replicas",
    ),
    ("apps", "deployments", "/spec/replicas", "spec.replicas"),
    ("apps", "replicasets", "/spec/replicas", "spec.replicas"),
    ("apps", "statefulsets", "/spec/replicas", "spec.replicas"),
];

/// Keys that a secret of a type must have.
const SECRET_KEYS: &[(&str, &[&str])] = &[
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
];

/// What is wrong with an object of `resource` on its own.
pub(super) fn check(resource: &Resource, object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if resource.wire == Wire::Custom {
        return errors;
    }
    match (resource.group.as_ref(), resource.plural.as_ref()) {
        ("", "configmaps") => check_data(object, &["data", "binaryData"], "[]", &mut errors),
        ("", "secrets") => {
            check_data(object, &["data"], "data", &mut errors);
            check_secret_type(object, &mut errors);
        }
        ("", "namespaces") => {
            let names = object.pointer("/spec/finalizers").and_then(Value::as_array);
            for name in names.into_iter().flatten().filter_map(Value::as_str) {
                errors.extend(check_finalizer_domain("spec.finalizers", name));
            }
        }
        _ => {}
    }
    for (_, _, pointer, field) in NOT_NEGATIVE.iter().filter(|&row| is_row(resource, row)) {
        if let Some(number) = object
            .pointer(pointer)
            .and_then(Value::as_i64)
            .filter(|n| *n < 0)
        {
            errors.push(not_negative(field, number));
        }
    }
    errors
}

/// The error of a number below zero.
pub(super) fn not_negative(field: &str, number: i64) -> FieldError {
    FieldError::invalid(field, number, "must be greater than or equal to 0")
}

/// What a change from `old` to `new` breaks.
pub(super) fn check_update(resource: &Resource, old: &Value, new: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if resource.wire == Wire::Custom {
        return errors;
    }
    if matches!(resource.kind.as_ref(), "ConfigMap" | "Secret")
        && old.get("immutable").and_then(Value::as_bool) == Some(true)
    {
        if new.get("immutable").and_then(Value::as_bool) != Some(true) {
            errors.push(FieldError::forbidden("immutable", IMMUTABLE));
        }
        for name in ["data", "binaryData"] {
            if old.get(name) != new.get(name) {
                errors.push(FieldError::forbidden(name, IMMUTABLE));
            }
        }
    }
    if resource.kind.as_ref() == "Node" {
        let range = |node: &Value| node.pointer("/spec/podCIDR").cloned();
        if range(old).is_some() && range(old) != range(new) {
            let detail = "node updates may not change podCIDR except from \"\" to valid";
            errors.push(FieldError::forbidden("spec.podCIDRs", detail));
        }
    }
    for (_, _, pointer, field) in FIXED.iter().filter(|&row| is_row(resource, row)) {
        let (before, after) = (old.pointer(pointer), new.pointer(pointer));
        if before.is_some() && before != after {
            let after = after.cloned().unwrap_or_default();
            errors.push(FieldError::invalid(*field, after, "field is immutable"));
        }
    }
    errors
}

fn check_secret_type(secret: &Value, errors: &mut Vec<FieldError>) {
    let kind = secret
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let has = |key: &str| {
        secret
            .get("data")
            .is_some_and(|data| data.get(key).is_some())
    };
    let required = |key: &&str| FieldError::required(format!("data[{key}]"), "");
    if let Some((_, keys)) = SECRET_KEYS.iter().find(|(k, _)| *k == kind) {
        errors.extend(keys.iter().filter(|key| !has(key)).map(required));
    }
    // One of the two is enough.
    if kind == "kubernetes.io/basic-auth" && !has("username") && !has("password") {
        errors.extend(["username", "password"].iter().map(required));
    }
    let account = "kubernetes.io/service-account.name";
    if kind == "kubernetes.io/service-account-token"
        && crate::meta::metadata(secret)
            .and_then(|m| m.get("annotations")?.get(account)?.as_str())
            .is_none_or(str::is_empty)
    {
        errors.push(FieldError::required(
            format!("metadata.annotations[{account}]"),
            "",
        ));
    }
}

fn is_row(resource: &Resource, row: &(&str, &str, &str, &str)) -> bool {
    resource.group.as_ref() == row.0 && resource.plural.as_ref() == row.1
}

fn check_data(object: &Value, maps: &[&str], field: &str, errors: &mut Vec<FieldError>) {
    let mut bytes = 0;
    for map in maps {
        for (key, value) in object
            .get(map)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let text = value.as_str().unwrap_or_default();
            let is_encoded = *map == "binaryData" || field == "data";
            let len = crate::write::base64::decoded_len(text).unwrap_or(text.len());
            bytes += if is_encoded { len } else { text.len() };
            for complaint in data_key(key) {
                errors.push(FieldError::invalid(
                    format!("{map}[{key}]"),
                    key.as_str(),
                    complaint,
                ));
            }
            if *map == "binaryData" && object.get("data").is_some_and(|d| d.get(key).is_some()) {
                let field = format!("data[{key}]");
                errors.push(FieldError::invalid(
                    field,
                    key.as_str(),
                    "duplicate of key present in binaryData",
                ));
            }
        }
    }
    if bytes > DATA_BYTES_MAX {
        errors.push(FieldError::too_long(field, DATA_BYTES_MAX));
    }
}

fn data_key(key: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if key.len() > DATA_KEY_MAX {
        complaints.push(format!("must be no more than {DATA_KEY_MAX} bytes"));
    }
    let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    if key.is_empty() || !key.bytes().all(good) {
        complaints.push(DATA_KEY.to_owned());
    }
    match key {
        "." => complaints.push("must not be '.'".to_owned()),
        ".." => complaints.push("must not be '..'".to_owned()),
        _ if key.starts_with("..") => complaints.push("must not start with '..'".to_owned()),
        _ => {}
    }
    complaints
}
