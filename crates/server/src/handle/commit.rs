//! What creations, updates and deletions share: a change goes through the door on the condition
//! that its object is still what the change was computed from.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use masthead_api::{Event, Key, Object, Status};
use masthead_objects::{SharedResource, encode};
use masthead_store::LeaseError;
use serde_json::Value;

use crate::app::{App, storage_of};
use crate::door::{Change, DoorError, Write, Written};

/// Tries until a write that others keep overtaking is given up with a conflict.
pub(super) const TRIES_MAX: usize = 100;

/// Commits `change` if `old` is still the present version of its object; `None` if it is not.
pub(super) async fn replace(
    app: &App,
    resource: &SharedResource,
    old: &Object,
    change: Change,
) -> Result<Option<Arc<Event>>, Status> {
    let write = write_of(app, resource, old.key.clone(), change)?;
    write_through(
        app,
        Write {
            expected: Some(old.revision),
            ..write
        },
    )
    .await
}

/// Commits a new object if there is none at `key`, and if what it `requires` is in the store.
pub(super) async fn create(
    app: &App,
    resource: &SharedResource,
    key: Key,
    object: &Value,
    requires: Option<Bytes>,
) -> Result<Option<Arc<Event>>, Status> {
    let write = write_of(app, resource, key, put(app, resource, object)?)?;
    write_through(app, Write { requires, ..write }).await
}

/// The change to this content.
pub(super) fn put(app: &App, resource: &SharedResource, new: &Value) -> Result<Change, Status> {
    // An object that has no wire form: the code that made it is wrong.
    encode(app.stored(resource), new)
        .map(Change::Put)
        .map_err(|error| Status::internal_error(&error.to_string()))
}

/// Where an object lies in the store.
pub(super) fn store_key(resource: &SharedResource, key: &Key) -> Bytes {
    Bytes::from(masthead_objects::store_key(
        resource,
        key.namespace(),
        key.name(),
    ))
}

/// There is no object at `key`.
pub(super) fn not_found(resource: &SharedResource, key: &Key) -> Status {
    Status::not_found(&resource.group, &resource.plural, key.name())
}

/// Others were always faster.
pub(super) fn overtaken(resource: &SharedResource, key: &Key) -> Status {
    Status::conflict_modified(&resource.group, &resource.plural, key.name())
}

fn write_of(
    app: &App,
    resource: &SharedResource,
    key: Key,
    change: Change,
) -> Result<Write, Status> {
    Ok(Write {
        storage: storage_of(resource)?,
        store_key: store_key(resource, &key),
        key,
        expected: None,
        requires: None,
        change,
        ttl: ttl(app, resource),
    })
}

async fn write_through(app: &App, write: Write) -> Result<Option<Arc<Event>>, Status> {
    match app.door.write(write).await {
        Ok(Written::Committed(event)) => Ok(Some(event)),
        Ok(Written::Conflict) => Ok(None),
        Err(DoorError::Closed) => Err(Status::service_unavailable("apiserver is shutting down")),
        Err(DoorError::Store(error)) => Err(Status::service_unavailable(error.to_string())),
        Err(DoorError::Lease(LeaseError::Commit(error))) => {
            Err(Status::service_unavailable(error.to_string()))
        }
        Err(error @ (DoorError::Txn(_) | DoorError::Lease(_))) => {
            Err(Status::internal_error(&error.to_string()))
        }
    }
}

/// How long objects of this resource live from each write on, where they do not live for ever.
fn ttl(app: &App, resource: &SharedResource) -> Option<Duration> {
    (resource.plural.as_ref() == "events").then_some(app.config.event_ttl)
}
