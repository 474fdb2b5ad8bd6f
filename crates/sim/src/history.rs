//! [`History`]: what happened in a world, as values, in order. All that the checkers know.

use masthead_watch::EndReason;

use crate::object::{Content, Place, STORAGES, State, Version};
use crate::pick::Pick;

/// One object in a write that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Put {
    /// Which object.
    pub place: Place,
    /// The revision that must be its present one; `None`: it must not exist.
    pub expected: Option<u64>,
    /// The new content; `None` for a deletion.
    pub content: Option<Content>,
}

/// A write: all of it or nothing, in one revision.
pub type Write = Vec<Put>;

/// What became of a batch of writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The store did its work: for each write its revision, or `None` for a conflict.
    Done(Vec<Option<u64>>),
    /// The store refused and nothing happened.
    Refused,
    /// The store does not know; only the next start can tell.
    Unknown,
}

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ADDED
    Added,
    /// MODIFIED
    Modified,
    /// DELETED
    Deleted,
}

/// One thing that a client got from its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// An object of the initial state.
    Initial {
        /// Which key.
        key: u8,
        /// Its version.
        version: Version,
    },
    /// The bookmark that ends the initial state.
    InitialEnd(u64),
    /// A change.
    Event {
        /// Its type.
        kind: Kind,
        /// Which key.
        key: u8,
        /// The revision of the change.
        revision: u64,
        /// The object in the event.
        version: Version,
    },
    /// A bookmark.
    Bookmark(u64),
    /// Bytes that make no sense.
    Garbage,
}

impl Seen {
    /// The revision of a change, with its key.
    pub const fn event(&self) -> Option<(u64, u8)> {
        match self {
            Self::Event { key, revision, .. } => Some((*revision, *key)),
            Self::Initial { .. } | Self::InitialEnd(_) | Self::Bookmark(_) | Self::Garbage => None,
        }
    }
}

/// Where a stream was asked to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the state.
    State {
        /// Is its end marked?
        annotated: bool,
        /// The least revision of the state.
        at_least: u64,
    },
    /// After the present.
    Now,
    /// After this revision.
    After(u64),
}

/// A stream that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Its number: streams count from 0.
    pub stream: usize,
    /// Which resource.
    pub storage: u8,
    /// Which objects.
    pub pick: Pick,
    /// Are bookmarks wanted?
    pub bookmarks: bool,
    /// What the client asked for.
    pub start: Start,
    /// The stream that this one goes on with, from what that carried last.
    pub continues: Option<usize>,
    /// Changes through this revision are not for it: what was asked for, or the present.
    pub base: u64,
}

/// What a list answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// A page, or the whole.
    Items {
        /// The revision that the list claims.
        revision: u64,
        /// The objects.
        items: Vec<(u8, Version)>,
        /// Is there a token for a next page?
        more: bool,
        /// What it says of how many remain.
        remaining: Option<usize>,
    },
    /// It is not there any more.
    Gone,
    /// It is not there yet.
    TooNew,
}

/// Which state a list asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The newest.
    Newest,
    /// Any.
    Any,
    /// At least this one.
    AtLeast(u64),
    /// Exactly this one; by a token as well.
    Exactly(u64),
}

/// One list, or one page of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// Which resource.
    pub storage: u8,
    /// Which objects.
    pub pick: Pick,
    /// Which state.
    pub asked: Asked,
    /// How many at most, 0 for all.
    pub limit: usize,
    /// The key after which the page begins.
    pub after: Option<u8>,
    /// The answer.
    pub answer: Listed,
}

/// A change as the store's own history tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The revision.
    pub revision: u64,
    /// Which object.
    pub place: Place,
    /// What it became; `None` for a deletion.
    pub content: Option<Content>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The store was given a batch.
    Batch {
        /// The number of its first write; they count on from there.
        first: usize,
        /// The writes.
        writes: Vec<Write>,
        /// What became of them.
        outcome: Outcome,
    },
    /// A writer was told that its write is at this revision, or failed.
    Answered {
        /// Which write.
        write: usize,
        /// Its revision.
        revision: Option<u64>,
    },
    /// The server started again.
    Started {
        /// The newest revision of the store.
        head: u64,
        /// Where its history begins.
        base: u64,
        /// What is in it.
        states: Box<[State; STORAGES]>,
        /// What it says that happened since its history begins.
        followed: Vec<Followed>,
    },
    /// The server could not start again.
    StartFailed(String),
    /// The store forgot what was before this revision.
    Compacted(u64),
    /// A stream was opened.
    Opened(Opened),
    /// A stream was not opened, since its start is too old.
    Refused {
        /// Which resource.
        storage: u8,
        /// The revision asked for.
        wanted: u64,
        /// The oldest that would do, it is said.
        oldest: u64,
        /// Whether it would.
        oldest_works: bool,
    },
    /// A client read a batch.
    Got {
        /// From which stream.
        stream: usize,
        /// What.
        seen: Vec<Seen>,
        /// Why the stream ended, if it did.
        ended: Option<EndReason>,
    },
    /// A stream is no more: its client left, or the server is gone.
    Closed {
        /// Which.
        stream: usize,
    },
    /// The cache said that a stream has something now.
    Woken {
        /// Which.
        stream: usize,
    },
    /// A stream that nobody had woken was asked, and had something.
    Overslept {
        /// Which.
        stream: usize,
    },
    /// A stream says that there is more, again and again.
    Stuck {
        /// Which.
        stream: usize,
    },
    /// Everybody has read everything through this revision.
    Settled {
        /// Which.
        head: u64,
    },
    /// Somebody listed.
    Listed(List),
    /// Somebody got an object.
    Fetched {
        /// Which.
        place: Place,
        /// What was there.
        version: Option<Version>,
    },
}

/// What happened in a world.
#[derive(Clone, Debug)]
pub struct History {
    /// The least number of events that a cache keeps.
    pub events_min: usize,
    /// All of it.
    pub records: Vec<Record>,
}
