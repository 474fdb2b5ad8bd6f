//! The checks: pure functions over what was written, watched and listed in one round, that is from
//! one good state over a kill and a restart to the next.

use std::collections::{BTreeMap, BTreeSet};

use super::fault::Fault;
use super::history::{Kind, Op, Outcome, Seen, Stamp, State, Version, Write};

/// Everything about one round.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// The state before it.
    pub(crate) base: State,
    /// What was tried until the kill.
    pub(crate) writes: Vec<Write>,
    /// What each watcher saw, before and after the kill, at least through `after.revision`.
    pub(crate) streams: Vec<Vec<Seen>>,
    /// The list after the restart.
    pub(crate) after: State,
    /// The first write after the restart.
    pub(crate) sentinel: u64,
}

impl Round {
    /// All checks.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        no_acknowledged_write_is_lost(&self.base, &self.writes, &self.after)?;
        contents_are_the_writers(&self.base, &self.writes, &self.after)?;
        revisions_are_new(self)?;
        for stream in &self.streams {
            let stream = through(stream, self.after.revision);
            stream_leads_to_the_list(&self.base, stream, &self.after)?;
            stream_has_each_write_once(&self.writes, stream)?;
            conditions_held(&self.base, &self.writes, stream)?;
        }
        streams_agree(&self.streams)
    }
}

/// The part of a stream up to `revision`. Events out of order are for the other checks.
fn through(stream: &[Seen], revision: u64) -> &[Seen] {
    let end = stream
        .iter()
        .position(|seen| seen.version.revision > revision);
    stream
        .get(..end.unwrap_or(stream.len()))
        .unwrap_or_default()
}

/// Each object is at its newest acknowledged version, or at one that a write without an answer, or
/// an acknowledged deletion, explains.
pub(crate) fn no_acknowledged_write_is_lost(
    base: &State,
    writes: &[Write],
    after: &State,
) -> Result<(), Fault> {
    let mut newest: BTreeMap<&str, (Version, u64)> = base
        .objects
        .iter()
        .map(|(key, version)| (key.as_str(), (*version, 0)))
        .collect();
    for write in writes {
        if let Outcome::Committed(revision) = write.outcome {
            let version = Version {
                revision,
                stamp: write.stamp,
            };
            let entry = newest.entry(write.key).or_insert((version, write.sent));
            if entry.0.revision < revision {
                *entry = (version, write.sent);
            }
        }
    }
    for (key, (wanted, sent)) in newest {
        let deletions = || writes.iter().filter(|w| w.key == key && w.op == Op::Delete);
        let found = after.objects.get(key).copied();
        let explained = match found {
            Some(found) => found.revision > wanted.revision || found == wanted,
            None => deletions().any(|deletion| may_follow(deletion, wanted, sent)),
        };
        if !explained {
            return Err(Fault::Lost {
                key: key.to_owned(),
                wanted,
                found,
            });
        }
        let gone = |deletion: &Write, found: Version| {
            let least = deletion.floor.max(deletion.of.unwrap_or(0));
            deletion.outcome == Outcome::Deleted && found.revision <= least
        };
        if let Some(found) = found.filter(|found| deletions().any(|d| gone(d, *found))) {
            return Err(Fault::Resurrected {
                key: key.to_owned(),
                found,
            });
        }
    }
    Ok(())
}

/// Can this deletion have come after that version, which was sent at `sent`?
fn may_follow(deletion: &Write, version: Version, sent: u64) -> bool {
    match deletion.outcome {
        Outcome::Refused => false,
        Outcome::Deleted if deletion.done < sent => false,
        Outcome::Committed(_) | Outcome::Deleted | Outcome::Unknown => {
            deletion.of.is_none_or(|of| of == version.revision)
        }
    }
}

/// Each object is one that was there before, or that a writer of this round sent.
pub(crate) fn contents_are_the_writers(
    base: &State,
    writes: &[Write],
    after: &State,
) -> Result<(), Fault> {
    for (key, &found) in &after.objects {
        if base.objects.get(key) == Some(&found) {
            continue;
        }
        is_of(writes, key, found)?;
    }
    Ok(())
}

