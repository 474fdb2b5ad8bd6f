//! What the server does by itself: expiry, compaction, the end of namespaces, first objects.

pub(crate) mod bootstrap;
pub(crate) mod compaction;
pub(crate) mod namespaces;
