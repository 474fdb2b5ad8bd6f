//! Polling: what a watcher is owed, in order, in batches.

use std::sync::Arc;

use super::Cache;
use crate::history::History;
use crate::page::Advanced;
use crate::watcher::{State, Watcher};
use crate::{Delivery, EndReason, InitialEnd, Polled, WatcherId};

/// What a poll may still do.
struct Budget {
    /// The length of the batch at which it stops.
    until: usize,
    examined: usize,
}

impl Cache {
    /// Appends what `id` is owed to `out`: about `max_events` deliveries at most, more only to keep
    /// the events of one revision together. Cost: what is delivered; while a watcher reads the
    /// initial state or the history, also what it passes over, within a bound.
    ///
    /// Poll again after [`Polled::More`], on waking after [`Polled::Pending`], not after
    /// [`Polled::Ended`].
    pub fn poll(&mut self, id: WatcherId, max_events: usize, out: &mut Vec<Delivery>) -> Polled {
        let start = out.len();
        let Some(watcher) = self.watchers.get_mut(id) else {
            return Polled::Ended(EndReason::Cancelled);
        };
        let budget = Budget {
            until: start + max_events.max(1),
            examined: self.config.poll_examined_max.max(1),
        };
        let polled = step(watcher, &self.history, budget, out);
        watcher.note(out.get(start..).unwrap_or_default());
        if let Polled::Ended(reason) = polled {
            self.end(id, reason);
        }
        polled
    }
}

fn step(
    watcher: &mut Watcher,
    history: &History,
    mut budget: Budget,
    out: &mut Vec<Delivery>,
) -> Polled {
    watcher.drain(budget.until.saturating_sub(out.len()), out);
    if !watcher.queue.is_empty() {
        return Polled::More;
    }
    loop {
        match watcher.state {
            State::Ended(reason) => return Polled::Ended(reason),
            State::Live => return Polled::Pending,
            State::Initial { .. } | State::Replaying { .. } if budget.is_spent(out) => {
                return Polled::More;
            }
            State::Initial { .. } => initial(watcher, &mut budget, out),
            State::Replaying { .. } => {
                if let Some(polled) = replay(watcher, history, &mut budget, out) {
                    return polled;
                }
            }
        }
    }
}

impl Budget {
    const fn is_spent(&self, out: &[Delivery]) -> bool {
        self.examined == 0 || out.len() >= self.until
    }
}

/// Reads on in the snapshot; at its end the history follows.
fn initial(watcher: &mut Watcher, budget: &mut Budget, out: &mut Vec<Delivery>) {
    let State::Initial { cursor, end, next } = &mut watcher.state else {
        return;
    };
    let room = budget.until.saturating_sub(out.len());
    let take = |object: &Arc<_>| out.push(Delivery::Initial(Arc::clone(object)));
    match cursor.advance(room, budget.examined, take) {
        Advanced::More => budget.examined = 0,
        Advanced::Done => {
            if *end == InitialEnd::Annotated {
                out.push(Delivery::InitialEventsEnd(cursor.revision()));
            }
            watcher.state = State::Replaying { next: *next };
        }
    }
}

/// Reads on in the history; at its end the watcher is live.
fn replay(
    watcher: &mut Watcher,
    history: &History,
    budget: &mut Budget,
    out: &mut Vec<Delivery>,
) -> Option<Polled> {
    let State::Replaying { next } = watcher.state else {
        return None;
    };
    let Some(events) = history.from(next) else {
        return Some(Polled::Ended(EndReason::Overrun));
    };
    let mut at = next;
    let mut last = None;
    for event in events {
        if budget.is_spent(out) && last != Some(event.revision) {
            watcher.state = State::Replaying { next: at };
            return Some(Polled::More);
        }
        budget.examined = budget.examined.saturating_sub(1);
        last = Some(event.revision);
        at = at.next();
        if let Some(seen) = watcher.sees(event) {
            out.push(Delivery::Event {
                event: Arc::clone(event),
                seen,
            });
        }
    }
    watcher.state = State::Live;
    None
}
