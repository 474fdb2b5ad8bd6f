//! [`Fault`]: what can be wrong with a history.

use super::history::{Seen, Stamp, Version};

/// A promise that was broken.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum Fault {
    #[error("lost: {key} should be at {wanted:?} or later and is {found:?}")]
    Lost {
        key: String,
        wanted: Version,
        found: Option<Version>,
    },
    #[error("back from the dead: {key} was deleted and is {found:?}")]
    Resurrected { key: String, found: Version },
    #[error("nobody wrote this: {key} at {found:?}")]
    Foreign { key: String, found: Version },
    #[error("a refused write happened: {key} at {found:?}")]
    RefusedHappened { key: String, found: Version },
    #[error("version {revision} stands for two commits: {one} and {other}")]
    RevisionReused {
        revision: u64,
        one: String,
        other: String,
    },
    #[error("{what} at version {revision}, but {floor} was known before")]
    RevisionTooSmall {
        what: String,
        revision: u64,
        floor: u64,
    },
    #[error("event at version {revision} after one at {after}")]
    OutOfOrder { revision: u64, after: u64 },
    #[error("{event:?} does not fit the state before it, {before:?}")]
    WrongEvent {
        event: Seen,
        before: Option<Version>,
    },
    #[error("at version {revision} the events give {watched:?} for {key}, the list has {listed:?}")]
    StreamDiffersFromList {
        revision: u64,
        key: String,
        watched: Option<Version>,
        listed: Option<Version>,
    },
    #[error("no event for the acknowledged write {stamp} of {key}")]
    EventMissing { key: String, stamp: Stamp },
    #[error("two events for the write {stamp}")]
    EventTwice { stamp: Stamp },
    #[error(
        "{events} deletions of {key} were seen, {acknowledged} acknowledged, {unknown} unknown"
    )]
    Deletions {
        key: String,
        events: usize,
        acknowledged: usize,
        unknown: usize,
    },
    #[error("the write {stamp} of {key} happened to {before:?}, which it did not allow")]
    Condition {
        key: String,
        stamp: Stamp,
        before: Option<u64>,
    },
    #[error("watchers disagree at event {at}: {one:?} and {other:?}")]
    Disagreement {
        at: usize,
        one: Option<Seen>,
        other: Option<Seen>,
    },
}
