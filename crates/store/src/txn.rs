//! [`Txn`]: if all comparisons hold then these operations, else those; atomic, one revision.
//!
//! As in etcd: all comparisons look at the state before the transaction; operations run in order and
//! see the earlier ones; a key may be written once; what changes nothing gets no revision, but
//! writing the same value again is a change.

use std::cmp::Ordering;

use bytes::Bytes;
use masthead_api::Revision;

use crate::{Commit, KeyRange, LeaseId, RangeResult, ReadError};

/// The most operations (or comparisons) in one list.
pub const TXN_OPS_MAX: usize = 1024;

/// The most bytes of key and value together.
pub const RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;

/// If all of `compares` hold, then `then`, else `otherwise`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Txn {
    /// Nothing to compare holds.
    pub compares: Vec<Compare>,
    /// What to do if all comparisons hold.
    pub then: Vec<Op>,
    /// What to do if one does not.
    pub otherwise: Vec<Op>,
}

impl Txn {
    /// A transaction without a condition.
    pub fn of(then: Vec<Op>) -> Self {
        Self {
            then,
            ..Self::default()
        }
    }

    /// Writes one key.
    pub fn put(key: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        Self::of(vec![Op::put(key, value)])
    }

    /// Deletes one key.
    pub fn delete(key: impl Into<Bytes>) -> Self {
        Self::of(vec![Op::delete(key)])
    }

    /// Adds a comparison.
    #[must_use]
    pub fn when(mut self, key: impl Into<Bytes>, relation: Relation, target: Target) -> Self {
        self.compares.push(Compare {
            key: key.into(),
            relation,
            target,
        });
        self
    }

    /// Adds the condition that the key was last written at `revision`, or does not exist (`None`).
    #[must_use]
    pub fn when_unchanged(self, key: impl Into<Bytes>, revision: Option<Revision>) -> Self {
        let number = revision.map_or(0, Revision::get);
        self.when(key, Relation::Equal, Target::ModRevision(number))
    }

    /// Sets what to do if a comparison does not hold.
    #[must_use]
    pub fn or_else(mut self, otherwise: Vec<Op>) -> Self {
        self.otherwise = otherwise;
        self
    }
}

/// One comparison: the key's field, related to an operand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compare {
    /// The key.
    pub key: Bytes,
    /// How the stored field must stand to the operand.
    pub relation: Relation,
    /// The field and the operand.
    pub target: Target,
}

impl Compare {
    /// The field equals the operand.
    pub fn equal(key: impl Into<Bytes>, target: Target) -> Self {
        Self {
            key: key.into(),
            relation: Relation::Equal,
            target,
        }
    }

    /// The field is greater than the operand.
    pub fn greater(key: impl Into<Bytes>, target: Target) -> Self {
        Self {
            key: key.into(),
            relation: Relation::Greater,
            target,
        }
    }
}

/// A field of a key, with the operand that it is compared to. All numbers of an absent key are 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The revision of the last write.
    ModRevision(u64),
    /// The revision of the creation.
    CreateRevision(u64),
    /// The number of writes since the creation.
    Version(u64),
    /// The value. Never holds for an absent key, whatever the relation.
    Value(Bytes),
    /// The lease number, 0 for none.
    Lease(i64),
}

/// How a stored field stands to an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// Equal to the operand.
    Equal,
    /// Anything but equal.
    NotEqual,
    /// Greater than the operand.
    Greater,
    /// Less than the operand.
    Less,
}

impl Relation {
    pub(crate) fn holds(self, ordering: Ordering) -> bool {
        match self {
            Self::Equal => ordering.is_eq(),
            Self::NotEqual => ordering.is_ne(),
            Self::Greater => ordering.is_gt(),
            Self::Less => ordering.is_lt(),
        }
    }
}

/// One operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Writes a key. Without a lease the key leaves the lease that it had.
    Put {
        /// The key, not empty.
        key: Bytes,
        /// The value; may be empty.
        value: Bytes,
        /// The lease that the key is attached to from now on.
        lease: Option<LeaseId>,
    },
    /// Deletes every key of a range that exists.
    DeleteRange {
        /// Which keys.
        keys: KeyRange,
    },
    /// Reads.
    Range {
        /// Which keys.
        keys: KeyRange,
        /// At which revision; `None` sees what this transaction did so far.
        at: Option<Revision>,
        /// The most pairs in the answer.
        limit: usize,
    },
}

impl Op {
    /// Writes a key that is on no lease.
    pub fn put(key: impl Into<Bytes>, value: impl Into<Bytes>) -> Self {
        Self::Put {
            key: key.into(),
            value: value.into(),
            lease: None,
        }
    }

    /// Deletes one key.
    pub fn delete(key: impl Into<Bytes>) -> Self {
        Self::DeleteRange {
            keys: KeyRange::One(key.into()),
        }
    }
}

/// Which list of operations ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Branch {
    /// All comparisons held.
    Then,
    /// One did not.
    Otherwise,
}

/// The answer to one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Response {
    /// Written.
    Put,
    /// So many keys were deleted.
    DeleteRange {
        /// How many.
        deleted: usize,
    },
    /// What was read.
    Range(RangeResult),
}

/// What became of one transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TxnResult {
    /// Which list of operations ran.
    pub branch: Branch,
    /// What changed; `None` if nothing did.
    pub commit: Option<Commit>,
    /// One answer for each operation of the list that ran.
    pub responses: Vec<Response>,
}

impl TxnResult {
    /// Whether all comparisons held.
    pub fn succeeded(&self) -> bool {
        self.branch == Branch::Then
    }
}

/// Why one transaction was refused. Nothing of it happened; the rest of its batch is not affected.
#[derive(Debug, thiserror::Error)]
pub enum TxnError {
    /// A list is too long.
    #[error("{ops} operations in one transaction; at most {TXN_OPS_MAX} are allowed")]
    TooManyOps {
        /// How long.
        ops: usize,
    },
    /// A key is empty.
    #[error("a key is empty; give every operation and comparison a key")]
    EmptyKey,
    /// A pair is too large.
    #[error("a key and its value take {bytes} bytes; at most {RECORD_BYTES_MAX} are allowed")]
    TooLarge {
        /// How large.
        bytes: usize,
    },
    /// A key is written twice, or written and deleted, in one list.
    #[error("a key is written twice in one transaction; write each key once")]
    DuplicateKey {
        /// The key.
        key: Bytes,
    },
    /// A key is to be attached to a lease that does not exist.
    #[error("lease {lease} does not exist or is over; grant a new one")]
    LeaseNotFound {
        /// The lease.
        lease: LeaseId,
    },
    /// A read inside the transaction was not possible.
    #[error(transparent)]
    Read(#[from] ReadError),
}
