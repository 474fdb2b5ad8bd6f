//! Opening: the index and the leases are built anew from the log, and the log is checked on the way.
//!
//! Every record's checksum is checked. Behind the compacted revision no revision may be missing and
//! each must be whole, so a log that lost something in the middle is refused with the place.

use std::ops::ControlFlow;
use std::time::Duration;

use masthead_api::Revision;

use super::facts;
use crate::Position;
use crate::index::{Entry, Index};
use crate::lease::LeaseBook;
use crate::log::{Log, LogError, LogView};
use crate::record::{Damage, Record, Tail};

/// Why a store could not be opened. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The log is damaged, or cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The data directory cannot be used.
    #[error(transparent)]
    Dir(#[from] crate::DirError),
}

/// What the log says.
pub(super) struct Rebuilt {
    pub(super) index: Index,
    pub(super) leases: LeaseBook,
    pub(super) head: Revision,
    pub(super) compacted: Option<Revision>,
    pub(super) compaction_finished: Option<Revision>,
}

pub(super) fn rebuild(log: &dyn Log, now: Duration) -> Result<Rebuilt, LogError> {
    let view = log.view()?;
    let compacted = facts::read_revision(view.as_ref(), facts::COMPACTED)?;
    let compaction_finished = facts::read_revision(view.as_ref(), facts::COMPACTION_FINISHED)?;
    let mut builder = Builder::new(compacted);
    for (id, ttl) in facts::read_leases(view.as_ref())? {
        builder.leases.grant(id, ttl, now);
    }
    builder.scan(view.as_ref())?;
    let head = builder.head()?;
    let Builder { index, leases, .. } = builder;
    Ok(Rebuilt {
        index,
        leases,
        head,
        compacted,
        compaction_finished,
    })
}

/// Checks a whole log as opening does; the newest revision.
pub(crate) fn check(log: &dyn Log) -> Result<Revision, LogError> {
    Ok(rebuild(log, Duration::ZERO)?.head)
}

struct Builder {
    index: Index,
    leases: LeaseBook,
    compacted: Option<Revision>,
    /// Where the next record must stand, unless it is of the compacted past.
    expected: Position,
}

impl Builder {
    fn new(compacted: Option<Revision>) -> Self {
        let newest = compacted.unwrap_or(Revision::FIRST);
        Self {
            index: Index::default(),
            leases: LeaseBook::default(),
            compacted,
            expected: Position::first(newest.next()),
        }
    }

    fn scan(&mut self, view: &dyn LogView) -> Result<(), LogError> {
        let mut failed = None;
        view.scan(Position::first(Revision::FIRST), &mut |at, bytes| {
            let added = Record::decode(at, bytes).and_then(|record| self.add(at, &record));
            match added {
                Ok(()) => ControlFlow::Continue(()),
                Err(damage) => {
                    // If records are missing, the damage is where the first of them should stand.
                    let at = if damage == Damage::Gap {
                        self.expected
                    } else {
                        at
                    };
                    failed = Some(LogError::Record { at, damage });
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(()), Err)
    }

    fn add(&mut self, at: Position, record: &Record) -> Result<(), Damage> {
        if self
            .compacted
            .is_none_or(|compacted| at.revision > compacted)
        {
            if at != self.expected {
                return Err(Damage::Gap);
            }
            self.expected = match record.tail {
                Tail::Last => Position::first(at.revision.next()),
                Tail::More => Position {
                    sub: at.sub.saturating_add(1),
                    ..at
                },
            };
        }
        let meta = &record.meta;
        let entry = Entry {
            at,
            create_revision: meta.create_revision,
            version: meta.version,
        };
        self.index.push(&record.key, entry);
        self.leases.attach(&record.key, meta.lease);
        Ok(())
    }

    /// The newest revision; an error if its records are not all there.
    fn head(&self) -> Result<Revision, LogError> {
        if self.expected.sub > 0 {
            return Err(LogError::Record {
                at: self.expected,
                damage: Damage::Gap,
            });
        }
        Ok(self.expected.revision.previous().unwrap_or(Revision::FIRST))
    }
}
