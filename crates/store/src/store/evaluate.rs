//! Evaluating a batch: what each transaction does, as records, before anything is durable.
//!
//! New versions go into the index at once, at revisions that no reader looks at yet (I3), so that
//! the next transaction of the batch sees them. If the log then fails, they are taken out again.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use bytes::Bytes;
use masthead_api::Revision;

use crate::index::Entry;
use crate::lease::LeaseBook;
use crate::log::LogError;
use crate::reader::into_kv;
use crate::record::{Record, Tail};
use crate::shared::{Counting, Found, Shared};
use crate::txn::{RECORD_BYTES_MAX, TXN_OPS_MAX};
use crate::{
    Branch, Change, Commit, Compare, KeyMeta, KeyRange, LeaseId, Op, Position, RangeResult,
    ReadError, Response, Target, Txn, TxnError, TxnResult,
};

/// A batch while it is evaluated.
pub(super) struct Evaluation<'a> {
    shared: &'a Shared,
    leases: &'a LeaseBook,
    /// The newest durable revision.
    base: Revision,
    /// The newest revision of the batch so far.
    newest: Revision,
    pending: Vec<(Position, Record)>,
}

/// What a batch comes to.
pub(super) struct Evaluated {
    /// The newest revision once the batch is durable.
    pub(super) head: Revision,
    /// The encoded records, in order.
    pub(super) records: Vec<(Position, Bytes)>,
    /// The keys that were changed in the index.
    pub(super) touched: Vec<Bytes>,
    /// Which lease each changed key is on afterwards, in order.
    pub(super) attached: Vec<(Bytes, Option<LeaseId>)>,
}

/// The transaction under way.
struct Step {
    revision: Revision,
    /// Where its records begin in `pending`.
    first: usize,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(shared: &'a Shared, leases: &'a LeaseBook) -> Self {
        let base = shared.head();
        Self {
            shared,
            leases,
            base,
            newest: base,
            pending: Vec::new(),
        }
    }

    /// Runs one transaction. If it is refused, nothing of it is left.
    pub(super) fn run(&mut self, txn: Txn) -> Result<TxnResult, TxnError> {
        check(&txn)?;
        let branch = if self.all_hold(&txn.compares)? {
            Branch::Then
        } else {
            Branch::Otherwise
        };
        let ops = match branch {
            Branch::Then => txn.then,
            Branch::Otherwise => txn.otherwise,
        };
        self.check_leases(&ops)?;
        let step = self.begin();
        let mut responses = Vec::with_capacity(ops.len());
        for op in ops {
            match self.apply(&step, op) {
                Ok(response) => responses.push(response),
                Err(error) => {
                    self.undo(&step);
                    return Err(error);
                }
            }
        }
        Ok(TxnResult {
            branch,
            commit: self.end(&step),
            responses,
        })
    }

    /// Deletes these keys in one revision.
    pub(super) fn delete_keys(&mut self, keys: Vec<Bytes>) -> Option<Commit> {
        let step = self.begin();
        for key in keys {
            self.delete(&step, key);
        }
        self.end(&step)
    }

    /// Encodes what the batch came to.
    pub(super) fn finish(self) -> Evaluated {
        let mut records = Vec::with_capacity(self.pending.len());
        let mut attached = Vec::with_capacity(self.pending.len());
        for (at, record) in self.pending {
            records.push((at, record.encode(at)));
            attached.push((record.key, record.meta.lease));
        }
        let touched = attached.iter().map(|(key, _)| key.clone()).collect();
        Evaluated {
            head: self.newest,
            records,
            touched,
            attached,
        }
    }

    fn begin(&self) -> Step {
        Step {
            revision: self.newest.next(),
            first: self.pending.len(),
        }
    }

    fn end(&mut self, step: &Step) -> Option<Commit> {
        let own = self.pending.get_mut(step.first..)?;
        own.last_mut()?.1.tail = Tail::Last;
        let changes = own.iter().map(|(_, record)| Change {
            key: record.key.clone(),
            value: record.value.clone(),
            meta: record.meta,
            previous: record.previous,
        });
        self.newest = step.revision;
        Some(Commit {
            revision: step.revision,
            changes: changes.collect(),
        })
    }

