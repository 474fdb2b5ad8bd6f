//! [`Timeline`]: what really happened, worked out from the writes alone.
//!
//! It is a list of whole states, one for each revision. A batch is carried out write by write: a
//! write takes the next revision if all its conditions hold, or does nothing. A batch whose outcome
//! is unknown is decided by the next start: it is there wholly or not at all.

use crate::history::{Followed, Kind, Outcome, Put, Record, Write};
use crate::object::{Place, STORAGES, State, Version};
use crate::pick::Pick;

type States = [State; STORAGES];

/// One change of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The revision.
    pub revision: u64,
    /// Which key.
    pub key: u8,
    /// Before.
    pub old: Option<Version>,
    /// After.
    pub new: Option<Version>,
}

/// A change as a selector must show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owed {
    /// The revision.
    pub revision: u64,
    /// Which key.
    pub key: u8,
    /// The type of the event.
    pub kind: Kind,
    /// The object in it.
    pub version: Version,
}

/// Something about the store that is not as the writes say.
pub type Contradiction = String;

/// All states and all changes.
#[derive(Clone, Debug)]
pub struct Timeline {
    states: Vec<States>,
    changes: [Vec<Change>; STORAGES],
    unknown: Option<Vec<Write>>,
    contradictions: Vec<Contradiction>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            states: vec![States::default()],
            changes: Default::default(),
            unknown: None,
            contradictions: Vec::new(),
        }
    }
}

impl Timeline {
    /// The newest revision.
    pub const fn head(&self) -> u64 {
        self.states.len() as u64
    }

    /// The state of a resource at a revision; `None` where that is of the future.
    pub fn state(&self, storage: u8, revision: u64) -> Option<&State> {
        let at = usize::try_from(revision.checked_sub(1)?).ok()?;
        self.states.get(at)?.get(usize::from(storage))
    }

    /// The changes of a resource after a revision.
    pub fn changes_after(&self, storage: u8, after: u64) -> &[Change] {
        let changes = self
            .changes
            .get(usize::from(storage))
            .map_or(&[][..], Vec::as_slice);
        let from = changes.partition_point(|change| change.revision <= after);
        changes.get(from..).unwrap_or_default()
    }

    /// What a stream of `pick` that begins after a revision must show, in order.
    pub fn owed(&self, storage: u8, pick: &Pick, after: u64) -> Vec<Owed> {
        self.changes_after(storage, after)
            .iter()
            .filter_map(|change| owed(storage, pick, change))
            .collect()
    }

    /// What does not fit.
    pub fn contradictions(&self) -> &[Contradiction] {
        &self.contradictions
    }

    /// Takes the next thing that happened.
    pub fn apply(&mut self, record: &Record) {
        match record {
            Record::Batch {
                writes, outcome, ..
            } => match outcome {
                Outcome::Refused => {}
                Outcome::Unknown => self.unknown = Some(writes.clone()),
                Outcome::Done(revisions) => {
                    for (write, said) in writes.iter().zip(revisions) {
                        let revision = self.write(write);
                        if revision != *said {
                            self.contradict(format!(
                                "the write {write:?} must be at {revision:?} and is said to be at {said:?}"
                            ));
                        }
                    }
                }
            },
            Record::Started {
                head,
                base,
                states,
                followed,
            } => {
                self.start(*head, states);
                self.follow(*base, followed);
            }
            Record::StartFailed(why) => self.contradict(format!("a start failed: {why}")),
            _ => {}
        }
    }

    fn start(&mut self, head: u64, states: &States) {
        if let Some(writes) = self.unknown.take()
            && head > self.head()
        {
            for write in &writes {
                self.write(write);
            }
        }
        if head != self.head() {
            self.contradict(format!(
                "a start found revision {head}, {} was durable",
                self.head()
            ));
        } else if self.states.last() != Some(states) {
            self.contradict(format!("a start found other objects at revision {head}"));
        }
    }

    /// Is what the store tells of its past what happened?
    fn follow(&mut self, base: u64, followed: &[Followed]) {
        for storage in 0..STORAGES as u8 {
            let told = followed
                .iter()
                .filter(|change| change.place.storage == storage)
                .map(|change| (change.revision, change.place.key, change.content));
            let happened = self.changes_after(storage, base).iter().map(|change| {
                let content = change.new.map(|version| version.content);
                (change.revision, change.key, content)
            });
            if !told.eq(happened) {
                self.contradict(format!(
                    "a start was told another history after {base}: {followed:?}"
                ));
            }
        }
    }

    fn contradict(&mut self, what: Contradiction) {
        self.contradictions.push(what);
    }