/// Is this the version that the write with its stamp made, or may have made?
fn is_of(writes: &[Write], key: &str, found: Version) -> Result<(), Fault> {
    let fits = |write: &&Write| write.stamp == found.stamp && write.key == key;
    let foreign = || Fault::Foreign {
        key: key.to_owned(),
        found,
    };
    let write = writes.iter().find(fits).ok_or_else(foreign)?;
    match write.outcome {
        Outcome::Committed(revision) if revision == found.revision => Ok(()),
        Outcome::Unknown if write.op != Op::Delete => Ok(()),
        Outcome::Refused => Err(Fault::RefusedHappened {
            key: key.to_owned(),
            found,
        }),
        Outcome::Committed(_) | Outcome::Deleted | Outcome::Unknown => Err(foreign()),
    }
}

/// No version stands for two commits, and what came later in time has the greater one.
pub(crate) fn revisions_are_new(round: &Round) -> Result<(), Fault> {
    let mut known: BTreeMap<u64, String> = BTreeMap::new();
    let mut note = |revision: u64, commit: String| match known.insert(revision, commit.clone()) {
        Some(one) if one != commit => Err(Fault::RevisionReused {
            revision,
            one,
            other: commit,
        }),
        _ => Ok(()),
    };
    let put = |key: &str, stamp: Stamp| format!("write {stamp} of {key}");
    for (key, version) in round.base.objects.iter().chain(&round.after.objects) {
        note(version.revision, put(key, version.stamp))?;
    }
    for write in &round.writes {
        if let Outcome::Committed(revision) = write.outcome {
            let what = put(write.key, write.stamp);
            let floor = write.floor.max(round.base.revision);
            if revision <= floor {
                return Err(Fault::RevisionTooSmall {
                    what,
                    revision,
                    floor,
                });
            }
            note(revision, what)?;
        }
    }
    let mut floor = round.after.revision;
    for seen in round
        .streams
        .iter()
        .flat_map(|stream| through(stream, round.sentinel.saturating_sub(1)))
    {
        let Seen { kind, key, version } = seen;
        let what = match kind {
            Kind::Added | Kind::Modified => put(key, version.stamp),
            Kind::Deleted => format!("deletion of {key}"),
        };
        note(version.revision, what)?;
        floor = floor.max(version.revision);
    }
    floor = round
        .writes
        .iter()
        .fold(floor, |floor, write| match write.outcome {
            Outcome::Committed(revision) => floor.max(revision),
            Outcome::Deleted | Outcome::Refused | Outcome::Unknown => floor,
        });
    if round.sentinel <= floor {
        let what = "the first write after the restart".to_owned();
        return Err(Fault::RevisionTooSmall {
            what,
            revision: round.sentinel,
            floor,
        });
    }
    Ok(())
}

/// The events, one after another, turn the state before into the list after.
pub(crate) fn stream_leads_to_the_list(
    base: &State,
    stream: &[Seen],
    after: &State,
) -> Result<(), Fault> {
    let mut state = base.clone();
    for seen in stream {
        let revision = seen.version.revision;
        if revision <= state.revision {
            return Err(Fault::OutOfOrder {
                revision,
                after: state.revision,
            });
        }
        state.revision = revision;
        let before = state.objects.get(&seen.key).copied();
        let fits = match (seen.kind, before) {
            (Kind::Added, None) | (Kind::Modified, Some(_)) => true,
            (Kind::Deleted, Some(before)) => before.stamp == seen.version.stamp,
            _ => false,
        };
        if !fits {
            return Err(Fault::WrongEvent {
                event: seen.clone(),
                before,
            });
        }
        if seen.kind == Kind::Deleted {
            state.objects.remove(&seen.key);
        } else {
            state.objects.insert(seen.key.clone(), seen.version);
        }
    }
    let keys: BTreeSet<&String> = state.objects.keys().chain(after.objects.keys()).collect();
    for key in keys {
        let (watched, listed) = (
            state.objects.get(key).copied(),
            after.objects.get(key).copied(),
        );
        if watched != listed {
            return Err(Fault::StreamDiffersFromList {
                revision: after.revision,
                key: key.clone(),
                watched,
                listed,
            });
        }
    }
    Ok(())
}

