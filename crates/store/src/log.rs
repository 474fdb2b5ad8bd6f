//! The durable log under the store, behind a small trait.
//!
//! Invariants that every engine keeps:
//! - **L1** When [`Log::append`] returns `Ok`, the whole batch survives a crash of process and machine.
//! - **L2** A batch is there wholly or not at all, also after a crash.
//! - **L3** A crash loses only a suffix of the batches: if one is there, so are all before it.
//! - **L4** A damaged log is an error, never a shorter log.

mod fjall;
mod journal;
mod memory;

use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;

use bytes::Bytes;

pub use self::fjall::FjallLog;
pub use self::memory::MemoryLog;
use crate::Position;
use crate::record::Damage;

/// What one append writes and removes. Nothing of it is visible before all of it is durable.
#[derive(Clone, Default, Debug)]
pub struct LogBatch {
    /// Records to add.
    pub records: Vec<(Position, Bytes)>,
    /// Records to remove (compaction).
    pub removed: Vec<Position>,
    /// Small named facts to set, or with `None` to remove.
    pub facts: Vec<(Bytes, Option<Bytes>)>,
}

impl LogBatch {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.removed.is_empty() && self.facts.is_empty()
    }

    /// The bytes of all records, for the disk space guard.
    pub fn record_bytes(&self) -> u64 {
        self.records
            .iter()
            .map(|(_, bytes)| bytes.len() as u64)
            .sum()
    }
}

/// Told each record of a scan; says whether to go on.
pub type Visit<'a> = &'a mut dyn FnMut(Position, Bytes) -> ControlFlow<()>;

/// A state of the log that later appends do not change.
pub trait LogView: Send {
    /// Visits every record from `from` on, in order.
    fn scan(&self, from: Position, visit: Visit<'_>) -> Result<(), LogError>;
    /// All facts whose names begin with `prefix`, in the order of names.
    fn facts(&self, prefix: &[u8]) -> Result<Vec<(Bytes, Bytes)>, LogError>;
}

/// A durable, ordered log. One thread appends; any thread reads.
pub trait Log: fmt::Debug + Send + Sync {
    /// Makes a batch durable.
    fn append(&self, batch: LogBatch) -> Result<(), AppendError>;
    /// The record at a position.
    fn read(&self, at: Position) -> Result<Option<Bytes>, LogError>;
    /// Visits every record from `from` on, in order, as far as the log goes at that time.
    fn scan(&self, from: Position, visit: Visit<'_>) -> Result<(), LogError>;
    /// The present state, held still.
    fn view(&self) -> Result<Box<dyn LogView + '_>, LogError>;
}

/// An append that did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Nothing was written; the log is as before and can be used on.
    #[error(transparent)]
    Untouched(LogError),
    /// Nobody can say how much was written; only opening the log anew can tell.
    #[error(transparent)]
    Unknown(LogError),
}

/// What can go wrong with a log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The operating system refused.
    #[error("{path}: {source}; check the disk and the permissions")]
    Io {
        /// Which file or directory.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// A file that holds acknowledged writes is not there, or not what it was.
    #[error(
        "{path} is missing or empty, and with it acknowledged writes; put it back, or restore a snapshot into a new directory"
    )]
    Missing {
        /// Which file or directory.
        path: PathBuf,
    },
    /// The storage engine refused.
    #[error("the storage engine failed ({source}); stop and start again, check the disk")]
    Engine {
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The storage engine found its files damaged.
    #[error("the log is damaged ({source}); restore a snapshot into a new directory to go on")]
    EngineDamaged {
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A record is not what was written.
    #[error(
        "the record at revision {at} is damaged: {damage}; restore a snapshot into a new directory to go on"
    )]
    Record {
        /// Where.
        at: Position,
        /// What is wrong.
        damage: Damage,
    },
    /// A fact is not what was written.
    #[error(
        "the log's fact {name:?} is damaged: {damage}; restore a snapshot into a new directory to go on"
    )]
    Fact {
        /// Its name.
        name: String,
        /// What is wrong.
        damage: Damage,
    },
    /// A journal file is broken before its end.
    #[error(
        "{path} is damaged at byte {byte}, before acknowledged writes; restore a snapshot into a new directory to go on"
    )]
    Journal {
        /// Which file.
        path: PathBuf,
        /// Where.
        byte: u64,
    },
}
