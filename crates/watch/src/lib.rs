//! The watch cache: history window, snapshots, watchers, bookmarks, list plans and the dispatch index.
//!
//! Pure: no clock, no thread, no lock, no I/O. Time is [`Mono`], the store's published revision is an
//! argument, and whoever owns a [`Cache`] decides when it is called.

mod cache;
mod config;
mod history;
mod index;
mod mono;
mod page;
mod plan;
mod snapshot;
#[cfg(test)]
mod testing;
mod timers;
mod watcher;
mod watchers;

pub use cache::{Cache, CacheStats, WatchError, WatcherPhase, WatcherView, Window};
pub use config::{CacheConfig, ConfigError};
pub use mono::Mono;
pub use page::{Advanced, Page, SnapshotCursor, page};
pub use plan::{
    Freshness, ListPlan, ListQuery, ListState, PlanError, TokenState, VersionMatch, WatchPath,
    WatchPlan, WatchQuery,
};
pub use snapshot::Snapshot;
pub use watcher::{
    Bookmarks, Delivery, EndReason, InitialEnd, Polled, WatchRequest, WatchStart, WatcherId,
};
