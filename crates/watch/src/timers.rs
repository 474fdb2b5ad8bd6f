//! [`Timers`]: when each watcher is due, for a bookmark or for its end.
//!
//! One ordered set serves all watchers of a cache; a watcher is in it at most once, at the earlier
//! of its two moments.

use std::collections::BTreeSet;

use crate::{CacheConfig, Mono, WatcherId};

/// When something is due for one watcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Due {
    /// When its stream ends.
    pub(crate) deadline: Option<Mono>,
    /// When its next bookmark is sent.
    pub(crate) bookmark: Option<Mono>,
}

impl Due {
    /// The earlier of both.
    pub(crate) fn earliest(&self) -> Option<Mono> {
        match (self.deadline, self.bookmark) {
            (Some(deadline), Some(bookmark)) => Some(deadline.min(bookmark)),
            (deadline, bookmark) => deadline.or(bookmark),
        }
    }

    /// Plans the bookmark after the one of `now`: a period later, but in any case shortly before
    /// the end; none where that moment is not ahead any more.
    pub(crate) fn plan_bookmark(&mut self, config: &CacheConfig, now: Mono) {
        let regular = now + config.bookmark_period;
        let last = self
            .deadline
            .map(|deadline| deadline.before(config.bookmark_before_deadline));
        let next = last.map_or(regular, |last| last.min(regular));
        self.bookmark = (next > now).then_some(next);
    }

    /// Plans to try again soon; not where the end comes first.
    pub(crate) fn retry_bookmark(&mut self, config: &CacheConfig, now: Mono) {
        let next = now + config.bookmark_retry;
        let in_time = self.deadline.is_none_or(|deadline| next < deadline);
        self.bookmark = in_time.then_some(next);
    }
}

/// All watchers by when they are due.
#[derive(Debug, Default)]
pub(crate) struct Timers(BTreeSet<(Mono, WatcherId)>);

impl Timers {
    pub(crate) fn add(&mut self, id: WatcherId, due: &Due) {
        if let Some(at) = due.earliest() {
            self.0.insert((at, id));
        }
    }

    pub(crate) fn remove(&mut self, id: WatcherId, due: &Due) {
        if let Some(at) = due.earliest() {
            self.0.remove(&(at, id));
        }
    }

    /// Takes the next watcher that is due by `now`.
    pub(crate) fn pop(&mut self, now: Mono) -> Option<WatcherId> {
        if self.next()? > now {
            return None;
        }
        self.0.pop_first().map(|(_, id)| id)
    }

    /// When the next watcher is due.
    pub(crate) fn next(&self) -> Option<Mono> {
        self.0.first().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: u64) -> Mono {
        Mono::new(Duration::from_secs(seconds))
    }

    /// All moments at which a watch started at 100 s gets bookmarks within 200 s.
    fn moments(timeout: Option<u64>) -> Vec<u64> {
        let config = CacheConfig::default();
        let mut due = Due {
            deadline: timeout.map(|timeout| at(100 + timeout)),
            bookmark: None,
        };
        let mut moments = Vec::new();
        due.plan_bookmark(&config, at(100));
        while let Some(moment) = due.bookmark.filter(|moment| *moment <= at(300)) {
            moments.push((moment - at(100)).as_secs());
            due.plan_bookmark(&config, moment);
        }
        moments
    }

    #[test]
    fn bookmarks_come_each_period_and_once_before_the_end() {
        for (timeout, want) in [
            (None, vec![60, 120, 180]),
            (Some(1), vec![]),
            (Some(2), vec![]),
            (Some(3), vec![1]),
            (Some(30), vec![28]),
            (Some(90), vec![60, 88]),
            (Some(200), vec![60, 120, 180, 198]),
        ] {
            assert_eq!(moments(timeout), want, "timeout {timeout:?}");
        }
    }

    #[test]
    fn a_retry_never_passes_the_end() {
        let config = CacheConfig::default();
        let mut due = Due {
            deadline: Some(at(11)),
            bookmark: None,
        };
        due.retry_bookmark(&config, at(10));
        assert_eq!(due.bookmark, None);
        due.retry_bookmark(&config, at(9));
        assert_eq!(due.bookmark, Some(at(10)));
    }
}
