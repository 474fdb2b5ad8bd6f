//! [`Mono`]: a moment, as the time since the server started.

use std::ops::{Add, Sub};
use std::time::Duration;

/// A moment on the server's monotonic clock. This crate never asks a clock: whoever calls it says
/// what time it is, so that tests and the steppable clock decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mono(Duration);

impl Mono {
    /// When the server started.
    pub const START: Self = Self(Duration::ZERO);

    /// The moment `since_start` after the start.
    pub const fn new(since_start: Duration) -> Self {
        Self(since_start)
    }

    /// How long after the start this is.
    pub const fn since_start(self) -> Duration {
        self.0
    }

    /// This moment less `earlier`; the start where that would be before it.
    #[must_use]
    pub const fn before(self, earlier: Duration) -> Self {
        Self(self.0.saturating_sub(earlier))
    }
}

impl Add<Duration> for Mono {
    type Output = Self;

    fn add(self, later: Duration) -> Self {
        Self(self.0.saturating_add(later))
    }
}

impl Sub for Mono {
    type Output = Duration;

    /// How long after `earlier` this is; zero where it is not after it.
    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}
