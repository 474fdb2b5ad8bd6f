//! DELETE: an object goes, at once or when its grace period and its finalizers allow.

use std::sync::Arc;

use masthead_api::{Event, Key, Object, Status, WatchEventType};
use masthead_objects::write::{self, DeleteOptions, DeleteOutcome};
use masthead_objects::{DeleteAnswer, SharedResource, encode};
use serde_json::Value;

use super::create::Run;
use super::{store_failure, unencodable};
use crate::app::{App, storage_of, value_of};
use crate::door::{Change, Write, Written};

/// Tries until a deletion that others keep overtaking is given up with a conflict.
const TRIES_MAX: usize = 100;

/// A deletion of one object.
pub(crate) struct Deletion<'a> {
    /// Of what.
    pub(crate) resource: &'a SharedResource,
    /// Which.
    pub(crate) key: Key,
    /// How.
    pub(crate) options: DeleteOptions,
    /// Or only tried?
    pub(crate) run: Run,
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
        for _ in 0..TRIES_MAX {
            let Some(old) = app.hub.get(storage, self.key.as_str()) else {
                return Err(self.not_found());
            };
            if let Some(deleted) = self.attempt(app, old).await? {
                return Ok(deleted);
            }
        }
        let resource = self.resource;
        Err(Status::conflict_modified(
            &resource.group,
            &resource.plural,
            self.key.name(),
        ))
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
        if self.run == Run::Dry {
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
        let encoded = encode(app.stored(self.resource), new).map_err(|e| unencodable(&e))?;
        let change = Change::Put(encoded);
        Ok(self
            .write(app, old, change)
            .await?
            .and_then(|event| event.new.clone()))
    }

    async fn remove(&self, app: &Arc<App>, old: &Object) -> Result<Option<Deleted>, Status> {
        let event = self.write(app, old, Change::Delete).await?;
        Ok(event
            .and_then(|event| event.object(WatchEventType::Deleted).cloned())
            .map(Deleted::Gone))
    }

    async fn write(
        &self,
        app: &Arc<App>,
        old: &Object,
        change: Change,
    ) -> Result<Option<Arc<Event>>, Status> {
        let write = Write {
            storage: storage_of(self.resource)?,
            store_key: super::store_key(self.resource, &self.key),
            key: self.key.clone(),
            expected: Some(old.revision),
            requires: None,
            change,
            ttl: None,
        };
        match app
            .door
            .write(write)
            .await
            .map_err(|error| store_failure(&error))?
        {
            Written::Committed(event) => Ok(Some(event)),
            Written::Conflict => Ok(None),
        }
    }

    fn not_found(&self) -> Status {
        Status::not_found(&self.resource.plural, &self.resource.group, self.key.name())
    }
}

/// Does a DELETE of this resource answer with the object (else with a Status)?
pub(crate) fn answers_with_object(resource: &SharedResource) -> bool {
    resource.delete_answer == DeleteAnswer::Object
}
