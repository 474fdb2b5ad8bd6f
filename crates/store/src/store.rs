//! [`Store`]: the single writer.
//!
//! ```text
//!  batch of transactions
//!    │ evaluate    one after the other, each sees the ones before   (index only, unseen by readers)
//!    ▼
//!  records ──▶ log: one append, one sync                            (fails: index undone)
//!    │
//!    ▼
//!  head moves: readers see the new revisions ──▶ commits to the caller
//! ```
//!
//! Invariants:
//! - **S1** A revision is seen by a reader or told to the caller only after it is durable.
//! - **S2** Revisions rise by exactly one for each transaction that changed something, across
//!   restarts and compactions.
//! - **S3** After an append of which nobody knows how far it got, nothing is written any more.
//!
//! The store is neither `Clone` nor shared: who owns it is the one who commits.

mod compact;
mod evaluate;
mod facts;
mod leases;
mod rebuild;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use masthead_api::Revision;

use self::compact::Compaction;
pub use self::compact::{CompactError, CompactProgress};
use self::evaluate::{Evaluated, Evaluation};
pub(crate) use self::facts::compacted_at as facts_at;
pub use self::leases::{LEASE_TTL_MAX, LeaseError};
pub use self::rebuild::OpenError;
pub(crate) use self::rebuild::check as rebuild_check;
use crate::index::Index;
use crate::lease::LeaseBook;
use crate::log::{AppendError, FjallLog, Log, LogBatch, LogError, MemoryLog};
use crate::shared::Shared;
use crate::{DataDir, Reader, SpaceGuard, StoreId, Txn, TxnError, TxnResult};

/// Whether writes are possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Health {
    Ready,
    /// An append failed half way, perhaps (S3).
    Stopped,
}

/// The store, as seen by the one thread that commits.
#[derive(Debug)]
pub struct Store {
    shared: Arc<Shared>,
    leases: LeaseBook,
    space: SpaceGuard,
    compaction: Compaction,
    health: Health,
}

/// Why a batch was not written. Nothing of it is visible.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Too little room on the disk.
    #[error(
        "the disk is full ({free} bytes left, {reserve} are kept in reserve); free some space, writes go on by themselves"
    )]
    DiskFull {
        /// What is left.
        free: u64,
        /// What must be left.
        reserve: u64,
    },
    /// The disk could not be asked for its room.
    #[error(
        "the free space of the disk is unknown ({source}); check that the data directory is there"
    )]
    Space {
        /// What the system said.
        source: std::io::Error,
    },
    /// An earlier write failed and may or may not have reached the disk.
    #[error("an earlier write failed, so no more are taken; stop and start again, check the disk")]
    Stopped,
    /// The log refused.
    #[error(transparent)]
    Log(LogError),
}

impl Store {
    /// Opens the store that stands in a log. `now` starts the time of the leases.
    ///
    /// Cost: one pass over all records of the log.
    pub fn open(log: Arc<dyn Log>, space: SpaceGuard, now: Duration) -> Result<Self, OpenError> {
        let rebuilt = rebuild::rebuild(log.as_ref(), now)?;
        let compaction = Compaction::resume(rebuilt.compacted, rebuilt.compaction_finished);
        let shared = Shared::new(rebuilt.index, rebuilt.head, rebuilt.compacted, log);
        Ok(Self {
            shared: Arc::new(shared),
            leases: rebuilt.leases,
            space,
            compaction,
            health: Health::Ready,
        })
    }

    /// Opens the store in a directory, or makes a new one there, which then gets the number `new_id`.
    /// The last `reserve_bytes` of the disk are left alone ([`SpaceGuard::RESERVE_BYTES`]).
    pub fn open_dir(
        path: &Path,
        new_id: StoreId,
        reserve_bytes: u64,
        now: Duration,
    ) -> Result<Self, OpenError> {
        let log = FjallLog::open(DataDir::open(path, new_id)?)?;
        Self::open(
            Arc::new(log),
            SpaceGuard::filesystem(path, reserve_bytes),
            now,
        )
    }

    /// An empty store in memory, which keeps nothing.
    pub fn in_memory() -> Self {
        let log: Arc<dyn Log> = Arc::new(MemoryLog::new());
        Self {
            shared: Arc::new(Shared::new(Index::default(), Revision::FIRST, None, log)),
            leases: LeaseBook::default(),
            space: SpaceGuard::off(),
            compaction: Compaction::resume(None, None),
            health: Health::Ready,
        }
    }

    /// A handle for reads; cheap to clone, good in any thread.
    pub fn reader(&self) -> Reader {
        Reader {
            shared: Arc::clone(&self.shared),
        }
    }

    /// The newest durable revision.
    pub fn revision(&self) -> Revision {
        self.shared.head()
    }

    /// Runs a batch of transactions, in order, each seeing the ones before; one sync for all.
    ///
    /// When this returns `Ok`, every change is durable and readers see it. One answer for each
    /// transaction: a refused one ([`TxnError`]) did nothing, and does not disturb the others.
    ///
    /// # Errors
    /// [`CommitError`]: nothing of the batch is visible. After [`CommitError::Log`] with an unknown
    /// outcome every further write is answered with [`CommitError::Stopped`]; reads go on.
    pub fn commit(
        &mut self,
        batch: Vec<Txn>,
    ) -> Result<Vec<Result<TxnResult, TxnError>>, CommitError> {
        self.check_health()?;
        let mut evaluation = Evaluation::new(&self.shared, &self.leases);
        let results = batch.into_iter().map(|txn| evaluation.run(txn)).collect();
        self.write(evaluation.finish(), Vec::new())?;
        Ok(results)
    }

    fn check_health(&self) -> Result<(), CommitError> {
        match self.health {
            Health::Ready => Ok(()),
            Health::Stopped => Err(CommitError::Stopped),
        }
    }

    /// Makes an evaluated batch durable, then visible. On failure the index is as before.
    fn write(
        &mut self,
        evaluated: Evaluated,
        facts: Vec<facts::FactChange>,
    ) -> Result<(), CommitError> {
        let Evaluated {
            head,
            records,
            touched,
            attached,
        } = evaluated;
        if records.is_empty() && facts.is_empty() {
            return Ok(());
        }
        let mut log_batch = LogBatch {
            records,
            removed: Vec::new(),
            facts,
        };
        let outcome = self.space.check(log_batch.record_bytes()).and_then(|()| {
            // A compaction under way rides along: its share of removals costs no sync of its own.
            self.compaction.ride_along(&self.shared, &mut log_batch);
            self.append(log_batch)
        });
        if let Err(error) = outcome {
            let mut index = self.shared.index_mut();
            for key in touched {
                index.undo_after(&key, self.shared.head());
            }
            return Err(error);
        }
        self.compaction.settle();
        for (key, lease) in attached {
            self.leases.attach(&key, lease);
        }
        self.shared.set_head(head);
        Ok(())
    }

    fn append(&mut self, batch: LogBatch) -> Result<(), CommitError> {
        self.shared.log.append(batch).map_err(|error| match error {
            AppendError::Untouched(source) => CommitError::Log(source),
            AppendError::Unknown(source) => {
                self.health = Health::Stopped;
                CommitError::Log(source)
            }
        })
    }
}

#[cfg(test)]
mod tests;
