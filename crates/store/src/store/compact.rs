//! Compaction: the history before a revision is given up, in short steps.
//!
//! ```text
//! compact(through)   fact "compacted" durable ──▶ readers before it are refused
//! then, in steps     index entries dropped ──▶ their records removed from the log, by riding along
//!                    with the next batches or by compact_step() in quiet times
//! at the end         fact "compaction-finished" durable
//! ```
//! A crash in between is harmless: opening finds the two facts apart and starts the steps again.

use masthead_api::Revision;

use super::{CommitError, Store, facts};
use crate::Position;
use crate::index::Cursor;
use crate::log::LogBatch;
use crate::shared::Shared;

/// How many keys one step looks at: some tens of microseconds under the index lock.
const STEP_KEYS: usize = 512;

/// Whether a compaction has more to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompactProgress {
    /// Call again.
    More,
    /// Nothing is left to remove.
    Finished,
}

/// Why a compaction was refused.
#[derive(Debug, thiserror::Error)]
pub enum CompactError {
    /// The history is already compacted through this revision or a later one.
    #[error("revision {wanted} is already compacted, the history begins at {compacted}")]
    Compacted {
        /// Asked for.
        wanted: Revision,
        /// Where the history begins.
        compacted: Revision,
    },
    /// The revision does not exist yet.
    #[error("revision {wanted} is in the future; the newest is {head}")]
    Future {
        /// Asked for.
        wanted: Revision,
        /// The newest.
        head: Revision,
    },
    /// The log refused.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

/// The compaction that is under way.
#[derive(Debug)]
pub(super) struct Compaction {
    through: Option<Revision>,
    cursor: Cursor,
    /// Dropped from the index, not yet removed from the log.
    owed: Vec<Position>,
    finished: bool,
}

impl Compaction {
    /// Goes on where the facts in the log say.
    pub(super) fn resume(compacted: Option<Revision>, finished: Option<Revision>) -> Self {
        let done = compacted == finished;
        let cursor = if done { Cursor::End } else { Cursor::Start };
        Self {
            through: compacted,
            cursor,
            owed: Vec::new(),
            finished: done,
        }
    }

    /// Takes one step in the index and adds what is to be removed to a batch.
    pub(super) fn ride_along(&mut self, shared: &Shared, batch: &mut LogBatch) {
        let Some(through) = self.through else { return };
        if self.finished {
            return;
        }
        self.cursor =
            shared
                .index_mut()
                .compact_step(through, &self.cursor, STEP_KEYS, &mut self.owed);
        batch.removed.clone_from(&self.owed);
        if self.cursor == Cursor::End {
            batch
                .facts
                .push(facts::set_revision(facts::COMPACTION_FINISHED, through));
        }
    }

    /// The batch with the removals is durable.
    pub(super) fn settle(&mut self) {
        self.owed.clear();
        self.finished = self.cursor == Cursor::End;
    }
}

impl Store {
    /// Gives up the history before `through`; reads at `through` and following from it on still work.
    ///
    /// Durable when it returns; cheap, because what is dropped is removed later, in steps.
    pub fn compact(&mut self, through: Revision) -> Result<(), CompactError> {
        self.check_health()?;
        let head = self.shared.head();
        if through > head {
            return Err(CompactError::Future {
                wanted: through,
                head,
            });
        }
        if let Some(compacted) = self.shared.compacted()
            && through <= compacted
        {
            return Err(CompactError::Compacted {
                wanted: through,
                compacted,
            });
        }
        let facts = vec![facts::set_revision(facts::COMPACTED, through)];
        self.append(LogBatch {
            facts,
            ..LogBatch::default()
        })?;
        self.shared.set_compacted(through);
        self.compaction.through = Some(through);
        self.compaction.cursor = Cursor::Start;
        self.compaction.finished = false;
        Ok(())
    }

    /// One short step of removing what compactions dropped. Every commit takes one such step by the
    /// way; call this in quiet times until it says [`CompactProgress::Finished`].
    pub fn compact_step(&mut self) -> Result<CompactProgress, CommitError> {
        if self.compaction.finished {
            return Ok(CompactProgress::Finished);
        }
        self.check_health()?;
        let mut batch = LogBatch::default();
        self.compaction.ride_along(&self.shared, &mut batch);
        if !batch.is_empty() {
            self.append(batch)?;
        }
        self.compaction.settle();
        Ok(if self.compaction.finished {
            CompactProgress::Finished
        } else {
            CompactProgress::More
        })
    }
}
