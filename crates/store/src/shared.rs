//! What the writer and the readers share: the index, the log, and two numbers.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use masthead_api::Revision;

use crate::index::{Cursor, Entry, Index};
use crate::log::{Log, LogError};
use crate::record::{Damage, Record};
use crate::{KeyRange, Position};

/// How many keys a walk looks at before it lets go of the lock for a moment.
const WALK_KEYS: usize = 512;

/// How far to count keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counting {
    /// Every key of the range.
    All,
    /// Only so far that it is known whether there are more than the limit.
    OnePastLimit,
}

/// What a walk found.
pub(crate) struct Found {
    pub(crate) positions: Vec<Position>,
    pub(crate) count: usize,
}

#[derive(Debug)]
pub(crate) struct Shared {
    index: RwLock<Index>,
    /// The newest durable revision.
    head: AtomicU64,
    /// The newest compacted revision, 0 for none.
    compacted: AtomicU64,
    pub(crate) log: Arc<dyn Log>,
}

impl Shared {
    pub(crate) fn new(
        index: Index,
        head: Revision,
        compacted: Option<Revision>,
        log: Arc<dyn Log>,
    ) -> Self {
        Self {
            index: RwLock::new(index),
            head: AtomicU64::new(head.get()),
            compacted: AtomicU64::new(compacted.map_or(0, Revision::get)),
            log,
        }
    }

    pub(crate) fn head(&self) -> Revision {
        Revision::new(self.head.load(Ordering::Acquire)).unwrap_or(Revision::FIRST)
    }

    pub(crate) fn set_head(&self, head: Revision) {
        self.head.store(head.get(), Ordering::Release);
    }

    pub(crate) fn compacted(&self) -> Option<Revision> {
        Revision::new(self.compacted.load(Ordering::Acquire))
    }

    pub(crate) fn set_compacted(&self, through: Revision) {
        self.compacted.store(through.get(), Ordering::Release);
    }

    // A panic of another thread cannot leave the index half changed in a way that a reader at a
    // durable revision sees (I3), so a poisoned lock is used on.
    pub(crate) fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn index_mut(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Visits every key of a range that is alive at `revision`, in order, in short steps, until the
    /// visitor has enough.
    pub(crate) fn walk_live(
        &self,
        range: &KeyRange,
        revision: Revision,
        mut visit: impl FnMut(&[u8], Entry) -> ControlFlow<()>,
    ) {
        let mut cursor = Cursor::Start;
        while cursor != Cursor::End {
            let index = self.index();
            cursor = index.walk(range, &cursor, WALK_KEYS, |key, history| {
                history
                    .live_at(revision)
                    .map_or(ControlFlow::Continue(()), |entry| visit(key, entry))
            });
        }
    }

    /// The positions of the first `limit` keys of a range that are alive at `revision`.
    pub(crate) fn find(
        &self,
        range: &KeyRange,
        revision: Revision,
        limit: usize,
        counting: Counting,
    ) -> Found {
        let mut found = Found {
            positions: Vec::new(),
            count: 0,
        };
        self.walk_live(range, revision, |_, entry| {
            if found.count < limit {
                found.positions.push(entry.at);
            }
            found.count += 1;
            match counting {
                Counting::OnePastLimit if found.count > limit => ControlFlow::Break(()),
                Counting::OnePastLimit | Counting::All => ControlFlow::Continue(()),
            }
        });
        found
    }

    /// The record at a position; `None` if it was compacted away meanwhile.
    pub(crate) fn read_record(&self, at: Position) -> Result<Option<Record>, LogError> {
        match self.log.read(at)? {
            Some(bytes) => Record::decode(at, bytes)
                .map(Some)
                .map_err(|damage| LogError::Record { at, damage }),
            None if self
                .compacted()
                .is_some_and(|compacted| at.revision <= compacted) =>
            {
                Ok(None)
            }
            None => Err(LogError::Record {
                at,
                damage: Damage::Gap,
            }),
        }
    }
}
