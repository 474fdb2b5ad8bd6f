//! `Clock`: where time comes from. The pure crates take it as a value.
//!
//! The server's own sense of time (bookmarks, the ends of watches, waits for a version, compaction,
//! expiry) goes by this clock, which may be one that moves only when it is told to. What guards
//! against slow clients and broken networks goes by real time.

mod virtual_clock;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use masthead_watch::Mono;

pub use virtual_clock::{AdvanceError, Advanced, VirtualClock};
pub(crate) use virtual_clock::{Driven, Follower};

use virtual_clock::Seat;

/// The server's one source of time: a monotonic clock that starts with the server, and the wall
/// clock.
#[derive(Clone, Debug)]
pub(crate) enum Clock {
    /// The machine's.
    Real {
        /// When the server started.
        started: Instant,
    },
    /// One that stands still until it is advanced.
    Virtual(VirtualClock),
}

impl Clock {
    /// The machine's clock, or the one to be advanced by hand.
    pub(crate) fn start(by_hand: Option<&VirtualClock>) -> Self {
        by_hand.map_or_else(
            || Self::Real {
                started: Instant::now(),
            },
            |clock| Self::Virtual(clock.clone()),
        )
    }

    /// The clock that is advanced by hand, where this is one.
    pub(crate) const fn by_hand(&self) -> Option<&VirtualClock> {
        match self {
            Self::Real { .. } => None,
            Self::Virtual(clock) => Some(clock),
        }
    }

    /// Time since the server's start.
    pub(crate) fn mono(&self) -> Mono {
        Mono::new(match self {
            Self::Real { started } => started.elapsed(),
            Self::Virtual(clock) => clock.elapsed(),
        })
    }

    /// The wall clock, since the Unix epoch.
    pub(crate) fn wall(&self) -> Duration {
        match self {
            Self::Real { .. } => wall(),
            Self::Virtual(clock) => clock.wall(),
        }
    }

    /// The wall clock as a moment.
    pub(crate) fn now(&self) -> jiff::Timestamp {
        moment(self.wall())
    }

    /// The wall clock in the form that objects carry, e.g. `2026-07-20T10:00:00Z`.
    pub(crate) fn timestamp(&self) -> String {
        self.now().to_string()
    }

    /// For a task that acts on what happens elsewhere: see [`Follower`].
    pub(crate) fn follower(&self) -> Follower {
        self.by_hand()
            .map_or_else(Follower::never, VirtualClock::follower)
    }

    /// A timer for one task. Whoever advances the clock waits until the task sleeps, so a task
    /// takes its timer when it is spawned and keeps it while it handles what was due.
    pub(crate) fn timer(&self) -> Timer {
        match self {
            Self::Real { .. } => Timer::Real,
            Self::Virtual(clock) => Timer::Virtual(Seat::new(clock)),
        }
    }
}

/// How one task sleeps.
#[derive(Debug)]
pub(crate) enum Timer {
    /// By the machine's clock.
    Real,
    /// Until the clock has been advanced so far.
    Virtual(Seat),
}

impl Timer {
    /// Sleeps for as long as `time`. Cancel-safe.
    pub(crate) async fn sleep(&mut self, time: Duration) {
        match self {
            Self::Real => tokio::time::sleep(time).await,
            Self::Virtual(seat) => seat.sleep(time).await,
        }
    }
}

/// The machine's wall clock.
fn wall() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// A time since the Unix epoch, in whole seconds.
fn moment(wall: Duration) -> jiff::Timestamp {
    i64::try_from(wall.as_secs())
        .ok()
        .and_then(|seconds| jiff::Timestamp::from_second(seconds).ok())
        .unwrap_or(jiff::Timestamp::MAX)
}

#[cfg(test)]
mod tests;
