//! Bookmarkable: a bookmark vouches for everything through its revision.

use crate::evidence::{Evidence, Stream};
use crate::history::{Seen, Start};

pub(super) fn check(evidence: &Evidence) -> Result<(), String> {
    evidence.streams.iter().try_for_each(stream)
}

fn stream(stream: &Stream) -> Result<(), String> {
    let wrong = |seen: &Seen, why: &str| Err(format!("{} carried {seen:?} {why}", stream.name()));
    let annotated = matches!(
        stream.opened.start,
        Start::State {
            annotated: true,
            ..
        }
    );
    let (mut vouched, mut ended) = (0, false);
    let mut events = Vec::new();
    for batch in stream.batches() {
        for seen in &batch.seen {
            match seen {
                Seen::Bookmark(_) if !stream.opened.bookmarks => {
                    return wrong(seen, "although it wants none");
                }
                Seen::Bookmark(revision) if *revision > batch.moment.durable => {
                    return wrong(seen, "of the future");
                }
                Seen::Bookmark(revision) if *revision <= stream.opened.base => {
                    return wrong(seen, "that says nothing new");
                }
                Seen::Bookmark(revision) => {
                    if missing(stream, &events, *revision) {
                        return wrong(seen, "before everything through it");
                    }
                    vouched = *revision;
                }
                Seen::InitialEnd(revision) => {
                    if !annotated || ended || *revision != stream.opened.base {
                        return wrong(seen, "out of place");
                    }
                    ended = true;
                }
                Seen::Initial { .. } if ended => return wrong(seen, "after the end of its kind"),
                Seen::Event { revision, key, .. } => {
                    if annotated && !ended {
                        return wrong(seen, "before the end of the initial state");
                    }
                    if *revision <= vouched {
                        return wrong(seen, "after a bookmark that vouched for it");
                    }
                    events.push((*revision, *key));
                }
                Seen::Initial { .. } | Seen::Garbage => {}
            }
        }
    }
    Ok(())
}

fn missing(stream: &Stream, events: &[(u64, u8)], through: u64) -> bool {
    stream
        .owed
        .iter()
        .take_while(|owed| owed.revision <= through)
        .any(|owed| !events.contains(&(owed.revision, owed.key)))
}
