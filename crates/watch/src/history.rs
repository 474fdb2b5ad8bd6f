//! [`History`]: the latest events of one resource, and which revisions a watch may still start at.
//!
//! Capacity, not age, bounds it, and it follows the rate of writes:
//!
//! ```text
//! a new event finds the history full
//!   its oldest event is younger than the window        → twice the capacity, nothing is dropped
//!   its newest quarter is older than the window         → half the capacity, the newest half stays
//!   still full                                          → the oldest event is dropped
//! ```
//! So a busy resource keeps between one and two windows of events, a quiet one its last hundred for
//! ever, and a burst is kept whole.
//!
//! - H1: events are in the order of their revisions, without a gap since the oldest kept.
//! - H2: a watch after revision N is accepted only if every event after N is here.
//! - H3: a position ([`Seq`]) names one event for ever; a dropped one is known to be dropped.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use masthead_api::{Event, Revision};

use crate::{CacheConfig, Mono};

/// A position among all events this history ever took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seq(u64);

impl Seq {
    /// The position right after this one.
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// How many events there are from `earlier` until here.
    pub(crate) const fn events_since(self, earlier: Self) -> usize {
        self.0.saturating_sub(earlier.0) as usize
    }
}

/// How often the capacity changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resizes {
    pub(crate) grown: u64,
    pub(crate) shrunk: u64,
}

/// The ring of latest events.
#[derive(Debug)]
pub(crate) struct History {
    entries: VecDeque<Entry>,
    first: u64,
    capacity: usize,
    bounds: (usize, usize),
    window: Duration,
    list_revision: Revision,
    /// The revision of the last event dropped; `None` while everything since the list is here.
    dropped: Option<Revision>,
    resizes: Resizes,
}

#[derive(Debug)]
struct Entry {
    event: Arc<Event>,
    at: Mono,
}

impl History {
    /// An empty history of what happens after `list_revision`.
    pub(crate) fn new(config: &CacheConfig, list_revision: Revision) -> Self {
        let lower = config.history_events_min.max(1);
        Self {
            entries: VecDeque::new(),
            first: 0,
            capacity: lower,
            bounds: (lower, config.history_events_max.max(lower)),
            window: config.window,
            list_revision,
            dropped: None,
            resizes: Resizes::default(),
        }
    }

    /// Appends an event that happened `now`.
    pub(crate) fn push(&mut self, event: Arc<Event>, now: Mono) {
        self.resize(now);
        while self.entries.len() >= self.capacity {
            self.drop_oldest();
        }
        self.entries.push_back(Entry { event, at: now });
    }

    fn resize(&mut self, now: Mono) {
        let Some(oldest) = self.entries.front() else {
            return;
        };
        if self.entries.len() < self.capacity {
            return;
        }
        let (lower, upper) = self.bounds;
        let quarter = self
            .entries
            .get(self.capacity - self.capacity / 4)
            .unwrap_or(oldest);
        if now - oldest.at < self.window {
            let grown = self.capacity.saturating_mul(2).min(upper);
            self.resizes.grown += u64::from(grown > self.capacity);
            self.capacity = grown;
        } else if now - quarter.at > self.window {
            let shrunk = (self.capacity / 2).max(lower);
            self.resizes.shrunk += u64::from(shrunk < self.capacity);
            self.capacity = shrunk;
            while self.entries.len() > shrunk {
                self.drop_oldest();
            }
            self.entries.shrink_to(shrunk);
        }
    }

    fn drop_oldest(&mut self) {
        if let Some(entry) = self.entries.pop_front() {
            self.first += 1;
            self.dropped = Some(entry.event.revision);
        }
    }

    /// The smallest revision after which a watch may still start.
    ///
    /// It is one less than the oldest event's revision, or the list's while nothing was dropped.
    /// Where only some events of a revision were dropped, it is that revision itself.
    pub(crate) fn oldest_accepted(&self) -> Revision {
        let Some(dropped) = self.dropped else {
            return self.list_revision;
        };
        let before = self
            .entries
            .front()
            .and_then(|entry| entry.event.revision.previous());
        before.map_or(dropped, |before| before.max(dropped))
    }

    /// The revision of the newest event, the list's before there was one.
    pub(crate) fn last(&self) -> Revision {
        self.entries
            .back()
            .map_or(self.list_revision, |entry| entry.event.revision)
    }

    /// Where the events after `revision` start; the end if there is none.
    pub(crate) fn seq_after(&self, revision: Revision) -> Seq {
        let at = self
            .entries
            .partition_point(|entry| entry.event.revision <= revision);
        Seq(self.first + at as u64)
    }

    /// Where the next event will be.
    pub(crate) fn end(&self) -> Seq {
        Seq(self.first + self.entries.len() as u64)
    }

    /// The events from `seq` on; `None` if the event at `seq` was dropped.
    pub(crate) fn from(
        &self,
        seq: Seq,
    ) -> Option<impl DoubleEndedIterator<Item = &Arc<Event>> + ExactSizeIterator> {
        let skip = seq.0.checked_sub(self.first)?;
        Some(
            self.entries
                .iter()
                .skip(skip as usize)
                .map(|entry| &entry.event),
        )
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) const fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) const fn list_revision(&self) -> Revision {
        self.list_revision
    }

    pub(crate) const fn resizes(&self) -> Resizes {
        self.resizes
    }
}

#[cfg(test)]
mod tests;
