//! An embedded, durable, revisioned key-value store (MVCC) with leases, compaction and snapshots.
//!
//! One thread owns the [`Store`] and commits; any number of threads read through [`Reader`]s, each at
//! one durable revision. The meaning of transactions, revisions, compaction and leases is etcd's.
//!
//! ```
//! use masthead_store::{Store, Txn};
//!
//! let mut store = Store::in_memory();
//! let results = store.commit(vec![Txn::put("/a", "1"), Txn::put("/b", "2")])?;
//! let first = results[0].as_ref().unwrap().commit.as_ref().unwrap().revision;
//! assert_eq!((first.get(), store.revision().get()), (2, 3));
//!
//! let reader = store.reader();
//! assert!(reader.get(b"/b", Some(first))?.is_none());
//! assert_eq!(reader.get(b"/b", None)?.unwrap().value, "2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod commit;
mod dir;
mod index;
mod lease;
mod log;
mod position;
mod range;
mod reader;
mod record;
mod shared;
mod snapshot;
mod space;
mod store;
mod txn;

pub use commit::{Change, Commit, KeyMeta, LeaseId};
pub use dir::{DataDir, DirError, StoreId};
pub use lease::LeaseState;
pub use log::{AppendError, FjallLog, Log, LogBatch, LogError, LogView, MemoryLog, Visit};
pub use position::Position;
pub use range::KeyRange;
pub use reader::{Kv, Page, RangeResult, ReadError, Reader};
pub use record::Damage;
pub use snapshot::{Raise, SnapshotError, SnapshotSummary, check_snapshot, restore};
pub use space::{Filesystem, FreeSpace, SpaceGuard};
pub use store::{
    CommitError, CompactError, CompactProgress, LEASE_TTL_MAX, LeaseError, OpenError, Store,
};
pub use txn::{
    Branch, Compare, Op, RECORD_BYTES_MAX, Relation, Response, TXN_OPS_MAX, Target, Txn, TxnError,
    TxnResult,
};
