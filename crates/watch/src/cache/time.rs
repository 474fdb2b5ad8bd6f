//! Time: bookmarks and the ends of streams.

use masthead_api::Revision;

use super::Cache;
use crate::watcher::{Offered, State};
use crate::{Bookmarks, EndReason, Mono, WatcherId};

/// What became of a bookmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bookmarked {
    /// Queued as the first: somebody must be woken.
    First,
    /// Queued behind others, or not wanted, or it would say nothing new.
    Settled,
    /// The watcher is behind: it must not be told of what it has not got.
    Behind,
}

impl Cache {
    /// Sends the bookmarks and ends the streams that are due by `now`, and adds the watchers to
    /// wake to `woken`. The shell calls it at [`Cache::next_deadline`].
    ///
    /// A bookmark carries the revision of the present state. It waits behind the events in a
    /// watcher's queue; while the watcher still reads the initial state or the history, or its
    /// queue is full, it is put off for a second.
    pub fn handle_time(&mut self, now: Mono, head: Revision, woken: &mut Vec<WatcherId>) {
        let revision = self.revision(head);
        while let Some(id) = self.timers.pop(now) {
            let Some(watcher) = self.watchers.get(id) else {
                continue;
            };
            if watcher.due.deadline.is_some_and(|deadline| deadline <= now) {
                self.end_one(id, EndReason::Timeout, woken);
                continue;
            }
            let bookmarked = self.bookmark(id, revision);
            if bookmarked == Bookmarked::First {
                woken.push(id);
            }
            let Some(watcher) = self.watchers.get_mut(id) else {
                continue;
            };
            match bookmarked {
                Bookmarked::Behind => watcher.due.retry_bookmark(&self.config, now),
                Bookmarked::First | Bookmarked::Settled => {
                    watcher.due.plan_bookmark(&self.config, now);
                }
            }
            self.timers.add(id, &watcher.due);
        }
    }

    /// When [`Cache::handle_time`] has something to do next.
    pub fn next_deadline(&self) -> Option<Mono> {
        self.timers.next()
    }

    pub(super) fn bookmark(&mut self, id: WatcherId, revision: Revision) -> Bookmarked {
        let Some(watcher) = self.watchers.get_mut(id) else {
            return Bookmarked::Settled;
        };
        let ended = matches!(watcher.state, State::Ended(_));
        let unwanted = watcher.bookmarks == Bookmarks::Off;
        if ended || unwanted || revision <= watcher.bookmark_after {
            return Bookmarked::Settled;
        }
        match watcher.offer_bookmark(revision) {
            None => Bookmarked::Behind,
            Some(Offered::First) => Bookmarked::First,
            Some(Offered::Queued | Offered::Passed) => Bookmarked::Settled,
        }
    }
}
