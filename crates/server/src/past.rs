//! States that the watch cache does not reach back to: read from the store.

use std::sync::Arc;

use masthead_api::{Revision, Status};
use masthead_objects::SharedResource;
use masthead_store::ReadError;
use masthead_watch::Snapshot;

use crate::app::App;
use crate::load::{self, LoadError};

/// Why a past state cannot be read.
#[derive(Debug)]
pub(crate) enum PastError {
    /// The store has forgotten it.
    Compacted,
    /// It could not be read.
    Failed(Status),
}

/// The objects of `resource` as they were at `revision`, which exists.
pub(crate) async fn snapshot(
    app: &App,
    resource: &SharedResource,
    revision: Revision,
) -> Result<Snapshot, PastError> {
    let reader = app.reader().map_err(PastError::Failed)?;
    let stored = Arc::clone(app.stored(resource));
    // The store reads files: not on a thread that serves connections.
    let read = tokio::task::spawn_blocking(move || load::state(&reader, &stored, revision)).await;
    match read {
        Ok(Ok(objects)) => Ok(Snapshot::of(revision, objects)),
        Ok(Err(LoadError::Read(ReadError::Compacted { .. }))) => Err(PastError::Compacted),
        Ok(Err(error)) => Err(PastError::Failed(Status::internal_error(
            &error.to_string(),
        ))),
        Err(error) => Err(PastError::Failed(Status::internal_error(
            &error.to_string(),
        ))),
    }
}
