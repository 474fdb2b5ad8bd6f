//! Reliable: nothing is left out.

use std::collections::BTreeSet;

use crate::evidence::{Evidence, Stream, Turn};
use crate::history::Seen;

pub(super) fn check(evidence: &Evidence) -> Result<(), String> {
    evidence.streams.iter().try_for_each(stream)
}

fn stream(stream: &Stream) -> Result<(), String> {
    let mut carried = BTreeSet::new();
    let mut through = 0;
    for turn in &stream.turns {
        match turn {
            Turn::Batch(batch) => {
                for event in batch.seen.iter().filter_map(Seen::event) {
                    carried.insert(event);
                    through = through.max(event.0);
                }
            }
            Turn::Settled(head) => through = through.max(*head),
            Turn::Woken | Turn::Overslept | Turn::Stuck => {}
        }
    }
    let missing = stream
        .owed
        .iter()
        .take_while(|owed| owed.revision <= through)
        .find(|owed| !carried.contains(&(owed.revision, owed.key)));
    match missing {
        None => Ok(()),
        Some(owed) => Err(format!(
            "{} has come to {through} without {owed:?}",
            stream.name()
        )),
    }
}
