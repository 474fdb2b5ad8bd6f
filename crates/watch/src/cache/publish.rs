//! Publishing: an event into the state, the history, and the queues of those who want it.

use std::sync::Arc;

use masthead_api::Event;

use super::Cache;
use crate::watcher::Offered;
use crate::{Mono, WatcherId};

impl Cache {
    /// Takes all events of one revision, in order, and adds the watchers to wake to `woken`.
    ///
    /// Revisions must rise from call to call. Events that this cache has already seen are passed
    /// over, so a feed that begins too early does no harm. Cost: the look-ups of the index, then
    /// some ten nanoseconds for each watcher that wants the event.
    pub fn publish(&mut self, events: Vec<Arc<Event>>, now: Mono, woken: &mut Vec<WatcherId>) {
        let seen = self.history.last();
        for event in events {
            if event.revision <= seen {
                continue;
            }
            self.apply(&event);
            self.dispatch(&event, woken);
            self.history.push(event, now);
        }
        if !self.snapshots.is_empty() {
            self.forget_snapshots();
        }
    }

    fn apply(&mut self, event: &Arc<Event>) {
        self.stats.received += 1;
        match &event.new {
            Some(new) => self.objects.insert(event.key.clone(), Arc::clone(new)),
            None => self.objects.remove(event.key.as_str()),
        };
    }

    fn dispatch(&mut self, event: &Arc<Event>, woken: &mut Vec<WatcherId>) {
        let Self {
            index,
            watchers,
            stats,
            history,
            ..
        } = self;
        let seq = history.end();
        let buckets = index.visit(event, |slots| {
            stats.offered += slots.len() as u64;
            for slot in slots {
                let Some((id, watcher)) = watchers.at_mut(*slot) else {
                    continue;
                };
                match watcher.offer(event, seq) {
                    Offered::Passed => continue,
                    Offered::Queued => {}
                    Offered::First => woken.push(id),
                }
                stats.dispatched += 1;
            }
        });
        stats.visited += buckets;
    }
}
