//! [`CacheConfig`]: the sizes and periods of one cache.

use std::time::Duration;

const WINDOW: Duration = Duration::from_secs(75);
const HISTORY_EVENTS_MAX: usize = 100 * 1024;
const WINDOW_DOUBLINGS_MAX: u32 = 14;

/// Sizes and periods. The defaults are the reference's, except where the field says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheConfig {
    /// How old an event must be before the history may let go of it to make room: 75 s, which is
    /// one bookmark period and 15 s for a client to come back.
    pub window: Duration,
    /// The history's first and smallest capacity: 100 events.
    pub history_events_min: usize,
    /// The history's largest capacity: 102,400 events for windows through 75 s. An event is some
    /// 200 bytes beside its two objects.
    pub history_events_max: usize,
    /// The smallest bound of a watcher's queue. The reference has 10; a full queue ends a watcher
    /// there and only sends it back into the history here, so this is a matter of speed alone.
    pub queue_events_min: usize,
    /// The largest bound of a watcher's queue: 1,000 events of 16 bytes.
    pub queue_events_max: usize,
    /// A selectable field by whose value watchers are indexed, e.g. `spec.nodeName`.
    pub index_field: Option<&'static str>,
    /// From a watch's start, and from each bookmark, to the next: 60 s.
    pub bookmark_period: Duration,
    /// How long before a watch's end its last bookmark is sent: 2 s.
    pub bookmark_before_deadline: Duration,
    /// When a bookmark is tried again that could not be sent in time: 1 s.
    pub bookmark_retry: Duration,
    /// How many states of the past are kept at hand for the following pages of lists: 16.
    pub snapshots_max: usize,
    /// How many objects or events one poll looks at, whether they match or not, so that nobody
    /// holds the cache for long: 1,024, some 100 µs.
    pub poll_examined_max: usize,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self {
            window: WINDOW,
            history_events_min: 100,
            history_events_max: HISTORY_EVENTS_MAX,
            queue_events_min: 64,
            queue_events_max: 1000,
            index_field: None,
            bookmark_period: Duration::from_mins(1),
            bookmark_before_deadline: Duration::from_secs(2),
            bookmark_retry: Duration::from_secs(1),
            snapshots_max: 16,
            poll_examined_max: 1024,
        }
    }
}

/// Why a configuration cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A history must hold something.
    #[error("history_events_min is {min} and history_events_max {max}, want 1 <= min <= max")]
    History {
        /// The smallest capacity given.
        min: usize,
        /// The largest capacity given.
        max: usize,
    },
    /// A queue must hold something.
    #[error("queue_events_min is {min} and queue_events_max {max}, want 1 <= min <= max")]
    Queue {
        /// The smallest bound given.
        min: usize,
        /// The largest bound given.
        max: usize,
    },
    /// A poll must get somewhere.
    #[error("poll_examined_max is 0, want at least 1")]
    Poll,
}

impl CacheConfig {
    /// The defaults with another window. A longer window gets a larger history: the bound doubles
    /// with each doubling of 75 s that the window needs, at most 14 times.
    pub fn with_window(window: Duration) -> Self {
        let mut doublings = 0;
        while doublings < WINDOW_DOUBLINGS_MAX && WINDOW.saturating_mul(1 << doublings) < window {
            doublings += 1;
        }
        Self {
            window,
            history_events_max: HISTORY_EVENTS_MAX << doublings,
            ..Self::default()
        }
    }

    /// Tiny bounds, with which a short test meets every edge.
    pub fn tiny() -> Self {
        Self {
            history_events_min: 4,
            history_events_max: 8,
            queue_events_min: 2,
            queue_events_max: 2,
            snapshots_max: 2,
            poll_examined_max: 3,
            ..Self::default()
        }
    }

    /// Can a cache work with this?
    ///
    /// # Errors
    /// [`ConfigError`] names the fields that contradict each other. A cache made regardless takes
    /// the nearest bounds that work.
    pub const fn check(&self) -> Result<(), ConfigError> {
        let Self {
            history_events_min: min,
            history_events_max: max,
            ..
        } = *self;
        if min == 0 || min > max {
            return Err(ConfigError::History { min, max });
        }
        let Self {
            queue_events_min: min,
            queue_events_max: max,
            ..
        } = *self;
        if min == 0 || min > max {
            return Err(ConfigError::Queue { min, max });
        }
        if self.poll_examined_max == 0 {
            return Err(ConfigError::Poll);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_bound_doubles_with_the_window_at_most_fourteen_times() {
        for (window, events_max) in [
            (WINDOW, 102_400),
            (Duration::from_secs(45), 102_400),
            (WINDOW * 4, 409_600),
            (WINDOW * 3, 409_600),
            (WINDOW * (1 << 20), 102_400 << 14),
        ] {
            assert_eq!(
                CacheConfig::with_window(window).history_events_max,
                events_max
            );
        }
    }

    #[test]
    fn a_bound_of_nothing_is_refused() {
        assert_eq!(CacheConfig::default().check(), Ok(()));
        assert_eq!(CacheConfig::tiny().check(), Ok(()));
        let no_history = CacheConfig {
            history_events_min: 0,
            ..CacheConfig::default()
        };
        assert_eq!(
            no_history.check(),
            Err(ConfigError::History {
                min: 0,
                max: 102_400
            })
        );
        let no_poll = CacheConfig {
            poll_examined_max: 0,
            ..CacheConfig::default()
        };
        assert_eq!(no_poll.check(), Err(ConfigError::Poll));
    }
}
