//! The deletion of an object: at once, or marked and left to those whom its finalizers stand for.
//!
//! ```text
//!              no finalizers, no grace
//! alive ───────────────────────────────────────────────▶ gone
//!   │  finalizers, grace or a namespace                    ▲
//!   └─────────▶ marked (deletionTimestamp) ────────────────┘
//!                 │  ▲                    grace 0 and the last finalizer gone
//!                 └──┘ a shorter grace, other finalizers of the collector
//! ```

use masthead_api::Status;
use serde_json::Value;

use crate::catalog::Resource;
use crate::meta::{metadata_mut, number, strings, text};
use crate::write::facts::{Dependents, Facts, is};
use crate::write::prepare::{member, set_metadata};
use crate::write::{DeleteOptions, Propagation};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// How long a pod may take to end if nobody says how long.
const POD_GRACE_SECONDS: i64 = 30;

/// Namespaces that stay.
const PROTECTED: &[&str] = &["default", "kube-system", "kube-public"];

/// What a deletion comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum DeleteOutcome {
    /// The object is to be removed. The answer is what the resource answers with.
    Remove,
    /// This is to be stored; the object stays for a while. The answer is the object.
    Mark(Value),
    /// This is to be stored and then, in a commit of its own, to be removed.
    MarkThenRemove(Value),
    /// It is being deleted already, and nothing changes. The answer is the object as stored.
    Unchanged,
}

/// What becomes of `old` when it is to be deleted at the time `now` (`2024-01-01T00:00:00Z`).
///
/// # Errors
/// 403 for a namespace that stays, 409 for another object or version than the options name.
pub fn delete(
    resource: &Resource,
    old: &Value,
    options: &DeleteOptions,
    now: &str,
) -> Result<DeleteOutcome, Status> {
    if is(resource, "", "namespaces") {
        return delete_namespace(resource, old, options, now);
    }
    check_preconditions(resource, old, options)?;
    let grace = if resource.is_graceful() {
        pod_grace(old, options)
    } else {
        Grace::None
    };
    if grace == Grace::Pending {
        // A deletion may have been cut off between marking and removing: the next one finishes it.
        let over = number(old, "deletionGracePeriodSeconds") == Some(0);
        let removable = over && strings(old, "finalizers").is_empty();
        return Ok(if removable {
            DeleteOutcome::Remove
        } else {
            DeleteOutcome::Unchanged
        });
    }
    let mut new = old.clone();
    let finalizers = finalizers_after(Facts::of(resource).dependents, old, options);
    let held = !finalizers.is_empty();
    set_finalizers(&mut new, finalizers);
    match grace {
        Grace::None if !held => return Ok(DeleteOutcome::Remove),
        Grace::None | Grace::Pending => mark(&mut new, now),
        Grace::Seconds(seconds) => set_grace(&mut new, seconds, now),
    }
    Ok(match grace {
        Grace::Seconds(0) if !held && new == *old => DeleteOutcome::Remove,
        Grace::Seconds(0) if !held => DeleteOutcome::MarkThenRemove(new),
        _ if new == *old => DeleteOutcome::Unchanged,
        _ => DeleteOutcome::Mark(new),
    })
}

/// The warning that a deletion is answered with, if any.
pub fn delete_warning(resource: &Resource, options: &DeleteOptions) -> Option<&'static str> {
    let said = options.propagation.is_some() || options.orphan_dependents.is_some();
    (is(resource, "batch", "jobs") && !said).then_some(
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
    )
}

fn check_preconditions(
    resource: &Resource,
    old: &Value,
    options: &DeleteOptions,
) -> Result<(), Status> {
    let conflict = |detail: String| {
        let kind = &resource.kind;
        Err(Status::conflict(
            &resource.group,
            kind,
            text(old, "name"),
            &detail,
        ))
    };
    let (uid, version) = (text(old, "uid"), text(old, "resourceVersion"));
    if let Some(wanted) = options.uid.as_deref().filter(|wanted| *wanted != uid) {
        return conflict(format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might have been deleted and then recreated"
        ));
    }
    if let Some(wanted) = options
        .resource_version
        .as_deref()
        .filter(|wanted| *wanted != version)
    {
        return conflict(format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({version}). The object might have been modified"
        ));
    }
    Ok(())
}

/// What a deletion does to an object's grace period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grace {
    /// The kind has none, or the object's is over.
    None,
    /// It runs, and this deletion does not shorten it.
    Pending,
    /// It is set to this.
    Seconds(i64),
}

