//! States that the watch cache does not reach back to: read from the store.

use masthead_api::Revision;
use masthead_objects::SharedResource;
use masthead_store::ReadError;
use masthead_watch::Snapshot;

use crate::app::App;
use crate::load::{self, LoadError};

/// Why a past state cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PastError {
    /// The store has forgotten it.
    #[error("the history at that revision is compacted")]
    Compacted,
    /// It could not be read.
    #[error(transparent)]
    Load(LoadError),
}

/// The objects of `resource` as they were at `revision`, which exists.
pub(crate) fn snapshot(
    app: &App,
    resource: &SharedResource,
    revision: Revision,
) -> Result<Snapshot, PastError> {
    match load::state(&app.reader, app.stored(resource), revision) {
        Ok(objects) => Ok(Snapshot::of(revision, objects)),
        Err(LoadError::Read(ReadError::Compacted { .. })) => Err(PastError::Compacted),
        Err(error) => Err(PastError::Load(error)),
    }
}
