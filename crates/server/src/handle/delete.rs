//! DELETE: an object goes, at once or when its grace period and its finalizers allow.

use std::sync::Arc;

use masthead_api::{Key, Object, Status, WatchEventType};
use masthead_objects::write::{self, DeleteOptions, DeleteOutcome};
use masthead_objects::{DeleteAnswer, SharedResource};
use serde_json::Value;

use super::commit;
use crate::app::{App, storage_of, value_of};
use crate::door::Change;

/// A deletion of one object.
pub(crate) struct Deletion<'a> {
    /// Of what.
    pub(crate) resource: &'a SharedResource,
    /// Which.
    pub(crate) key: Key,
    /// How, and whether only tried.
    pub(crate) options: DeleteOptions,
}

/// How a deletion ended.
pub(crate) enum Deleted {
    /// The object is gone; this is its last state, at the revision of the deletion.
    Gone(Arc<Object>),
    /// It is still there, and this is its state.
    Pending(Arc<Object>),
    /// A dry run: what would have become of it, in the version that is stored.
    Dry(Value, Fate),
}

/// Whether a deletion takes an object away at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is gone.
    Gone,
    /// It stays for now.
    Stays,
}

impl Deletion<'_> {
    /// Deletes the object, or marks it.
    pub(crate) async fn run(&self, app: &Arc<App>) -> Result<Deleted, Status> {
        let storage = storage_of(self.resource)?;
        for _ in 0..commit::TRIES_MAX {
            let Some(old) = app.hub.get(storage, self.key.as_str()) else {
                return Err(commit::not_found(self.resource, &self.key));
            };
            if let Some(deleted) = self.attempt(app, old).await? {
                return Ok(deleted);
            }
        }
        Err(commit::overtaken(self.resource, &self.key))
    }

    /// One try; `None` if the object changed meanwhile.
    async fn attempt(&self, app: &Arc<App>, old: Arc<Object>) -> Result<Option<Deleted>, Status> {
        // A deletion touches the metadata alone, which all versions share.
        let value = value_of(app.stored(self.resource), &old)?;
        let outcome = write::delete(
            self.resource,
            &value,
            &self.options,
            &app.hub.clock().timestamp(),
        )?;
        if self.options.dry_run {
            return Ok(Some(match outcome {
                DeleteOutcome::Mark(new) => Deleted::Dry(new, Fate::Stays),
                DeleteOutcome::MarkThenRemove(new) => Deleted::Dry(new, Fate::Gone),
                DeleteOutcome::Remove => Deleted::Dry(value, Fate::Gone),
                DeleteOutcome::Unchanged => Deleted::Dry(value, Fate::Stays),
            }));
        }
        match outcome {
            DeleteOutcome::Unchanged => Ok(Some(Deleted::Pending(old))),
            DeleteOutcome::Remove => self.remove(app, &old).await,
            DeleteOutcome::Mark(new) => {
                let marked = self.mark(app, &old, &new).await?;
                Ok(marked.map(Deleted::Pending))
            }
            DeleteOutcome::MarkThenRemove(new) => match self.mark(app, &old, &new).await? {
                Some(marked) => self.remove(app, &marked).await,
                None => Ok(None),
            },
        }
    }

    async fn mark(
        &self,
        app: &Arc<App>,
        old: &Object,
        new: &Value,
    ) -> Result<Option<Arc<Object>>, Status> {
        let change = commit::put(app, self.resource, new)?;
        let event = commit::replace(app, self.resource, old, change).await?;
        Ok(event.and_then(|event| event.new.clone()))
    }

    async fn remove(&self, app: &Arc<App>, old: &Object) -> Result<Option<Deleted>, Status> {
        let event = commit::replace(app, self.resource, old, Change::Delete).await?;
        Ok(event
            .and_then(|event| event.object(WatchEventType::Deleted).cloned())
            .map(Deleted::Gone))
    }
}

/// Does a DELETE of this resource answer with the object (else with a Status)?
pub(crate) fn answers_with_object(resource: &SharedResource) -> bool {
    resource.delete_answer == DeleteAnswer::Object
}
