//! What can be seen of a cache: its window, its watchers, its counters.

use std::sync::Arc;

use masthead_api::{Revision, Selector};

use super::Cache;
use crate::watcher::State;
use crate::{EndReason, Mono, WatcherId};

/// What the history holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The smallest revision after which a watch may start.
    pub oldest_accepted: Revision,
    /// The revision of the newest event, the list's before there was one.
    pub newest: Revision,
    /// The revision of the list this cache was made from.
    pub list_revision: Revision,
    /// How many events there are.
    pub events: usize,
    /// For how many there is room.
    pub capacity: usize,
}

/// What happened since the cache was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Events published.
    pub received: u64,
    /// Events put into queues, once for each watcher.
    pub dispatched: u64,
    /// Watchers that events were offered to, whether they wanted them or not.
    pub offered: u64,
    /// Buckets of watchers that events visited.
    pub visited: u64,
    /// How often the history's capacity grew.
    pub capacity_grown: u64,
    /// How often the history's capacity shrank.
    pub capacity_shrunk: u64,
    /// Watchers ended because the history dropped what they still needed.
    pub terminated: u64,
}

/// Where a watcher stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatcherPhase {
    /// It reads the initial state.
    Initial,
    /// It reads the history.
    Replaying,
    /// It has caught up.
    Live,
    /// It has ended.
    Ended(EndReason),
}

/// One watcher, seen from outside.
#[derive(Clone, Debug)]
pub struct WatcherView {
    /// Its name.
    pub id: WatcherId,
    /// What it watches.
    pub selector: Arc<Selector>,
    /// Where it stands.
    pub phase: WatcherPhase,
    /// How much is queued for it.
    pub queued: usize,
    /// How much it was given.
    pub delivered: u64,
    /// The revision of the last event or bookmark it was given.
    pub delivered_through: Option<Revision>,
    /// When its stream ends.
    pub deadline: Option<Mono>,
}

impl Cache {
    /// What the history holds.
    pub fn window(&self) -> Window {
        Window {
            oldest_accepted: self.history.oldest_accepted(),
            newest: self.history.last(),
            list_revision: self.history.list_revision(),
            events: self.history.len(),
            capacity: self.history.capacity(),
        }
    }

    /// For how many events the history has room.
    pub fn capacity(&self) -> usize {
        self.history.capacity()
    }

    /// The smallest revision after which a watch may start.
    pub fn oldest(&self) -> Revision {
        self.history.oldest_accepted()
    }

    /// What happened since the cache was made.
    pub fn stats(&self) -> CacheStats {
        let resizes = self.history.resizes();
        CacheStats {
            capacity_grown: resizes.grown,
            capacity_shrunk: resizes.shrunk,
            ..self.stats
        }
    }

    /// All watchers, ended ones included until they are cancelled.
    pub fn watchers(&self) -> impl Iterator<Item = WatcherView> {
        self.watchers.iter().map(|(id, watcher)| WatcherView {
            id,
            selector: Arc::clone(&watcher.selector),
            phase: match watcher.state {
                State::Initial { .. } => WatcherPhase::Initial,
                State::Replaying { .. } => WatcherPhase::Replaying,
                State::Live => WatcherPhase::Live,
                State::Ended(reason) => WatcherPhase::Ended(reason),
            },
            queued: watcher.queue.len(),
            delivered: watcher.delivered,
            delivered_through: watcher.delivered_through,
            deadline: watcher.due.deadline,
        })
    }
}