/// Each acknowledged write has its event, no event is of nothing, and none comes twice.
pub(crate) fn stream_has_each_write_once(writes: &[Write], stream: &[Seen]) -> Result<(), Fault> {
    let mut seen_stamps = BTreeSet::new();
    let mut deletions: BTreeMap<&str, usize> = BTreeMap::new();
    for seen in stream {
        if seen.kind == Kind::Deleted {
            *deletions.entry(&seen.key).or_default() += 1;
            continue;
        }
        is_of(writes, &seen.key, seen.version)?;
        if !seen_stamps.insert(seen.version.stamp) {
            return Err(Fault::EventTwice {
                stamp: seen.version.stamp,
            });
        }
    }
    let mut keys: BTreeSet<&str> = deletions.keys().copied().collect();
    for write in writes {
        keys.insert(write.key);
        if matches!(write.outcome, Outcome::Committed(_)) && !seen_stamps.contains(&write.stamp) {
            return Err(Fault::EventMissing {
                key: write.key.to_owned(),
                stamp: write.stamp,
            });
        }
    }
    for key in keys {
        let count = |outcome| {
            let of_key = writes.iter().filter(|w| w.key == key && w.op == Op::Delete);
            of_key.filter(|w| w.outcome == outcome).count()
        };
        let (acknowledged, unknown) = (count(Outcome::Deleted), count(Outcome::Unknown));
        let events = deletions.get(key).copied().unwrap_or(0);
        if events < acknowledged || events > acknowledged + unknown {
            return Err(Fault::Deletions {
                key: key.to_owned(),
                events,
                acknowledged,
                unknown,
            });
        }
    }
    Ok(())
}

/// A create made something new, a change changed something, and a condition on the version held.
pub(crate) fn conditions_held(
    base: &State,
    writes: &[Write],
    stream: &[Seen],
) -> Result<(), Fault> {
    let mut versions: BTreeMap<&str, u64> = base
        .objects
        .iter()
        .map(|(key, version)| (key.as_str(), version.revision))
        .collect();
    let mut deleted: BTreeSet<(&str, Option<u64>)> = BTreeSet::new();
    for seen in stream {
        let before = versions.remove(seen.key.as_str());
        if seen.kind == Kind::Deleted {
            deleted.insert((&seen.key, before));
            continue;
        }
        versions.insert(&seen.key, seen.version.revision);
        let write = writes
            .iter()
            .find(|write| write.stamp == seen.version.stamp);
        let held = write.is_none_or(|write| {
            (write.op == Op::Create) == before.is_none()
                && write.of.is_none_or(|of| before == Some(of))
        });
        if !held {
            let (key, stamp) = (seen.key.clone(), seen.version.stamp);
            return Err(Fault::Condition { key, stamp, before });
        }
    }
    for write in writes
        .iter()
        .filter(|write| write.outcome == Outcome::Deleted)
    {
        if write.of.is_some() && !deleted.contains(&(write.key, write.of)) {
            let (key, stamp) = (write.key.to_owned(), write.stamp);
            return Err(Fault::Condition {
                key,
                stamp,
                before: None,
            });
        }
    }
    Ok(())
}

/// All watchers saw the same, one perhaps more of it than another.
pub(crate) fn streams_agree(streams: &[Vec<Seen>]) -> Result<(), Fault> {
    let Some(longest) = streams.iter().max_by_key(|stream| stream.len()) else {
        return Ok(());
    };
    for stream in streams {
        for (at, (one, other)) in stream.iter().zip(longest).enumerate() {
            if one != other {
                let (one, other) = (Some(one.clone()), Some(other.clone()));
                return Err(Fault::Disagreement { at, one, other });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