fn pod_grace(pod: &Value, options: &DeleteOptions) -> Grace {
    // A negative period means as soon as possible, but with grace.
    let asked = options
        .grace_period_seconds
        .map(|seconds| if seconds < 0 { 1 } else { seconds });
    if !text(pod, "deletionTimestamp").is_empty() {
        let Some(running) = number(pod, "deletionGracePeriodSeconds") else {
            return Grace::None;
        };
        return asked
            .filter(|asked| *asked < running)
            .map_or(Grace::Pending, Grace::Seconds);
    }
    let at = |pointer| {
        pod.pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    if at("/spec/nodeName").is_empty() || matches!(at("/status/phase"), "Failed" | "Succeeded") {
        return Grace::Seconds(0);
    }
    let own = pod
        .pointer("/spec/terminationGracePeriodSeconds")
        .and_then(Value::as_i64);
    let seconds = asked.or(own).unwrap_or(POD_GRACE_SECONDS);
    Grace::Seconds(if seconds < 0 { 1 } else { seconds })
}

/// The finalizers without those of the collector, and with the one that this deletion needs.
fn finalizers_after(default: Dependents, old: &Value, options: &DeleteOptions) -> Vec<String> {
    let finalizers = strings(old, "finalizers");
    if default == Dependents::Unsupported {
        return finalizers.into_iter().map(str::to_owned).collect();
    }
    let said = match (options.orphan_dependents, options.propagation) {
        (Some(true), _) => Some(Propagation::Orphan),
        (Some(false), _) => Some(Propagation::Background),
        (None, said) => said,
    };
    let kept = || match finalizers
        .iter()
        .find(|name| matches!(**name, ORPHAN | FOREGROUND))
    {
        Some(&ORPHAN) => Propagation::Orphan,
        Some(_) => Propagation::Foreground,
        None if default == Dependents::Orphan => Propagation::Orphan,
        None => Propagation::Background,
    };
    let added = match said.unwrap_or_else(kept) {
        Propagation::Background => None,
        Propagation::Foreground => Some(FOREGROUND),
        Propagation::Orphan => Some(ORPHAN),
    };
    if added.is_some_and(|name| finalizers.contains(&name))
        && !(finalizers.contains(&ORPHAN) && finalizers.contains(&FOREGROUND))
    {
        return finalizers.into_iter().map(str::to_owned).collect();
    }
    let rest = finalizers
        .iter()
        .copied()
        .filter(|name| !matches!(*name, ORPHAN | FOREGROUND));
    rest.chain(added).map(str::to_owned).collect()
}

fn set_finalizers(object: &mut Value, finalizers: Vec<String>) {
    if finalizers.is_empty() {
        metadata_mut(object).map(|metadata| metadata.shift_remove("finalizers"));
    } else {
        set_metadata(object, "finalizers", finalizers.into());
    }
}

/// Marks an object of a kind without grace: it is only waiting for its finalizers.
fn mark(object: &mut Value, now: &str) {
    if number(object, "deletionGracePeriodSeconds").is_none() {
        count_generation(object);
    }
    // Times of this form compare as texts.
    let marked = text(object, "deletionTimestamp");
    if marked.is_empty() || marked > now {
        set_metadata(object, "deletionTimestamp", now.into());
    }
    set_metadata(object, "deletionGracePeriodSeconds", 0.into());
}

/// Sets the grace period; the time of deletion is when it is over.
fn set_grace(object: &mut Value, seconds: i64, now: &str) {
    let marked = text(object, "deletionTimestamp").to_owned();
    let time = if marked.is_empty() {
        count_generation(object);
        later(now, seconds)
    } else {
        let before = number(object, "deletionGracePeriodSeconds").unwrap_or(0);
        later(&marked, seconds.saturating_sub(before))
    };
    set_metadata(object, "deletionTimestamp", time.into());
    set_metadata(object, "deletionGracePeriodSeconds", seconds.into());
}

fn count_generation(object: &mut Value) {
    if let Some(generation) = number(object, "generation").filter(|generation| *generation > 0) {
        set_metadata(object, "generation", generation.saturating_add(1).into());
    }
}

/// `time` and `seconds` more, as far as there are times.
fn later(time: &str, seconds: i64) -> String {
    let Ok(time) = time.parse::<jiff::Timestamp>() else {
        return time.to_owned();
    };
    let moved = time.as_second().saturating_add(seconds);
    let last = jiff::Timestamp::MAX;
    let moved = jiff::Timestamp::from_second(moved).unwrap_or(last);
    moved.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn delete_namespace(
    resource: &Resource,
    old: &Value,
    options: &DeleteOptions,
    now: &str,
) -> Result<DeleteOutcome, Status> {
    let name = text(old, "name");
    if PROTECTED.contains(&name) {
        let why = "this namespace may not be deleted";
        return Err(Status::forbidden("", &resource.plural, name, why));
    }
    for (what, wanted, found) in [
        ("UID", options.uid.as_deref(), text(old, "uid")),
        (
            "ResourceVersion",
            options.resource_version.as_deref(),
            text(old, "resourceVersion"),
        ),
    ] {
        if let Some(wanted) = wanted.filter(|wanted| *wanted != found) {
            let detail = format!(
                "Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
            );
            return Err(Status::conflict("", &resource.plural, name, &detail));
        }
    }
    if text(old, "deletionTimestamp").is_empty() {
        return Ok(DeleteOutcome::Mark(terminating(old, options, now)));
    }
    let spec = old.pointer("/spec/finalizers").and_then(Value::as_array);
    if spec.is_some_and(|list| !list.is_empty()) || !strings(old, "finalizers").is_empty() {
        return Ok(DeleteOutcome::Unchanged);
    }
    Ok(DeleteOutcome::Remove)
}

/// The namespace as it is from its deletion until it is empty.
fn terminating(old: &Value, options: &DeleteOptions, now: &str) -> Value {
    let mut new = old.clone();
    set_metadata(&mut new, "deletionTimestamp", now.into());
    let orphan = match (options.orphan_dependents, options.propagation) {
        (Some(orphan), _) => orphan,
        (None, Some(policy)) => policy == Propagation::Orphan,
        (None, None) => strings(old, "finalizers").contains(&ORPHAN),
    };
    let mut finalizers: Vec<String> = strings(old, "finalizers")
        .into_iter()
        .filter(|f| *f != ORPHAN)
        .map(str::to_owned)
        .collect();
    if orphan {
        finalizers.push(ORPHAN.to_owned());
    }
    set_finalizers(&mut new, finalizers);
    if let Some(status) = member(&mut new, "status") {
        status.insert("phase".to_owned(), "Terminating".into());
    }
    new
}

#[cfg(test)]
mod tests;
