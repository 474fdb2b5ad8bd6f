//! [`Reader`]: reads at any kept revision, from any thread, beside the writer.

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::Bytes;
use masthead_api::Revision;

use crate::log::LogError;
use crate::record::Record;
use crate::shared::{Counting, Found, Shared};
use crate::{Change, Commit, KeyMeta, KeyRange, Position};

/// A key, its value and its facts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kv {
    /// The key.
    pub key: Bytes,
    /// The value.
    pub value: Bytes,
    /// The facts of this version.
    pub meta: KeyMeta,
}

/// What a range read found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RangeResult {
    /// The revision whose state this is: the one asked for, else the newest. Pin it for further pages.
    pub revision: Revision,
    /// The pairs, in the order of their keys, at most `limit`.
    pub kvs: Vec<Kv>,
    /// Whether the limit cut something off.
    pub more: bool,
    /// How many keys of the range exist, without regard to the limit.
    pub count: usize,
}

/// A piece of a range, for streaming.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// The revision whose state this is. Pin it for the pages to come.
    pub revision: Revision,
    /// The pairs, in the order of their keys, at most `limit`.
    pub kvs: Vec<Kv>,
    /// Whether the range goes on.
    pub more: bool,
}

/// Why a read was not possible.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The history that was asked for is compacted away.
    #[error("revision {wanted} has been compacted; read at {oldest} or later")]
    Compacted {
        /// Asked for.
        wanted: Revision,
        /// The oldest revision that can be read, or followed from.
        oldest: Revision,
    },
    /// The revision does not exist yet.
    #[error("revision {wanted} is in the future; the newest is {head}")]
    Future {
        /// Asked for.
        wanted: Revision,
        /// The newest.
        head: Revision,
    },
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// A cheap handle for reads. A read sees one durable revision and never waits for a sync.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(crate) shared: Arc<Shared>,
}

impl Reader {
    /// The newest durable revision.
    pub fn revision(&self) -> Revision {
        self.shared.head()
    }

    /// Through which revision the history is compacted; reads at exactly this one still work.
    pub fn compacted(&self) -> Option<Revision> {
        self.shared.compacted()
    }

    /// How many keys have a history, deleted ones that are not compacted away included.
    pub fn keys(&self) -> usize {
        self.shared.index().len()
    }

    /// One key, at a revision or (`None`) now.
    pub fn get(&self, key: &[u8], at: Option<Revision>) -> Result<Option<Kv>, ReadError> {
        let revision = self.resolve(at)?;
        let Some(entry) = self.shared.index().live_at(key, revision) else {
            self.check_kept(revision)?;
            return Ok(None);
        };
        let record = self.shared.read_record(entry.at)?;
        self.check_kept(revision)?;
        Ok(record.and_then(into_kv))
    }

    /// The keys of a range, at a revision or (`None`) now, the first `limit` with their values; all
    /// are counted.
    ///
    /// Cost: O(keys of the range) in the index, and one log read for each pair of the answer.
    pub fn range(
        &self,
        keys: &KeyRange,
        at: Option<Revision>,
        limit: usize,
    ) -> Result<RangeResult, ReadError> {
        let (revision, kvs, count) = self.find(keys, at, limit, Counting::All)?;
        Ok(RangeResult {
            revision,
            more: count > kvs.len(),
            kvs,
            count,
        })
    }

    /// The next `limit` pairs of a range, at a revision or (`None`) now, without a count of the rest.
    ///
    /// Cost: O(pairs). To stream a range, go on with [`KeyRange::after`] the last key, at the page's
    /// revision, while there is `more`.
    pub fn page(
        &self,
        keys: &KeyRange,
        at: Option<Revision>,
        limit: usize,
    ) -> Result<Page, ReadError> {
        let (revision, kvs, count) = self.find(keys, at, limit, Counting::OnePastLimit)?;
        Ok(Page {
            revision,
            more: count > kvs.len(),
            kvs,
        })
    }

    fn find(
        &self,
        keys: &KeyRange,
        at: Option<Revision>,
        limit: usize,
        counting: Counting,
    ) -> Result<(Revision, Vec<Kv>, usize), ReadError> {
        let revision = self.resolve(at)?;
        let Found { positions, count } = self.shared.find(keys, revision, limit, counting);
        let mut kvs = Vec::with_capacity(positions.len());
        for at in positions {
            kvs.extend(self.shared.read_record(at)?.and_then(into_kv));
        }
        // Checked last: a compaction under way may have taken records from under this read.
        self.check_kept(revision)?;
        Ok((revision, kvs, count))
    }

    /// How many keys of a range exist, at a revision or (`None`) now.
    pub fn count(&self, keys: &KeyRange, at: Option<Revision>) -> Result<usize, ReadError> {
        Ok(self.range(keys, at, 0)?.count)
    }

    /// What happened after `after`, oldest first, at most `revisions_max` revisions, each one whole.
    ///
    /// Empty if `after` is the newest revision.
    ///
    /// # Errors
    /// [`ReadError::Compacted`] if something after `after` is compacted away; following from the
    /// compacted revision itself on (`after` one less) is possible. [`ReadError::Future`] if `after`
    /// is not there yet.
    pub fn commits_after(
        &self,
        after: Revision,
        revisions_max: usize,
    ) -> Result<Vec<Commit>, ReadError> {
        let head = self.shared.head();
        if after > head {
            return Err(ReadError::Future {
                wanted: after,
                head,
            });
        }
        let mut commits: Vec<Commit> = Vec::new();
        if after < head && revisions_max > 0 {
            self.check_kept(after.next())?;
            self.scan_commits(after, head, revisions_max, &mut commits)?;
            self.check_kept(after.next())?;
        }
        Ok(commits)
    }

    fn scan_commits(
        &self,
        after: Revision,
        head: Revision,
        revisions_max: usize,
        commits: &mut Vec<Commit>,
    ) -> Result<(), LogError> {
        let mut failed = None;
        self.shared
            .log
            .scan(Position::first(after.next()), &mut |at, bytes| {
                let same = commits
                    .last()
                    .is_some_and(|commit| commit.revision == at.revision);
                if at.revision > head || (!same && commits.len() >= revisions_max) {
                    return ControlFlow::Break(());
                }
                let change = match Record::decode(at, bytes) {
                    Ok(record) => into_change(record),
                    Err(damage) => {
                        failed = Some(LogError::Record { at, damage });
                        return ControlFlow::Break(());
                    }
                };
                match commits.last_mut() {
                    Some(commit) if same => commit.changes.push(change),
                    _ => commits.push(Commit {
                        revision: at.revision,
                        changes: vec![change],
                    }),
                }
                ControlFlow::Continue(())
            })?;
        failed.map_or(Ok(()), Err)
    }

    fn resolve(&self, at: Option<Revision>) -> Result<Revision, ReadError> {
        let head = self.shared.head();
        let Some(wanted) = at else { return Ok(head) };
        if wanted > head {
            return Err(ReadError::Future { wanted, head });
        }
        self.check_kept(wanted)?;
        Ok(wanted)
    }

    fn check_kept(&self, wanted: Revision) -> Result<(), ReadError> {
        match self.shared.compacted() {
            Some(oldest) if wanted < oldest => Err(ReadError::Compacted { wanted, oldest }),
            _ => Ok(()),
        }
    }
}

pub(crate) fn into_kv(record: Record) -> Option<Kv> {
    Some(Kv {
        key: record.key,
        value: record.value?,
        meta: record.meta,
    })
}

fn into_change(record: Record) -> Change {
    Change {
        key: record.key,
        value: record.value,
        meta: record.meta,
        previous: record.previous,
    }
}
