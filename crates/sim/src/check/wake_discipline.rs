//! WakeDiscipline: who sleeps has nothing to read.

use crate::evidence::{Evidence, Stream, Turn};

/// Between two reads a watcher may be woken by what it gets, and once more by its end.
const WAKES_MAX: usize = 2;

pub(super) fn check(evidence: &Evidence) -> Result<(), String> {
    evidence.streams.iter().try_for_each(stream)
}

fn stream(stream: &Stream) -> Result<(), String> {
    let mut wakes = 0;
    for turn in &stream.turns {
        match turn {
            Turn::Overslept => {
                return Err(format!("{} had something and slept on", stream.name()));
            }
            Turn::Stuck => return Err(format!("{} never says that it is done", stream.name())),
            Turn::Woken => wakes += 1,
            Turn::Batch(_) => wakes = 0,
            Turn::Settled(_) => {}
        }
        if wakes > WAKES_MAX {
            return Err(format!("{} was woken again and again", stream.name()));
        }
    }
    Ok(())
}
