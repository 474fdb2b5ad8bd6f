//! Filter: a client that keeps what its stream says has, after each batch, the selected set.

use crate::evidence::{Evidence, Stream};
use crate::history::{Kind, Seen, Start};
use crate::object::{State, Version};
use crate::timeline::Timeline;

pub(super) fn check(evidence: &Evidence) -> Result<(), String> {
    evidence
        .streams
        .iter()
        .try_for_each(|one| stream(&evidence.timeline, one))
}

/// What a client has, and since when that is a whole state.
struct Replica {
    set: State,
    /// `None` while the initial state is under way.
    at: Option<u64>,
}

fn stream(timeline: &Timeline, stream: &Stream) -> Result<(), String> {
    let initial = matches!(stream.opened.start, Start::State { .. });
    let selected = |at| selected(timeline, stream, at);
    let mut replica = Replica {
        set: State::default(),
        at: None,
    };
    if !initial {
        // Of a future revision nothing is known yet; what it selects is looked up when it is there.
        replica.set = selected(stream.opened.base).unwrap_or_default();
        replica.at = Some(stream.opened.base);
    }
    for batch in stream.batches() {
        for seen in &batch.seen {
            if matches!(seen, Seen::Event { .. } | Seen::InitialEnd(_)) && replica.at.is_none() {
                replica.at = Some(stream.opened.base);
                compare(stream, &replica, selected(stream.opened.base))?;
            }
            replica.take(seen).ok_or_else(|| {
                format!(
                    "{} carried {seen:?} to whom it means nothing",
                    stream.name()
                )
            })?;
        }
        if let Some(at) = replica.at {
            compare(stream, &replica, selected(at))?;
        }
    }
    Ok(())
}

fn selected(timeline: &Timeline, stream: &Stream, at: u64) -> Option<State> {
    let storage = stream.opened.storage;
    let mut set = State::default();
    for (key, version) in stream
        .opened
        .pick
        .select(storage, timeline.state(storage, at)?)
    {
        if let Some(place) = set.get_mut(usize::from(key)) {
            *place = Some(version);
        }
    }
    Some(set)
}

fn compare(stream: &Stream, replica: &Replica, selected: Option<State>) -> Result<(), String> {
    match selected {
        Some(selected) if selected != replica.set => Err(format!(
            "{} leads at {:?} to {:?} instead of {:?}",
            stream.name(),
            replica.at,
            present(&replica.set),
            present(&selected)
        )),
        Some(_) | None => Ok(()),
    }
}

fn present(set: &State) -> Vec<(usize, Version)> {
    let objects = set.iter().enumerate();
    objects
        .filter_map(|(key, version)| Some((key, (*version)?)))
        .collect()
}

impl Replica {
    /// Takes what the stream says; `None` if it cannot be.
    fn take(&mut self, seen: &Seen) -> Option<()> {
        match seen {
            Seen::Initial { key, version } => {
                let place = self.set.get_mut(usize::from(*key))?;
                let added = place.replace(*version).is_none() && self.at.is_none();
                added.then_some(())
            }
            Seen::Event {
                kind,
                key,
                revision,
                version,
            } => {
                self.at = Some(*revision);
                let place = self.set.get_mut(usize::from(*key))?;
                let makes_sense = match (kind, place.as_ref()) {
                    (Kind::Added, None) | (Kind::Modified, Some(_)) => true,
                    (Kind::Deleted, Some(old)) => old.content == version.content,
                    (Kind::Added, Some(_)) | (Kind::Modified | Kind::Deleted, None) => false,
                };
                *place = (*kind != Kind::Deleted).then_some(*version);
                (makes_sense && version.revision == *revision).then_some(())
            }
            Seen::InitialEnd(_) | Seen::Bookmark(_) => Some(()),
            Seen::Garbage => None,
        }
    }
}
