//! Unique: nothing twice.

use std::collections::BTreeSet;

use crate::evidence::{Evidence, Stream};
use crate::history::Seen;

pub(super) fn check(evidence: &Evidence) -> Result<(), String> {
    evidence.streams.iter().try_for_each(stream)
}

fn stream(stream: &Stream) -> Result<(), String> {
    let mut initial = BTreeSet::new();
    let mut changes = BTreeSet::new();
    for seen in stream.seen() {
        let first = match seen {
            Seen::Initial { key, .. } => initial.insert(*key),
            Seen::Event { revision, key, .. } => changes.insert((*revision, *key)),
            Seen::InitialEnd(_) | Seen::Bookmark(_) | Seen::Garbage => true,
        };
        if !first {
            return Err(format!("{} carried {seen:?} twice", stream.name()));
        }
    }
    Ok(())
}