    fn undo(&mut self, step: &Step) {
        let mut index = self.shared.index_mut();
        for (_, record) in self.pending.drain(step.first..) {
            index.undo_after(&record.key, self.newest);
        }
    }

    fn apply(&mut self, step: &Step, op: Op) -> Result<Response, TxnError> {
        match op {
            Op::Put { key, value, lease } => {
                self.put(step, key, value, lease);
                Ok(Response::Put)
            }
            Op::DeleteRange {
                keys: KeyRange::One(key),
            } => Ok(Response::DeleteRange {
                deleted: usize::from(self.delete(step, key)),
            }),
            Op::DeleteRange { keys } => {
                let mut found = Vec::new();
                self.shared.walk_live(&keys, step.revision, |key, _| {
                    found.push(Bytes::copy_from_slice(key));
                    ControlFlow::Continue(())
                });
                let deleted = found.len();
                for key in found {
                    self.delete(step, key);
                }
                Ok(Response::DeleteRange { deleted })
            }
            Op::Range { keys, at, limit } => {
                Ok(Response::Range(self.range(step, &keys, at, limit)?))
            }
        }
    }

    fn put(&mut self, step: &Step, key: Bytes, value: Bytes, lease: Option<LeaseId>) {
        let at = self.next_position(step);
        let previous = self.live(&key, step.revision).map(|(_, meta)| meta);
        let entry = self.shared.index_mut().put(&key, at);
        let meta = meta_of(entry, lease);
        let record = Record {
            key,
            value: Some(value),
            meta,
            previous,
            tail: Tail::More,
        };
        self.pending.push((at, record));
    }

    /// Deletes a key; says whether it was there.
    fn delete(&mut self, step: &Step, key: Bytes) -> bool {
        let Some((alive, previous)) = self.live(&key, step.revision) else {
            return false;
        };
        let at = self.next_position(step);
        let entry = Entry {
            at,
            create_revision: alive.create_revision,
            version: 0,
        };
        self.shared.index_mut().push(&key, entry);
        let (meta, previous) = (meta_of(entry, None), Some(previous));
        self.pending.push((
            at,
            Record {
                key,
                value: None,
                meta,
                previous,
                tail: Tail::More,
            },
        ));
        true
    }

    fn next_position(&self, step: &Step) -> Position {
        let sub = u32::try_from(self.pending.len() - step.first).unwrap_or(u32::MAX);
        Position {
            revision: step.revision,
            sub,
        }
    }

    fn range(
        &self,
        step: &Step,
        keys: &KeyRange,
        at: Option<Revision>,
        limit: usize,
    ) -> Result<RangeResult, ReadError> {
        let changed = self.pending.len() > step.first;
        let now = if changed { step.revision } else { self.newest };
        let revision = at.unwrap_or(now);
        if at.is_some() && revision > self.newest {
            return Err(ReadError::Future {
                wanted: revision,
                head: self.newest,
            });
        }
        if let Some(oldest) = self.shared.compacted()
            && revision < oldest
        {
            return Err(ReadError::Compacted {
                wanted: revision,
                oldest,
            });
        }
        let Found { positions, count } = self.shared.find(keys, revision, limit, Counting::All);
        let mut kvs = Vec::with_capacity(positions.len());
        for at in positions {
            kvs.extend(self.read(at)?.and_then(into_kv));
        }
        Ok(RangeResult {
            revision,
            more: count > kvs.len(),
            kvs,
            count,
        })
    }

    /// The version of a key that is alive at `revision`, with its facts.
    fn live(&self, key: &[u8], revision: Revision) -> Option<(Entry, KeyMeta)> {
        let entry = self.shared.index().live_at(key, revision)?;
        let lease = match self.pending_record(entry.at) {
            Some(record) => record.meta.lease,
            None => self.leases.of_key(key),
        };
        Some((entry, meta_of(entry, lease)))
    }

