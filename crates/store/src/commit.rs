//! What a transaction did: [`Commit`], its [`Change`]s, and the facts kept with each key.

use std::fmt;
use std::num::NonZeroI64;

use bytes::Bytes;
use masthead_api::Revision;

/// The number of a lease. Any number but 0, negative ones included, as in etcd.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LeaseId(NonZeroI64);

impl LeaseId {
    /// The greatest number of a lease.
    pub const MAX: Self = Self(NonZeroI64::MAX);

    /// The lease with this number; `None` for 0, which means "no lease".
    pub const fn new(number: i64) -> Option<Self> {
        match NonZeroI64::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number, never 0.
    pub const fn get(self) -> i64 {
        self.0.get()
    }
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the store knows of one version of a key besides its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyMeta {
    /// The revision that created the key (after its last deletion, if any).
    pub create_revision: Revision,
    /// The revision that wrote this version.
    pub mod_revision: Revision,
    /// How many writes since the creation: 1 for the first. 0 says: this version is a deletion.
    pub version: u64,
    /// The lease that the key is attached to.
    pub lease: Option<LeaseId>,
}

/// What happened to one key in one revision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The key.
    pub key: Bytes,
    /// The new value; `None` says that the key was deleted.
    pub value: Option<Bytes>,
    /// The facts of the new version. For a deletion: the deleting revision, version 0, no lease.
    pub meta: KeyMeta,
    /// The facts of the version before; `None` if the key did not exist.
    pub previous: Option<KeyMeta>,
}

/// All that happened in one revision, in the order in which it was done. Never empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Commit {
    /// The revision.
    pub revision: Revision,
    /// The changes, at most one for each key.
    pub changes: Vec<Change>,
}
