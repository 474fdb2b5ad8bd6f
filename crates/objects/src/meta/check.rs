//! What is wrong with an object's metadata, on its own and against what it was before.

use std::collections::BTreeMap;

use masthead_api::{FieldError, label_value_errors, qualified_name_errors};
use serde_json::Value;

use crate::catalog::Resource;
use crate::meta::{NameForm, NameRule, list, metadata, number, owners, strings, text};

/// All annotations of one object together.
const ANNOTATION_BYTES_MAX: usize = 256 * 1024;

/// Finalizers without a domain that mean something.
const STANDARD_FINALIZERS: &[&str] = &["kubernetes", "orphan", "foregroundDeletion"];

const NOT_QUALIFIED: &str = "name is neither a standard finalizer name nor is it fully qualified";

/// Groups whose own finalizers need no domain.
const LENIENT_GROUPS: &[&str] = &[
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "admissionregistration.k8s.io",
];

/// What is wrong with the metadata of a new object.
pub fn check_new(resource: &Resource, object: &Value) -> Vec<FieldError> {
    let rule = NameRule::of(resource);
    let mut errors = Vec::new();
    let (name, prefix) = (text(object, "name"), text(object, "generateName"));
    if !prefix.is_empty() {
        let complaints = rule.complaints(prefix, NameForm::Prefix);
        errors.extend(all_invalid("metadata.generateName", prefix, complaints));
    }
    if name.is_empty() {
        errors.push(FieldError::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else {
        let complaints = rule.complaints(name, NameForm::Whole);
        errors.extend(all_invalid("metadata.name", name, complaints));
    }
    check_namespace(resource, text(object, "namespace"), &mut errors);
    if let Some(generation) = number(object, "generation").filter(|generation| *generation < 0) {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(
            "metadata.generation",
            generation,
            detail,
        ));
    }
    errors.extend(check_maps(object));
    errors.extend(check_finalizers(resource, object));
    errors
}

/// What a change from `old` to `new` breaks in the metadata.
pub fn check_update(old: &Value, new: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if !text(old, "deletionTimestamp").is_empty() {
        let before = strings(old, "finalizers");
        let mut added: Vec<&str> = strings(new, "finalizers")
            .into_iter()
            .filter(|f| !before.contains(f))
            .collect();
        added.sort_unstable();
        added.dedup();
        if !added.is_empty() {
            let added: Vec<String> = added.iter().map(|f| format!("{f:?}")).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.join(", ")
            );
            errors.push(FieldError::forbidden("metadata.finalizers", detail));
        }
    }
    for name in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let at = |object| metadata(object).and_then(|m| m.get(name)).cloned();
        let (before, after) = (at(old), at(new));
        if before != after {
            let field = format!("metadata.{name}");
            let after = after.unwrap_or_default();
            errors.push(FieldError::invalid(field, after, "field is immutable"));
        }
    }
    errors.extend(check_maps(new));
    errors
}

fn all_invalid(field: &str, value: &str, complaints: Vec<String>) -> Vec<FieldError> {
    complaints
        .into_iter()
        .map(|complaint| FieldError::invalid(field, value, complaint))
        .collect()
}

fn check_namespace(resource: &Resource, namespace: &str, errors: &mut Vec<FieldError>) {
    let field = "metadata.namespace";
    if !resource.is_namespaced() {
        if !namespace.is_empty() {
            errors.push(FieldError::forbidden(field, "not allowed on this type"));
        }
    } else if namespace.is_empty() {
        errors.push(FieldError::required(field, ""));
    } else {
        let complaints = NameRule::Label.complaints(namespace, NameForm::Whole);
        errors.extend(all_invalid(field, namespace, complaints));
    }
}

/// Labels, annotations and owners: checked on every write.
fn check_maps(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (key, value) in members(object, "labels") {
        errors.extend(all_invalid(
            "metadata.labels",
            key,
            qualified_name_errors(key),
        ));
        errors.extend(all_invalid(
            "metadata.labels",
            value,
            label_value_errors(value),
        ));
    }
    let mut bytes = 0;
    for (key, value) in members(object, "annotations") {
        bytes += key.len() + value.len();
        let complaints = qualified_name_errors(&key.to_lowercase());
        errors.extend(all_invalid("metadata.annotations", key, complaints));
    }
    if bytes > ANNOTATION_BYTES_MAX {
        errors.push(FieldError::too_long(
            "metadata.annotations",
            ANNOTATION_BYTES_MAX,
        ));
    }
    errors.extend(owners::check(list(object, "ownerReferences")));
    errors
}

/// Finalizers: their form, and that the two that exclude each other are not both there.
pub(crate) fn check_finalizers(resource: &Resource, object: &Value) -> Vec<FieldError> {
    let finalizers = strings(object, "finalizers");
    let mut errors = Vec::new();
    for name in &finalizers {
        errors.extend(all_invalid(
            "metadata.finalizers",
            name,
            qualified_name_errors(name),
        ));
    }
    if finalizers.contains(&"orphan") && finalizers.contains(&"foregroundDeletion") {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid(
            "metadata.finalizers",
            finalizers.clone(),
            detail,
        ));
    }
    if !LENIENT_GROUPS.contains(&resource.group.as_ref()) {
        for (at, name) in finalizers.iter().enumerate() {
            errors.extend(check_finalizer_domain(
                &format!("metadata.finalizers[{at}]"),
                name,
            ));
        }
    }
    errors
}

/// A finalizer must be one of the known words, or carry the domain of whoever removes it.
pub(crate) fn check_finalizer_domain(field: &str, name: &str) -> Option<FieldError> {
    let known = name.contains('/') || STANDARD_FINALIZERS.contains(&name);
    (!known).then(|| FieldError::invalid(field, name, NOT_QUALIFIED))
}

fn members<'v>(object: &'v Value, name: &str) -> BTreeMap<&'v str, &'v str> {
    let map = metadata(object)
        .and_then(|m| m.get(name))
        .and_then(Value::as_object);
    map.into_iter()
        .flatten()
        .map(|(k, v)| (k.as_str(), v.as_str().unwrap_or_default()))
        .collect()
}
