//! The guarantees, and one checker for each: a function over the evidence that says nothing, or what
//! is wrong. No checker trusts another: each looks only for what breaks its own sentence.

mod atomic;
mod bookmarkable;
mod durable;
mod filter;
mod no_time_travel;
mod ordered;
mod reads;
mod reliable;
mod resumable;
mod unique;
mod wake_discipline;

use std::fmt;

use crate::evidence::Evidence;
use crate::history::History;

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Guarantee {
    /// Writes are what they say and stay.
    Durable,
    /// Lists, pages and gets are true.
    Reads,
    /// Events in order.
    Ordered,
    /// No event twice.
    Unique,
    /// No event missing.
    Reliable,
    /// Revisions whole.
    Atomic,
    /// Streams go on where they ended.
    Resumable,
    /// Bookmarks are true.
    Bookmarkable,
    /// A selector's stream is the set's.
    Filter,
    /// Nothing of before, nothing of the future.
    NoTimeTravel,
    /// Who has something is woken.
    WakeDiscipline,
}

type Checker = fn(&Evidence) -> Result<(), String>;

impl Guarantee {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Durable,
        Self::Reads,
        Self::Ordered,
        Self::Unique,
        Self::Reliable,
        Self::Atomic,
        Self::Resumable,
        Self::Bookmarkable,
        Self::Filter,
        Self::NoTimeTravel,
        Self::WakeDiscipline,
    ];

    /// The guarantee in one sentence.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Durable => {
                "An acknowledged write took the next revision because its condition held, and is there after a crash."
            }
            Self::Reads => {
                "A list, a page or a get is the state at the revision it claims, and one without a version knows every write acknowledged before it began."
            }
            Self::Ordered => {
                "In one stream initial objects come first, by key, and after them revisions never fall."
            }
            Self::Unique => "In one stream, no object comes twice initially and no change twice.",
            Self::Reliable => {
                "From its start until it ends, a stream carries every matching change."
            }
            Self::Atomic => "What one revision changed comes in one batch.",
            Self::Resumable => {
                "A stream that ended is continued from what it carried last without gap or repetition, and is refused only if the history does not reach back so far."
            }
            Self::Bookmarkable => {
                "A bookmark at R comes only to who wants it, and only when everything through R has been sent."
            }
            Self::Filter => {
                "A selector's stream over its initial state is, at each revision it carries, the selected set of that revision."
            }
            Self::NoTimeTravel => {
                "A stream carries nothing from before its start, no older version after a newer one, and nothing that is not durable."
            }
            Self::WakeDiscipline => {
                "Whoever has something to read is woken, and once is enough until it has read."
            }
        }
    }

    const fn checker(self) -> Checker {
        match self {
            Self::Durable => durable::check,
            Self::Reads => reads::check,
            Self::Ordered => ordered::check,
            Self::Unique => unique::check,
            Self::Reliable => reliable::check,
            Self::Atomic => atomic::check,
            Self::Resumable => resumable::check,
            Self::Bookmarkable => bookmarkable::check,
            Self::Filter => filter::check,
            Self::NoTimeTravel => no_time_travel::check,
            Self::WakeDiscipline => wake_discipline::check,
        }
    }
}

/// A guarantee that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub guarantee: Guarantee,
    /// Where, and what was there instead.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentence = self.guarantee.sentence();
        write!(f, "{:?}: {sentence}\n  but {}", self.guarantee, self.detail)
    }
}

/// Everything that is wrong with a history, one violation for each guarantee at most.
pub fn violations(history: &History) -> Vec<Violation> {
    let evidence = Evidence::of(history);
    Guarantee::ALL
        .into_iter()
        .filter_map(|guarantee| {
            let detail = guarantee.checker()(&evidence).err()?;
            Some(Violation { guarantee, detail })
        })
        .collect()
}
