//! [`Hub`]: the caches, the head, the clock, and who waits for what, as the server keeps them.

use std::collections::BTreeMap;
use std::sync::Arc;

use masthead_api::{Event, Revision};
use masthead_watch::{Cache, EndReason, Mono, WatcherId};

pub(super) struct Hub {
    caches: Vec<Cache>,
    /// For each cache and slot the stream that sleeps there.
    wakers: Vec<BTreeMap<usize, usize>>,
    names: BTreeMap<(u8, WatcherId), usize>,
    pub(super) head: Revision,
    pub(super) now: Mono,
}

impl Hub {
    pub(super) fn new(caches: Vec<Cache>, head: Revision) -> Self {
        Self {
            wakers: caches.iter().map(|_| BTreeMap::new()).collect(),
            caches,
            names: BTreeMap::new(),
            head,
            now: Mono::START,
        }
    }

    pub(super) fn cache(&mut self, storage: u8) -> Option<&mut Cache> {
        self.caches.get_mut(usize::from(storage))
    }

    pub(super) fn publish(&mut self, storage: u8, events: Vec<Arc<Event>>) -> Vec<WatcherId> {
        let (now, mut ids) = (self.now, Vec::new());
        if let Some(cache) = self.cache(storage) {
            cache.publish(events, now, &mut ids);
        }
        ids
    }

    /// What a timer does that is late: nothing where nothing is due.
    pub(super) fn handle_time(&mut self, storage: u8) -> Vec<WatcherId> {
        let (now, head, mut ids) = (self.now, self.head, Vec::new());
        if let Some(cache) = self.cache(storage)
            && cache.next_deadline().is_some_and(|due| due <= now)
        {
            cache.handle_time(now, head, &mut ids);
        }
        ids
    }

    pub(super) fn end_all(&mut self, storage: u8, reason: EndReason) -> Vec<WatcherId> {
        let (head, mut ids) = (self.head, Vec::new());
        if let Some(cache) = self.cache(storage) {
            cache.end_all(reason, head, &mut ids);
        }
        ids
    }

    /// Gives a watcher to a stream.
    pub(super) fn name(&mut self, storage: u8, id: WatcherId, stream: usize) {
        self.names.insert((storage, id), stream);
    }

    pub(super) fn stream(&self, storage: u8, id: WatcherId) -> Option<usize> {
        self.names.get(&(storage, id)).copied()
    }

    /// The stream sleeps until its watcher is woken.
    pub(super) fn sleep(&mut self, storage: u8, id: WatcherId, stream: usize) {
        if let Some(wakers) = self.wakers.get_mut(usize::from(storage)) {
            wakers.insert(id.index(), stream);
        }
    }

    /// The streams that sleep in the slots of these watchers; they do not any more.
    pub(super) fn take_wakers(&mut self, storage: u8, ids: &[WatcherId]) -> Vec<usize> {
        let Some(wakers) = self.wakers.get_mut(usize::from(storage)) else {
            return Vec::new();
        };
        ids.iter()
            .filter_map(|id| wakers.remove(&id.index()))
            .collect()
    }

    /// Forgets a watcher.
    pub(super) fn cancel(&mut self, storage: u8, id: WatcherId) {
        if let Some(cache) = self.cache(storage) {
            cache.cancel(id);
        }
        if let Some(wakers) = self.wakers.get_mut(usize::from(storage)) {
            wakers.remove(&id.index());
        }
        self.names.remove(&(storage, id));
    }
}
