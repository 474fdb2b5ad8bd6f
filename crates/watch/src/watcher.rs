//! [`Watcher`]: one watch as a cursor, and the words for asking for it and reading from it.
//!
//! ```text
//!  State ──▶ Initial ──────▶ (end of initial events) ──▶ Replaying ◀─────────┐
//!            snapshot, lazily                            │  history, by      │ queue full
//!  After(N) ────────────────────────────────────────────▶│  position         │
//!                                                        ▼ caught up         │
//!  Now, After(future) ─────────────────────────────────▶ Live ───────────────┘
//!                                                          queue, filled by publish
//!  from anywhere: timeout, shutdown, history overrun ────▶ Ended
//! ```
//!
//! **A full queue is not the end.** The reference ends a watcher whose buffer is full, and its
//! client must connect again to read the very history that the server still has. Here such a
//! watcher goes back to reading the history itself: it costs the writer nothing (a cursor is a
//! number), loses nothing, and is live again once it has caught up. It ends, cleanly and without a
//! gap, only when the history has dropped an event it has not read yet. So the queue's bound is a
//! matter of speed, memory for a slow client is bounded by the history that exists anyway, and
//! nobody waits for anybody.
//!
//! The same makes the initial state cheap: it is read in batches from a shared snapshot, and what
//! happens meanwhile is not queued but read from the history afterwards.
//!
//! - W1: a watcher is owed exactly the matching events after its start that it was not yet given:
//!   first those in `queue`, then those from the position its state names.
//! - W2: a live watcher's queue is everything it is owed.
//! - W3: a bookmark at R is put only behind everything through R.
//! - W4: all events of one revision are handed out by the same poll.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use masthead_api::{Event, Object, Revision, Selector, WatchEventType};

use crate::history::Seq;
use crate::page::SnapshotCursor;
use crate::timers::Due;

/// An empty queue keeps room for so many events.
const QUEUE_KEPT: usize = 4;

/// Names a watcher of one cache. The name of a watcher that is gone is never given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatcherId {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl WatcherId {
    /// A small number that no other watcher of the same cache has while this one is there: a place
    /// in a table beside the cache.
    pub const fn index(self) -> usize {
        self.slot as usize
    }
}

/// What a client wants to watch.
#[derive(Clone, Debug)]
pub struct WatchRequest {
    /// Of which objects.
    pub selector: Selector,
    /// From where on.
    pub start: WatchStart,
    /// Whether bookmarks are welcome.
    pub bookmarks: Bookmarks,
    /// How long at most; `None` for no end, zero ends it at once.
    pub timeout: Option<Duration>,
}

/// Where a watch starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchStart {
    /// With the present state as ADDED events in key order, then what comes after it.
    State {
        /// What follows the state.
        end: InitialEnd,
    },
    /// With the first event after this revision. A revision of the future waits for it silently.
    After(Revision),
    /// With the first event after the present.
    Now,
}

/// Whether a client is told where the initial events end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialEnd {
    /// By [`Delivery::InitialEventsEnd`].
    Annotated,
    /// Not.
    Silent,
}

/// Whether a watch gets bookmarks from time to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bookmarks {
    /// It does.
    On,
    /// It does not.
    Off,
}

/// One thing for a watch's client, in the order of sending.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// An object of the initial state: ADDED, its own revision.
    Initial(Arc<Object>),
    /// The initial state is complete: the annotated bookmark.
    InitialEventsEnd(Revision),
    /// A change.
    Event {
        /// The change.
        event: Arc<Event>,
        /// How this watch sees it.
        seen: WatchEventType,
    },
    /// Everything through this revision has been delivered.
    Bookmark(Revision),
}

impl Delivery {
    /// The revision of the event; `None` for everything else.
    fn event_revision(&self) -> Option<Revision> {
        match self {
            Self::Event { event, .. } => Some(event.revision),
            Self::Initial(_) | Self::InitialEventsEnd(_) | Self::Bookmark(_) => None,
        }
    }
}

/// What a poll left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Polled {
    /// Nothing: the watcher is in `woken` of a later call when there is something.
    Pending,
    /// More, or perhaps more: poll again, nobody will be woken. The batch may be empty.
    More,
    /// The stream ends after this batch, cleanly.
    Ended(EndReason),
}