    fn pending_record(&self, at: Position) -> Option<&Record> {
        if at.revision <= self.base {
            return None;
        }
        let place = self.pending.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        self.pending.get(place).map(|(_, record)| record)
    }

    fn read(&self, at: Position) -> Result<Option<Record>, LogError> {
        match self.pending_record(at) {
            Some(record) => Ok(Some(record.clone())),
            None => self.shared.read_record(at),
        }
    }

    fn all_hold(&self, compares: &[Compare]) -> Result<bool, TxnError> {
        for compare in compares {
            if !self.holds(compare)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds(&self, compare: &Compare) -> Result<bool, TxnError> {
        let found = self.live(&compare.key, self.newest);
        let meta = found.map(|(_, meta)| meta);
        let ordering = match &compare.target {
            Target::ModRevision(operand) => {
                meta.map_or(0, |meta| meta.mod_revision.get()).cmp(operand)
            }
            Target::CreateRevision(operand) => meta
                .map_or(0, |meta| meta.create_revision.get())
                .cmp(operand),
            Target::Version(operand) => meta.map_or(0, |meta| meta.version).cmp(operand),
            Target::Lease(operand) => meta
                .and_then(|meta| meta.lease)
                .map_or(0, LeaseId::get)
                .cmp(operand),
            Target::Value(operand) => {
                let Some((entry, _)) = found else {
                    return Ok(false);
                };
                let record = self.read(entry.at).map_err(ReadError::from)?;
                let Some(value) = record.and_then(|record| record.value) else {
                    return Ok(false);
                };
                value.cmp(operand)
            }
        };
        Ok(compare.relation.holds(ordering))
    }

    fn check_leases(&self, ops: &[Op]) -> Result<(), TxnError> {
        for op in ops {
            if let Op::Put {
                lease: Some(lease), ..
            } = op
                && !self.leases.contains(*lease)
            {
                return Err(TxnError::LeaseNotFound { lease: *lease });
            }
        }
        Ok(())
    }
}

fn meta_of(entry: Entry, lease: Option<LeaseId>) -> KeyMeta {
    KeyMeta {
        create_revision: entry.create_revision,
        mod_revision: entry.at.revision,
        version: entry.version,
        lease,
    }
}

/// What can be said against a transaction without looking at the store.
fn check(txn: &Txn) -> Result<(), TxnError> {
    let longest = txn
        .compares
        .len()
        .max(txn.then.len())
        .max(txn.otherwise.len());
    if longest > TXN_OPS_MAX {
        return Err(TxnError::TooManyOps { ops: longest });
    }
    if txn.compares.iter().any(|compare| compare.key.is_empty()) {
        return Err(TxnError::EmptyKey);
    }
    check_ops(&txn.then)?;
    check_ops(&txn.otherwise)
}

fn check_ops(ops: &[Op]) -> Result<(), TxnError> {
    let mut written: BTreeSet<&[u8]> = BTreeSet::new();
    for op in ops {
        match op {
            Op::Put { key, value, .. } => {
                let bytes = key.len() + value.len();
                if key.is_empty() {
                    return Err(TxnError::EmptyKey);
                }
                if bytes > RECORD_BYTES_MAX {
                    return Err(TxnError::TooLarge { bytes });
                }
                if !written.insert(key) {
                    return Err(TxnError::DuplicateKey { key: key.clone() });
                }
            }
            Op::DeleteRange {
                keys: KeyRange::One(key),
            }
            | Op::Range {
                keys: KeyRange::One(key),
                ..
            } if key.is_empty() => {
                return Err(TxnError::EmptyKey);
            }
            Op::DeleteRange { .. } | Op::Range { .. } => {}
        }
    }
    for op in ops {
        if let Op::DeleteRange { keys } = op
            && let Some(ends) = keys.ends()
            && let Some(key) = written.range::<[u8], _>(ends).next()
        {
            return Err(TxnError::DuplicateKey {
                key: Bytes::copy_from_slice(key),
            });
        }
    }
    Ok(())
}
