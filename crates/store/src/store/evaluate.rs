//! Evaluating a batch: what each transaction does, as records, before anything is durable.
//!
//! New versions go into the index at once, at revisions that no reader looks at yet (I3), so that
//! the next transaction of the batch sees them. If the log then fails, they are taken out again.

mod check;
mod view;

use std::ops::ControlFlow;

use bytes::Bytes;
use masthead_api::Revision;

use crate::index::Entry;
use crate::lease::LeaseBook;
use crate::record::{Record, Tail};
use crate::shared::Shared;
use crate::{
    Branch, Change, Commit, KeyMeta, KeyRange, LeaseId, Op, Position, Response, Txn, TxnError,
    TxnResult,
};
use check::check;

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