/// Why a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Its time was over.
    Timeout,
    /// The history dropped an event that the watcher had not read yet.
    Overrun,
    /// The server stops.
    Shutdown,
    /// The cache is replaced, or its resource is gone.
    Relist,
    /// Somebody wanted it ended.
    Cut,
    /// There is no watcher of this name: it was cancelled.
    Cancelled,
}

/// Where a watcher stands.
#[derive(Debug)]
pub(crate) enum State {
    /// Reading the snapshot; events from `next` on come afterwards.
    Initial {
        cursor: Box<SnapshotCursor>,
        end: InitialEnd,
        next: Seq,
    },
    /// Reading the history at `next`, once the queue is empty.
    Replaying { next: Seq },
    /// Caught up: publish fills the queue.
    Live,
    /// Owed nothing beyond its queue.
    Ended(EndReason),
}

/// One watch.
#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) selector: Arc<Selector>,
    pub(crate) state: State,
    pub(crate) queue: VecDeque<Delivery>,
    pub(crate) queue_events_max: usize,
    /// Events through this revision are not for this watcher.
    pub(crate) after: Revision,
    /// Bookmarks through this revision say nothing new.
    pub(crate) bookmark_after: Revision,
    pub(crate) bookmarks: Bookmarks,
    pub(crate) due: Due,
    /// Where in its bucket of the index it sits.
    pub(crate) position: u32,
    pub(crate) delivered: u64,
    pub(crate) delivered_through: Option<Revision>,
}

/// What became of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offered {
    /// Not for this watcher, or not by way of its queue.
    Passed,
    /// Queued behind others.
    Queued,
    /// Queued as the first: somebody must be woken.
    First,
}

impl Watcher {
    /// How this watcher sees `event`; `None` if not at all.
    pub(crate) fn sees(&self, event: &Event) -> Option<WatchEventType> {
        if event.revision <= self.after {
            return None;
        }
        let matches = |object: &Option<Arc<Object>>| {
            object.as_ref().is_some_and(|o| self.selector.matches(o))
        };
        Event::seen(matches(&event.old), matches(&event.new))
    }

    /// Offers a new event, which is at `seq` of the history.
    pub(crate) fn offer(&mut self, event: &Arc<Event>, seq: Seq) -> Offered {
        if !matches!(self.state, State::Live) {
            return Offered::Passed;
        }
        let Some(seen) = self.sees(event) else {
            return Offered::Passed;
        };
        let within = self.queue.back().and_then(Delivery::event_revision) == Some(event.revision);
        if self.queue.len() >= self.queue_events_max && !within {
            self.state = State::Replaying { next: seq };
            return Offered::Passed;
        }
        self.push(Delivery::Event {
            event: Arc::clone(event),
            seen,
        })
    }

    /// Queues a bookmark behind everything else, if all the rest is in the queue.
    pub(crate) fn offer_bookmark(&mut self, revision: Revision) -> Option<Offered> {
        let room = self.queue.len() < self.queue_events_max;
        (room && matches!(self.state, State::Live)).then(|| self.push(Delivery::Bookmark(revision)))
    }

    fn push(&mut self, delivery: Delivery) -> Offered {
        let first = self.queue.is_empty();
        self.queue.push_back(delivery);
        if first {
            Offered::First
        } else {
            Offered::Queued
        }
    }

    /// Moves at most `max` deliveries, and the rest of the last one's revision, from the queue to
    /// `out`.
    pub(crate) fn drain(&mut self, max: usize, out: &mut Vec<Delivery>) {
        let start = out.len();
        while let Some(next) = self.queue.front() {
            let within = next.event_revision().is_some()
                && next.event_revision() == out.last().and_then(Delivery::event_revision);
            if out.len() - start >= max && !within {
                return;
            }
            out.extend(self.queue.pop_front());
        }
        if self.queue.capacity() > QUEUE_KEPT {
            self.queue = VecDeque::new();
        }
    }

    /// Notes what was handed out.
    pub(crate) fn note(&mut self, delivered: &[Delivery]) {
        self.delivered += delivered.len() as u64;
        let through = delivered.iter().rev().find_map(|delivery| match delivery {
            Delivery::Event { event, .. } => Some(event.revision),
            Delivery::InitialEventsEnd(revision) | Delivery::Bookmark(revision) => Some(*revision),
            Delivery::Initial(_) => None,
        });
        self.delivered_through = through.or(self.delivered_through);
    }
}
