//! An embedded, durable, revisioned key-value store (MVCC) with leases, compaction and snapshots.
