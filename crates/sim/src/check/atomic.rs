//! Atomic: the events of a revision come together, or the stream does not get so far.

use std::collections::BTreeMap;

use crate::evidence::{Evidence, Stream};
use crate::history::Seen;

pub(super) fn check(evidence: &Evidence) -> Result<(), String> {
    evidence.streams.iter().try_for_each(stream)
}

fn stream(stream: &Stream) -> Result<(), String> {
    let mut batch_of = BTreeMap::new();
    for (at, batch) in stream.batches().enumerate() {
        for (revision, _) in batch.seen.iter().filter_map(Seen::event) {
            let first = *batch_of.entry(revision).or_insert(at);
            if first != at {
                return Err(format!(
                    "{} carried revision {revision} in batches {first} and {at}",
                    stream.name()
                ));
            }
        }
    }
    let torn = stream.owed.iter().find(|owed| {
        batch_of.contains_key(&owed.revision)
            && !stream
                .events()
                .any(|event| event == (owed.revision, owed.key))
    });
    match torn {
        None => Ok(()),
        Some(owed) => Err(format!(
            "{} carried a part of revision {} without {owed:?}",
            stream.name(),
            owed.revision
        )),
    }
}
