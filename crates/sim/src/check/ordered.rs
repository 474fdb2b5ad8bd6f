//! Ordered: initial objects by key, then events by revision.

use crate::evidence::{Evidence, Stream};
use crate::history::Seen;

/// How far a stream has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    Begin,
    Initial(u8),
    Changes(u64),
}

pub(super) fn check(evidence: &Evidence) -> Result<(), String> {
    evidence.streams.iter().try_for_each(stream)
}

fn stream(stream: &Stream) -> Result<(), String> {
    let mut at = At::Begin;
    for seen in stream.seen() {
        let next = match seen {
            Seen::Initial { key, .. } => At::Initial(*key),
            Seen::InitialEnd(_) => At::Changes(0),
            Seen::Event { revision, .. } | Seen::Bookmark(revision) => At::Changes(*revision),
            Seen::Garbage => return Err(format!("{} carried bytes without sense", stream.name())),
        };
        if next < at {
            return Err(format!("{} carried {seen:?} too late", stream.name()));
        }
        at = next;
    }
    Ok(())
}
