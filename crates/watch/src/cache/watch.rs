//! Beginning and ending watches.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use masthead_api::{Revision, Selector};

use super::Cache;
use crate::history::Seq;
use crate::timers::Due;
use crate::watcher::{State, Watcher};
use crate::{Bookmarks, EndReason, Mono, SnapshotCursor, WatchRequest, WatchStart, WatcherId};

/// Why a watch cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WatchError {
    /// Something after the wanted revision has been dropped from the history.
    #[error("too old resource version: {wanted} ({oldest_accepted})")]
    Expired {
        /// The revision asked for.
        wanted: Revision,
        /// The smallest revision that would have been accepted.
        oldest_accepted: Revision,
    },
}

impl Cache {
    /// Begins a watch. The shell polls it once at the start, then whenever it is woken, and calls
    /// [`Cache::cancel`] when its client has gone or it has ended.
    ///
    /// # Errors
    /// [`WatchError::Expired`] if the start is out of the history's reach.
    pub fn watch(
        &mut self,
        request: WatchRequest,
        now: Mono,
        head: Revision,
    ) -> Result<WatcherId, WatchError> {
        let selector = Arc::new(request.selector);
        let (state, after) = self.start(request.start, &selector, head)?;
        let mut due = Due {
            deadline: request.timeout.map(|after| now + after),
            bookmark: None,
        };
        if request.bookmarks == Bookmarks::On {
            due.plan_bookmark(&self.config, now);
        }
        let id = self.watchers.reserve();
        let position = self.index.add(&selector, id.slot);
        self.timers.add(id, &due);
        let watcher = Watcher {
            state,
            queue: VecDeque::new(),
            queue_events_max: self.queue_events_max(),
            after,
            bookmark_after: after.max(self.history.last()),
            bookmarks: request.bookmarks,
            due,
            position,
            delivered: 0,
            delivered_through: None,
            selector,
        };
        self.watchers.insert(id, watcher);
        if request.timeout == Some(Duration::ZERO) {
            self.end(id, EndReason::Timeout);
        }
        Ok(id)
    }

    /// The first state of a watch, and the revision through which events are not for it.
    fn start(
        &self,
        start: WatchStart,
        selector: &Arc<Selector>,
        head: Revision,
    ) -> Result<(State, Revision), WatchError> {
        match start {
            WatchStart::State { end } => {
                let snapshot = self.snapshot(head);
                let after = snapshot.revision();
                let cursor = Box::new(SnapshotCursor::new(snapshot, Arc::clone(selector)));
                Ok((
                    State::Initial {
                        cursor,
                        end,
                        next: self.history.end(),
                    },
                    after,
                ))
            }
            WatchStart::Now => Ok((State::Live, self.revision(head))),
            WatchStart::After(wanted) => {
                let oldest_accepted = self.history.oldest_accepted();
                if wanted < oldest_accepted {
                    return Err(WatchError::Expired {
                        wanted,
                        oldest_accepted,
                    });
                }
                Ok((self.reading_at(self.history.seq_after(wanted)), wanted))
            }
        }
    }

    /// Replaying, or live where there is nothing to replay.
    fn reading_at(&self, next: Seq) -> State {
        if next == self.history.end() {
            State::Live
        } else {
            State::Replaying { next }
        }
    }

    /// The bound of a new watcher's queue: what comes in a second when the history is as busy as
    /// its capacity says.
    pub(super) fn queue_events_max(&self) -> usize {
        let seconds = (self.config.window.as_secs() as usize).max(1);
        let lower = self.config.queue_events_min.max(1);
        let upper = self.config.queue_events_max.max(lower);
        self.history
            .capacity()
            .div_ceil(seconds)
            .clamp(lower, upper)
    }

    /// Forgets a watcher, whatever its state. A name that is unknown is no error.
    pub fn cancel(&mut self, id: WatcherId) {
        self.unseat(id);
        self.watchers.remove(id);
    }

    /// Ends one watcher's stream cleanly after what is in its queue.
    pub fn end_one(&mut self, id: WatcherId, reason: EndReason, woken: &mut Vec<WatcherId>) {
        if self.end(id, reason) == Ended::Now {
            woken.push(id);
        }
    }

    /// Ends all streams cleanly. Those that want bookmarks and have caught up get a last one, so
    /// that they can go on from it elsewhere.
    pub fn end_all(&mut self, reason: EndReason, head: Revision, woken: &mut Vec<WatcherId>) {
        let revision = self.revision(head);
        let ids: Vec<WatcherId> = self.watchers.iter().map(|(id, _)| id).collect();
        for id in ids {
            self.bookmark(id, revision);
            self.end_one(id, reason, woken);
        }
    }

    pub(super) fn end(&mut self, id: WatcherId, reason: EndReason) -> Ended {
        self.unseat(id);
        match self.watchers.get_mut(id) {
            Some(watcher) if !matches!(watcher.state, State::Ended(_)) => {
                watcher.state = State::Ended(reason);
                self.stats.terminated += u64::from(reason == EndReason::Overrun);
                Ended::Now
            }
            Some(_) | None => Ended::Before,
        }
    }

    /// Takes a watcher that has not ended out of the index and the timers.
    fn unseat(&mut self, id: WatcherId) {
        let Self {
            watchers,
            index,
            timers,
            ..
        } = self;
        let Some(watcher) = watchers.get_mut(id) else {
            return;
        };
        if matches!(watcher.state, State::Ended(_)) {
            return;
        }
        timers.remove(id, &watcher.due);
        let position = watcher.position;
        let moved = index.remove(&watcher.selector, position);
        if let Some((_, moved)) = moved.and_then(|slot| watchers.at_mut(slot)) {
            moved.position = position;
        }
    }
}

/// Did a watcher end by this call?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Now,
    Before,
}
