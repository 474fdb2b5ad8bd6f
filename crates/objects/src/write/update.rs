//! A change of an object.

use masthead_api::{FieldError, Status};
use serde_json::Value;

use crate::catalog::Resource;
use crate::catalog::store_key;
use crate::meta::{check_finalizers, check_update, number, strings, text};
use crate::write::create::wrong_namespace;
use crate::write::decode::decode_body;
use crate::write::facts::{Facts, Unconditional, is};
use crate::write::{WriteContext, checks, defaults, prepare};

/// Which part of an object an update is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateOf {
    /// The object without its status.
    Object,
    /// The subresource `status`.
    Status,
    /// The subresource `finalize` of a namespace.
    Finalize,
}

/// How an update was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// PUT: a uid in the body is a precondition.
    Put,
    /// PATCH: what the patch does not name is as it was.
    Patch,
}

/// What an update comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum UpdateOutcome {
    /// Nothing changes: no write, no event; the answer is the object as it is stored.
    Unchanged,
    /// This is to be stored.
    Write(Value),
    /// The last finalizer of an object that is being deleted goes: the stored object is to be
    /// removed as it is. The answer is this object, at the version that was stored.
    Remove(Value),
}

/// Checks that `body` names the object of the path.
///
/// # Errors
/// 400
pub fn check_address(
    resource: &Resource,
    path_namespace: &str,
    path_name: &str,
    body: &Value,
) -> Result<(), Status> {
    let name = text(body, "name");
    if name.is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({path_name} based on URL) was undeterminable: name must be provided"
        )));
    }
    if name != path_name {
        return Err(Status::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({path_name})"
        )));
    }
    let namespace = text(body, "namespace");
    if resource.is_namespaced() && !namespace.is_empty() && namespace != path_namespace {
        return Err(wrong_namespace());
    }
    Ok(())
}

/// What is stored when `old` is to become `new`.
///
/// # Errors
/// 400 for what is no such object, 409 for what is based on another version or uid, 422 for a
/// change that breaks a rule, 500 for a version that is none.
pub fn update(
    resource: &Resource,
    (of, verb): (UpdateOf, Verb),
    old: &Value,
    new: Value,
    ctx: &WriteContext,
) -> Result<UpdateOutcome, Status> {
    let mut new = decode_body(resource, new)?;
    let (namespace, name) = (text(old, "namespace"), text(old, "name"));
    check_address(resource, namespace, name, &new)?;
    if verb == Verb::Put {
        check_uid(resource, old, &new)?;
    }
    check_version(resource, old, &new)?;
    if !namespace.is_empty() {
        prepare::set_metadata(&mut new, "namespace", namespace.into());
    }
    prepare::set_metadata(
        &mut new,
        "resourceVersion",
        text(old, "resourceVersion").into(),
    );
    prepare::for_update(resource, of, old, &mut new, &ctx.now);
    defaults::apply(resource, &mut new);
    prepare::next_generation(resource, of, old, &mut new);

    let errors = violations(resource, of, old, &new);
    if !errors.is_empty() {
        return Err(Status::invalid(
            &resource.group,
            &resource.kind,
            name,
            &errors,
        ));
    }
    Ok(if is_last_step_of_deletion(resource, old, &new) {
        UpdateOutcome::Remove(new)
    } else if *old == new {
        UpdateOutcome::Unchanged
    } else {
        UpdateOutcome::Write(new)
    })
}

/// The rules that the change breaks.
fn violations(resource: &Resource, of: UpdateOf, old: &Value, new: &Value) -> Vec<FieldError> {
    // Told twice, by the store and by the kind; a message says the same thing once.
    let mut errors = check_update(old, new);
    errors.extend(errors.clone());
    errors.extend(checks::check_update(resource, old, new));
    if strings(old, "finalizers") != strings(new, "finalizers") {
        errors.extend(check_finalizers(resource, new));
    }
    if of != UpdateOf::Status {
        errors.extend(checks::check(resource, new));
    }
    errors
}

fn check_uid(resource: &Resource, old: &Value, new: &Value) -> Result<(), Status> {
    let (wanted, found) = (text(new, "uid"), text(old, "uid"));
    if wanted.is_empty() || wanted == found {
        return Ok(());
    }
    let name = text(old, "name");
    let key = store_key(resource, text(old, "namespace"), name);
    let detail = format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
    );
    Err(Status::conflict(
        &resource.group,
        &resource.plural,
        name,
        &detail,
    ))
}

fn check_version(resource: &Resource, old: &Value, new: &Value) -> Result<(), Status> {
    let wanted = text(new, "resourceVersion");
    let version = masthead_api::parse_resource_version(wanted).map_err(|_| {
        let why = if wanted.bytes().all(|b| b.is_ascii_digit()) {
            "value out of range"
        } else {
            "invalid syntax"
        };
        let quoted = masthead_api::go_quote(wanted);
        Status::bare_500(format!("strconv.ParseUint: parsing {quoted}: {why}"))
    })?;
    let name = text(old, "name");
    if version == 0 {
        if Facts::of(resource).unconditional == Unconditional::Allowed {
            return Ok(());
        }
        let detail = "must be specified for an update";
        let error = FieldError::invalid("metadata.resourceVersion", 0, detail);
        return Err(Status::invalid(
            &resource.group,
            &resource.kind,
            name,
            &[error],
        ));
    }
    if wanted == text(old, "resourceVersion") {
        return Ok(());
    }
    Err(Status::conflict_modified(
        &resource.group,
        &resource.plural,
        name,
    ))
}

/// Nothing holds the object any longer, and its grace period is over.
fn is_last_step_of_deletion(resource: &Resource, old: &Value, new: &Value) -> bool {
    let spec_finalizers = || new.pointer("/spec/finalizers").and_then(Value::as_array);
    !text(old, "deletionTimestamp").is_empty()
        && strings(new, "finalizers").is_empty()
        && number(old, "deletionGracePeriodSeconds").unwrap_or(0) == 0
        && !(is(resource, "", "namespaces") && spec_finalizers().is_some_and(|l| !l.is_empty()))
}
