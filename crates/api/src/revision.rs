//! [`Revision`]: a position in the store's own history.

use std::fmt;
use std::num::NonZeroU64;

/// Position of the store in its own history. The empty store is at 1; each commit adds exactly 1;
/// 0 does not exist.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(NonZeroU64);

impl Revision {
    /// Where an empty store stands.
    pub const FIRST: Self = Self(NonZeroU64::MIN);

    /// The revision with this number; `None` for 0.
    pub const fn new(number: u64) -> Option<Self> {
        match NonZeroU64::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number, never 0.
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The revision right after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The revision right before this one; `None` before the first.
    pub const fn previous(self) -> Option<Self> {
        Self::new(self.0.get() - 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_no_revision_and_the_first_has_no_previous() {
        assert_eq!(Revision::new(0), None);
        assert_eq!(Revision::FIRST.previous(), None);
        assert_eq!(Revision::FIRST.next().previous(), Some(Revision::FIRST));
    }
}
