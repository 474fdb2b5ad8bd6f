//! Resumable: a chain of streams, each begun after what the one before carried last, is one stream.

use crate::evidence::{Evidence, Refusal, Stream};
use crate::history::Start;

pub(super) fn check(evidence: &Evidence) -> Result<(), String> {
    for stream in &evidence.streams {
        seam(stream)?;
        chain(evidence, stream)?;
    }
    evidence
        .refusals
        .iter()
        .try_for_each(|refusal| refused(evidence.events_min, refusal))
}

/// Does a stream after N begin with the first change after N?
fn seam(stream: &Stream) -> Result<(), String> {
    if !matches!(stream.opened.start, Start::After(_)) {
        return Ok(());
    }
    let first = stream.owed.first().map(|owed| (owed.revision, owed.key));
    match stream.events().next() {
        Some(event) if Some(event) != first => Err(format!(
            "{} began with {event:?} instead of {first:?}",
            stream.name()
        )),
        Some(_) | None => Ok(()),
    }
}

/// Is what a stream and the one that it continues carried one run of changes?
fn chain(evidence: &Evidence, stream: &Stream) -> Result<(), String> {
    let former = stream.opened.continues;
    let Some(former) = former.and_then(|former| evidence.streams.get(former)) else {
        return Ok(());
    };
    let carried = former.events().chain(stream.events());
    let owed = former.owed.iter().map(|owed| (owed.revision, owed.key));
    for (event, owed) in carried.zip(owed) {
        if event != owed {
            return Err(format!(
                "{}, which continues {}, came to {event:?} instead of {owed:?}",
                stream.name(),
                former.name()
            ));
        }
    }
    Ok(())
}

fn refused(events_min: usize, refusal: &Refusal) -> Result<(), String> {
    let within = refusal.wanted >= refusal.moment.base && refusal.changes_after < events_min;
    let honest = refusal.oldest > refusal.wanted && refusal.oldest_works;
    if within || !honest {
        return Err(format!(
            "a watch was refused that {} changes follow, of {events_min} that are kept at least: {refusal:?}",
            refusal.changes_after
        ));
    }
    Ok(())
}
