//! PUT and PATCH: an object changes. The change is computed from the present version and committed
//! on the condition that this is still the present version; if not, it is computed anew.

use std::sync::Arc;

use masthead_api::{Key, Object, Status};
use masthead_objects::SharedResource;
use masthead_objects::write::{self, UpdateOf, UpdateOutcome, Verb};
use serde_json::Value;

use super::commit;
use super::create::{Answer, Run};
use crate::app::{App, storage_of, to_stored, value_of};
use crate::door::Change;

/// A change of one object.
pub(crate) struct Update<'a> {
    /// Of what.
    pub(crate) resource: &'a SharedResource,
    /// Which.
    pub(crate) key: Key,
    /// Which part of it, and whether it is replaced or patched; `None` takes a change as it is.
    pub(crate) part: Option<(UpdateOf, Verb)>,
    /// Or only tried?
    pub(crate) run: Run,
}

impl Update<'_> {
    /// Makes the change that `change` computes from the present object.
    pub(crate) async fn run(
        &self,
        app: &Arc<App>,
        change: impl Fn(&Value) -> Result<Value, Status> + Send + Sync,
    ) -> Result<Answer, Status> {
        let storage = storage_of(self.resource)?;
        let stored = app.stored(self.resource);
        for _ in 0..commit::TRIES_MAX {
            let Some(old) = app.hub.get(storage, self.key.as_str()) else {
                return Err(commit::not_found(self.resource, &self.key));
            };
            let (value, new) = self.change(app, &old, &change)?;
            let outcome = match self.part {
                Some(part) => write::update(stored, part, &value, new, &app.write_context())
                    .map_err(|status| self.told(stored, status))?,
                None if new == value => UpdateOutcome::Unchanged,
                None => UpdateOutcome::Write(new),
            };
            let (change, answer) = match outcome {
                UpdateOutcome::Unchanged => return Ok(Answer::Stored(old)),
                UpdateOutcome::Write(new) => (commit::put(app, self.resource, &new)?, new),
                UpdateOutcome::Remove(last) => (Change::Delete, last),
            };
            if self.run == Run::Dry {
                return Ok(Answer::Value(answer));
            }
            if let Some(event) = commit::replace(app, self.resource, &old, change).await? {
                return Ok(event
                    .new
                    .clone()
                    .map_or(Answer::Value(answer), Answer::Stored));
            }
        }
        Err(commit::overtaken(self.resource, &self.key))
    }

    /// The present object and what it is to become, both in the version that is stored.
    fn change(
        &self,
        app: &App,
        old: &Object,
        change: &impl Fn(&Value) -> Result<Value, Status>,
    ) -> Result<(Value, Value), Status> {
        let value = value_of(self.resource, old)?;
        let new = change(&value)?;
        if self.resource.is_stored_version {
            return Ok((value, new));
        }
        let value = value_of(app.stored(self.resource), old)?;
        Ok((value, to_stored(self.resource, new)?))
    }

    /// A conflict is told of the resource that was asked for, not of the one that is stored.
    fn told(&self, stored: &SharedResource, mut status: Status) -> Status {
        if status.code == 409 && !self.resource.is_stored_version {
            let (from, to) = (stored.group_resource(), self.resource.group_resource());
            status.message = status
                .message
                .replacen(&format!(" {from} "), &format!(" {to} "), 1);
            if let Some(details) = &mut status.details {
                details.group = self.resource.group.to_string();
            }
        }
        status
    }
}
