//! [`Clock`]: where time comes from. The pure crates take it as a value.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use masthead_watch::Mono;

/// The server's one source of time: a monotonic clock that starts with the server, and the wall
/// clock.
#[derive(Debug)]
pub(crate) struct Clock {
    started: Instant,
}

impl Clock {
    /// A clock that starts now.
    pub(crate) fn start() -> Self {
        Self {
            started: Instant::now(),
        }
    }

    /// Time since the server's start.
    pub(crate) fn mono(&self) -> Mono {
        Mono::new(self.started.elapsed())
    }

    /// The wall clock, since the Unix epoch.
    #[expect(
        clippy::unused_self,
        reason = "a clock is asked, wherever its time comes from"
    )]
    pub(crate) fn wall(&self) -> Duration {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
    }

    /// The wall clock as a moment.
    pub(crate) fn now(&self) -> jiff::Timestamp {
        let seconds = i64::try_from(self.wall().as_secs()).unwrap_or(0);
        jiff::Timestamp::from_second(seconds).unwrap_or_default()
    }

    /// The wall clock in the form that objects carry, e.g. `2026-07-20T10:00:00Z`.
    pub(crate) fn timestamp(&self) -> String {
        self.now().to_string()
    }
}
