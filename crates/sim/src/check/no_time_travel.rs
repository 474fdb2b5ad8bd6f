//! NoTimeTravel: nothing from before the start, nothing older after newer, nothing of the future.

use crate::evidence::{Evidence, Stream};
use crate::history::{Seen, Start};
use crate::object::KEYS;

pub(super) fn check(evidence: &Evidence) -> Result<(), String> {
    evidence.streams.iter().try_for_each(|one| {
        begins_in_the_present(one)?;
        goes_forward(one)
    })
}

/// Is the state that a stream begins with as new as it must be?
fn begins_in_the_present(stream: &Stream) -> Result<(), String> {
    let (base, moment) = (stream.opened.base, stream.moment);
    let least = match stream.opened.start {
        Start::After(_) => return Ok(()),
        Start::Now => moment.answered,
        Start::State { at_least, .. } => at_least.max(moment.answered),
    };
    if base < least || base > moment.durable {
        return Err(format!(
            "{} began at {base}, which is not between {least} and {}",
            stream.name(),
            moment.durable
        ));
    }
    Ok(())
}

fn goes_forward(stream: &Stream) -> Result<(), String> {
    let base = stream.opened.base;
    let mut newest = [0; KEYS];
    for batch in stream.batches() {
        for seen in &batch.seen {
            let (key, revision, in_time) = match seen {
                Seen::Initial { key, version } => {
                    (*key, version.revision, version.revision <= base)
                }
                Seen::Event { key, revision, .. } => (*key, *revision, *revision > base),
                Seen::InitialEnd(_) | Seen::Bookmark(_) | Seen::Garbage => continue,
            };
            let former = newest.get_mut(usize::from(key));
            let older = former.is_some_and(|former| std::mem::replace(former, revision) > revision);
            if older || !in_time || revision > batch.moment.durable {
                return Err(format!(
                    "{} carried {seen:?} when {} was durable",
                    stream.name(),
                    batch.moment.durable
                ));
            }
        }
    }
    Ok(())
}
