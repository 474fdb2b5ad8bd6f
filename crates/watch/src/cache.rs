//! [`Cache`]: the state of one stored resource, its latest history, and everybody who watches it.
//!
//! ```text
//!            publish ──▶ objects (tree) ──▶ Snapshot ──▶ lists, initial states
//!   events ─────┤
//!               ├──────▶ history (ring) ──▶ replays, states of the past
//!               └──────▶ index ──▶ queues of live watchers ──▶ poll
//! ```
//! The shell keeps each cache in one mutex and the store's published revision, `head`, beside it.
//! Every event through `head` has been published to its cache, so a cache is never stale: its
//! revision is `head`, or its own last event's where that was published a moment ago. A request
//! for a revision of the future is the shell's to wait with.
//!
//! - C1: the tree is the list's objects with all published events applied.
//! - C2: a snapshot at N is the present with the history after N undone; where that is not all
//!   there any more, there is none.
//! - C3: after [`Polled::Pending`](crate::Polled::Pending) a watcher is in `woken` of the next call
//!   that has something for it, and not again for more of the same until it has been polled.

mod poll;
mod publish;
mod time;
mod view;
mod watch;

use std::collections::VecDeque;
use std::sync::Arc;

use masthead_api::{Object, Revision};

pub use view::{CacheStats, WatcherPhase, WatcherView, Window};
pub use watch::WatchError;

use crate::history::History;
use crate::index::DispatchIndex;
use crate::snapshot::Objects;
use crate::timers::Timers;
use crate::watchers::Watchers;
use crate::{CacheConfig, Snapshot};

/// The watch cache of one stored resource.
#[derive(Debug)]
pub struct Cache {
    config: CacheConfig,
    objects: Objects,
    history: History,
    /// States of the past, the one used last in front.
    snapshots: VecDeque<Snapshot>,
    watchers: Watchers,
    index: DispatchIndex,
    timers: Timers,
    stats: CacheStats,
}

impl Cache {
    /// A cache of `objects`, which are everything there was at `list_revision`.
    pub fn new(
        config: CacheConfig,
        list_revision: Revision,
        objects: impl IntoIterator<Item = Arc<Object>>,
    ) -> Self {
        Self {
            objects: objects
                .into_iter()
                .map(|object| (object.key.clone(), object))
                .collect(),
            history: History::new(&config, list_revision),
            snapshots: VecDeque::new(),
            watchers: Watchers::default(),
            index: DispatchIndex::new(config.index_field),
            timers: Timers::default(),
            stats: CacheStats::default(),
            config,
        }
    }

    /// The present object at `key` (`namespace/name` or `name`).
    pub fn get(&self, key: &str) -> Option<&Arc<Object>> {
        self.objects.get(key)
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Is there no object?
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The revision of the present state while the store is at `head`.
    pub fn revision(&self, head: Revision) -> Revision {
        self.history.last().max(head)
    }

    /// The present state while the store is at `head`.
    pub fn snapshot(&self, head: Revision) -> Snapshot {
        Snapshot::new(self.revision(head), self.objects.clone())
    }

    /// The state at exactly `revision`, which must not be of the future; `None` where the history
    /// does not reach back so far, and the store must be asked.
    ///
    /// Cost: a change of the tree for each event undone, from the nearest state at hand.
    pub fn snapshot_at(&mut self, revision: Revision) -> Option<Snapshot> {
        if revision >= self.history.last() {
            return Some(self.snapshot(revision));
        }
        if revision < self.history.oldest_accepted() {
            return None;
        }
        let present = self.snapshot(self.history.last());
        let base = self
            .snapshots
            .iter()
            .filter(|snapshot| snapshot.revision() >= revision)
            .min_by_key(|snapshot| snapshot.revision())
            .unwrap_or(&present);
        let snapshot = self.undone(base, revision)?;
        self.keep(&snapshot);
        Some(snapshot)
    }

    /// `base` without what happened after `revision`.
    fn undone(&self, base: &Snapshot, revision: Revision) -> Option<Snapshot> {
        let from = self.history.seq_after(revision);
        let events = self.history.seq_after(base.revision()).events_since(from);
        if events == 0 {
            return Some(base.relabelled(revision));
        }
        let mut objects = base.objects().clone();
        for event in self.history.from(from)?.take(events).rev() {
            match &event.old {
                Some(old) => objects.insert(event.key.clone(), Arc::clone(old)),
                None => objects.remove(event.key.as_str()),
            };
        }
        Some(Snapshot::new(revision, objects))
    }

    /// Keeps a snapshot of this cache at hand, so that the following pages of its listing find it.
    pub fn keep(&mut self, snapshot: &Snapshot) {
        self.snapshots
            .retain(|kept| kept.revision() != snapshot.revision());
        self.snapshots.push_front(snapshot.clone());
        self.snapshots.truncate(self.config.snapshots_max);
    }

    /// Lets go of the states that are out of the history's reach.
    fn forget_snapshots(&mut self) {
        let oldest = self.history.oldest_accepted();
        self.snapshots.retain(|kept| kept.revision() >= oldest);
    }
}

#[cfg(test)]
mod tests;
