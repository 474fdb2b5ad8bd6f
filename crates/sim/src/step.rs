//! [`Step`]: one thing that happens in a world.
//!
//! A step names what it is about by numbers that mean something in whatever world they meet ("the
//! third of those that are ready, counted around"), so that a plan with steps left out is a plan
//! again. That is what makes shrinking simple.

use crate::disk::{AppendFault, Leaves};
use crate::object::Place;
use crate::pick::Pick;

/// What a write does to one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Stores labels and a node, both by number.
    Put {
        /// Which labels.
        labels: u8,
        /// Which node.
        node: u8,
    },
    /// Removes it, where it is there.
    Delete,
}

/// What a writer thinks the present version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knows {
    /// What the cache says.
    Present,
    /// Something else: the write must fail.
    Wrong,
}

/// One object in a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// Which object.
    pub place: Place,
    /// What happens to it.
    pub change: Change,
    /// On which condition.
    pub knows: Knows,
}

/// From where a client opens its next stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// After what it saw last; from nothing where it saw nothing.
    Last,
    /// No version: the present state first.
    Nothing,
    /// Version 0: some state first.
    Zero,
    /// The present state first, its end marked where bookmarks are wanted.
    Streaming,
    /// The same, at least as new as this many revisions before the head, or after it.
    StreamingFrom(i8),
    /// Without initial events, from the present.
    Now,
    /// After this many revisions before the head, or after it.
    After(i8),
    /// After the oldest revision that the last refusal named.
    Offered,
}

/// How fast a client reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Whenever it can.
    Fast,
    /// At one chance in eight.
    Slow,
}

/// What a client watches, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taste {
    /// Which resource.
    pub storage: u8,
    /// Which objects.
    pub pick: Pick,
    /// Whether it wants bookmarks.
    pub bookmarks: bool,
    /// The timeout of each of its streams.
    pub timeout: Option<u16>,
    /// How fast it reads.
    pub pace: Pace,
}

/// Which state a list asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The newest.
    Newest,
    /// Any.
    Any,
    /// At least as new as this many revisions before the head, or after it.
    AtLeast(i8),
    /// Exactly that.
    Exactly(i8),
}

/// One thing that happens in a world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Somebody hands in a write of one or several objects.
    Write(Vec<Item>),
    /// The committing thread does the next thing it has to do.
    Act,
    /// The committing thread does everything it has to do.
    Flush,
    /// A new client comes and watches.
    Open(Taste, From),
    /// A client without a stream opens one.
    Reopen(u8, From),
    /// A client whose stream has something reads a batch.
    Poll {
        /// Which of those that are ready.
        which: u8,
        /// How much at most.
        max: u8,
        /// Slow readers read only on 0.
        luck: u8,
    },
    /// A client leaves its stream.
    Cut(u8),
    /// The server ends a stream.
    End(u8),
    /// Time passes.
    Pass(u16),
    /// Somebody lists.
    List {
        /// Which resource.
        storage: u8,
        /// Which objects.
        pick: Pick,
        /// Which state.
        wanted: Wanted,
        /// How many at most, 0 for all.
        limit: u8,
    },
    /// Somebody asks for the next page of a listing.
    Page(u8),
    /// Somebody gets an object.
    Get(Place),
    /// The store forgets what is older than this many revisions before the head.
    Compact(u8),
    /// A step of compaction.
    Tidy,
    /// The next append will fail.
    FailAppend(AppendFault),
    /// The machine stops and starts again.
    Crash(Leaves),
    /// The server is stopped and started again.
    Restart,
    /// Everybody reads until nothing is left.
    Settle,
}