    /// Carries out one write; its revision if its conditions hold.
    fn write(&mut self, write: &Write) -> Option<u64> {
        let revision = self.head() + 1;
        let mut states = *self.states.last()?;
        let holds = |put: &Put| {
            let present = slot(&mut states.clone(), put.place).map(|slot| *slot)?;
            (present.map(|version| version.revision) == put.expected).then_some(())
        };
        if write.iter().any(|put| holds(put).is_none()) {
            return None;
        }
        for put in write {
            let version = put.content.map(|content| Version { revision, content });
            let old = std::mem::replace(slot(&mut states, put.place)?, version);
            let changes = self.changes.get_mut(usize::from(put.place.storage))?;
            changes.push(Change {
                revision,
                key: put.place.key,
                old,
                new: version,
            });
        }
        self.states.push(states);
        Some(revision)
    }
}

fn slot(states: &mut States, place: Place) -> Option<&mut Option<Version>> {
    states
        .get_mut(usize::from(place.storage))?
        .get_mut(usize::from(place.key))
}

/// How a selector must show a change, if at all.
fn owed(storage: u8, pick: &Pick, change: &Change) -> Option<Owed> {
    let place = Place {
        storage,
        key: change.key,
    };
    let selected = |version: &Version| pick.matches(place, version.content);
    let (kind, version) = match (change.old.filter(selected), change.new.filter(selected)) {
        (None, None) => return None,
        (None, Some(new)) => (Kind::Added, new),
        (Some(_), Some(new)) => (Kind::Modified, new),
        (Some(old), None) => (
            Kind::Deleted,
            Version {
                revision: change.revision,
                ..old
            },
        ),
    };
    Some(Owed {
        revision: change.revision,
        key: change.key,
        kind,
        version,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Content;

    const PLACE: Place = Place { storage: 1, key: 2 };

    fn put(expected: Option<u64>, labels: u8) -> Write {
        vec![Put {
            place: PLACE,
            expected,
            content: Some(Content {
                labels,
                node: 0,
                serial: u32::from(labels),
            }),
        }]
    }

    fn batch(writes: Vec<Write>, outcome: Outcome) -> Record {
        Record::Batch {
            first: 0,
            writes,
            outcome,
        }
    }

    fn started(timeline: &Timeline, head: u64) -> Record {
        Record::Started {
            head,
            base: 1,
            states: Box::new(timeline.states[head as usize - 1]),
            followed: timeline
                .changes_after(PLACE.storage, 1)
                .iter()
                .take(head as usize - 1)
                .map(|change| Followed {
                    revision: change.revision,
                    place: PLACE,
                    content: change.new.map(|version| version.content),
                })
                .collect(),
        }
    }

    #[test]
    fn a_write_takes_a_revision_only_where_its_condition_holds() {
        let mut timeline = Timeline::default();
        let writes = vec![put(None, 1), put(None, 2), put(Some(2), 3)];
        let outcome = Outcome::Done(vec![Some(2), None, Some(3)]);
        timeline.apply(&batch(writes, outcome));
        assert_eq!(timeline.contradictions(), &[] as &[Contradiction]);
        assert_eq!(timeline.head(), 3);
        assert_eq!(timeline.changes_after(1, 2).len(), 1);
        timeline.apply(&batch(vec![put(Some(2), 4)], Outcome::Done(vec![Some(4)])));
        assert_eq!(timeline.contradictions().len(), 1);
    }

    #[test]
    fn the_next_start_decides_what_nobody_knew() {
        let mut lost = Timeline::default();
        lost.apply(&batch(vec![put(None, 1)], Outcome::Unknown));
        let mut kept = lost.clone();
        lost.apply(&started(&lost, 1));
        assert_eq!((lost.head(), lost.contradictions().len()), (1, 0));

        let mut known = Timeline::default();
        known.apply(&batch(vec![put(None, 1)], Outcome::Done(vec![Some(2)])));
        kept.apply(&started(&known, 2));
        assert_eq!((kept.head(), kept.contradictions().len()), (2, 0));
        // Gone: the head, the object, and the past of it.
        known.apply(&started(&known, 1));
        assert_eq!(known.contradictions().len(), 2);
    }

    #[test]
    fn a_selector_is_owed_the_way_in_the_change_and_the_way_out() {
        let mut timeline = Timeline::default();
        // app=x, app=x tier=z, app=y
        let writes = vec![put(None, 1), put(Some(2), 3), put(Some(3), 2)];
        let outcome = Outcome::Done(vec![Some(2), Some(3), Some(4)]);
        timeline.apply(&batch(writes, outcome));
        let picks = (0..crate::pick::PICKS_LEN).map(Pick::numbered);
        let app_x = |pick: &Pick| pick.selector().labels.to_string() == "app=x";
        let pick = picks.into_iter().find(app_x).unwrap();
        let kinds: Vec<Kind> = timeline
            .owed(1, &pick, 1)
            .iter()
            .map(|owed| owed.kind)
            .collect();
        assert_eq!(kinds, [Kind::Added, Kind::Modified, Kind::Deleted]);
        assert_eq!(timeline.owed(1, &pick, 3)[0].version.content.serial, 3);
    }
}
