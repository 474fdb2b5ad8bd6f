//! Faults made on purpose, one at a time, to show that each is noticed.
//!
//! They sit between the core and what the clients see: a saboteur is asked wherever something
//! passes by, and without a fault it lets everything pass. Where it has one, it strikes at about every
//! third chance, so that a checker must find it in an otherwise healthy world.

use std::collections::BTreeMap;

use masthead_watch::Snapshot;

use crate::check::Guarantee;
use crate::history::{Kind, List, Listed, Seen};
use crate::object::STORAGES;
use crate::rng::Rng;

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// An event is left out of a batch.
    DroppedEvent,
    /// A cache is not told of an event.
    UnpublishedEvent,
    /// An event comes twice.
    DoubledEvent,
    /// Two neighbouring events of different revisions change places.
    SwappedEvents,
    /// Two events of one revision come in two batches.
    SplitRevision,
    /// A bookmark comes before what it vouches for.
    EarlyBookmark,
    /// The initial state is said to be complete before its last object.
    EarlyInitialEnd,
    /// An event has the type that somebody with another selector would see.
    WrongSide,
    /// A DELETED object has the version that it had before.
    DeletedAtOldVersion,
    /// The initial state lacks an object.
    MissingInitial,
    /// A watch after N starts after N + 1.
    LateResume,
    /// A watch after N starts after N - 1.
    EarlyResume,
    /// A watch after a version that is there is refused.
    NeedlessRefusal,
    /// After a restart the caches hold the present and claim to know the past.
    BlindRestart,
    /// A list is served from an earlier one's state.
    StaleList,
    /// A list claims another revision than its own.
    MislabelledList,
    /// A list lacks an object.
    MissingItem,
    /// A writer is told before the caches are.
    EarlyAnswer,
    /// The head moves before the caches have the events.
    EarlyHead,
    /// A wake-up is lost.
    LostWakeup,
    /// The disk says that it has synced and has not.
    UnsyncedAppend,
    /// A write's condition is not looked at.
    UncheckedWrite,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 22] = [
        Self::DroppedEvent,
        Self::UnpublishedEvent,
        Self::DoubledEvent,
        Self::SwappedEvents,
        Self::SplitRevision,
        Self::EarlyBookmark,
        Self::EarlyInitialEnd,
        Self::WrongSide,
        Self::DeletedAtOldVersion,
        Self::MissingInitial,
        Self::LateResume,
        Self::EarlyResume,
        Self::NeedlessRefusal,
        Self::BlindRestart,
        Self::StaleList,
        Self::MislabelledList,
        Self::MissingItem,
        Self::EarlyAnswer,
        Self::EarlyHead,
        Self::LostWakeup,
        Self::UnsyncedAppend,
        Self::UncheckedWrite,
    ];

    /// What the fault breaks first of all.
    pub const fn breaks(self) -> Guarantee {
        match self {
            Self::DroppedEvent | Self::UnpublishedEvent => Guarantee::Reliable,
            Self::DoubledEvent => Guarantee::Unique,
            Self::SwappedEvents => Guarantee::Ordered,
            Self::SplitRevision => Guarantee::Atomic,
            Self::EarlyBookmark | Self::EarlyInitialEnd => Guarantee::Bookmarkable,
            Self::WrongSide | Self::DeletedAtOldVersion | Self::MissingInitial => Guarantee::Filter,
            Self::LateResume | Self::NeedlessRefusal | Self::BlindRestart => Guarantee::Resumable,
            Self::EarlyResume => Guarantee::NoTimeTravel,
            Self::StaleList
            | Self::MislabelledList
            | Self::MissingItem
            | Self::EarlyAnswer
            | Self::EarlyHead => Guarantee::Reads,
            Self::LostWakeup => Guarantee::WakeDiscipline,
            Self::UnsyncedAppend | Self::UncheckedWrite => Guarantee::Durable,
        }
    }
}

/// Whoever carries out a fault.
#[derive(Debug)]
pub(crate) struct Saboteur {
    fault: Option<Fault>,
    rng: Rng,
    /// Events kept back, by stream.
    held: BTreeMap<usize, Vec<Seen>>,
    listed: [Option<Snapshot>; STORAGES],
}

impl Saboteur {
    pub(crate) fn new(fault: Option<Fault>) -> Self {
        Self {
            fault,
            rng: Rng::new(fault.map_or(0, |fault| fault as u64 + 1)),
            held: BTreeMap::new(),
            listed: [None, None, None],
        }
    }

    /// Is this the fault, whether it strikes now or not?
    pub(crate) fn is(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// Does this fault strike now?
    pub(crate) fn strikes(&mut self, fault: Fault) -> bool {
        self.fault == Some(fault) && self.rng.once_in(3)
    }

    /// The revision after which a watch really starts.
    pub(crate) fn start(&mut self, after: u64) -> u64 {
        if self.strikes(Fault::LateResume) {
            after + 1
        } else if self.strikes(Fault::EarlyResume) {
            (after - 1).max(1)
        } else {
            after
        }
    }

    /// Loses one of those to be woken.
    pub(crate) fn woken<T>(&mut self, ids: &mut Vec<T>) {
        if !ids.is_empty() && self.strikes(Fault::LostWakeup) {
            ids.pop();
        }
    }

    /// What a client gets instead of `seen`; whether something is kept back for the next batch.
    pub(crate) fn batch(
        &mut self,
        stream: usize,
        head: u64,
        more: bool,
        seen: &mut Vec<Seen>,
    ) -> bool {
        let Some(fault) = self.fault else {
            return false;
        };
        if fault == Fault::SplitRevision {
            return self.split(stream, seen);
        }
        if !self.rng.once_in(3) {
            return false;
        }
        let len = seen.len();
        let first_event = seen.iter().position(|seen| seen.event().is_some());
        match fault {
            Fault::DroppedEvent => {
                if let Some(at) = first_event {
                    seen.remove(at);
                }
            }
            Fault::DoubledEvent => {
                if let Some(event) = first_event.and_then(|at| seen.get(at).copied()) {
                    seen.push(event);
                }
            }
            Fault::SwappedEvents => swap(seen),
            Fault::EarlyBookmark => {
                if more && first_event.is_some() {
                    seen.push(Seen::Bookmark(head));
                } else if let Some([Seen::Event { .. }, Seen::Bookmark(_)]) = seen.last_chunk() {
                    seen.swap(len - 2, len - 1);
                }
            }
            Fault::EarlyInitialEnd => {
                let end = seen
                    .iter()
                    .position(|seen| matches!(seen, Seen::InitialEnd(_)));
                if let Some(end) = end.filter(|end| *end > 0) {
                    seen.swap(end - 1, end);
                }
            }
            Fault::WrongSide => seen.iter_mut().for_each(turn),
            Fault::DeletedAtOldVersion => seen.iter_mut().for_each(|seen| {
                if let Seen::Event {
                    kind: Kind::Deleted,
                    version,
                    ..
                } = seen
                {
                    version.revision -= 1;
                }
            }),
            Fault::MissingInitial => {
                let initial = seen
                    .iter()
                    .position(|seen| matches!(seen, Seen::Initial { .. }));
                if let Some(at) = initial {
                    seen.remove(at);
                }
            }
            _ => {}
        }
        false
    }

    fn split(&mut self, stream: usize, seen: &mut Vec<Seen>) -> bool {
        if let Some(mut held) = self.held.remove(&stream) {
            held.append(seen);
            *seen = held;
            return false;
        }
        let revision = |seen: &Seen| seen.event().map(|(revision, _)| revision);
        let torn = seen.windows(2).position(|pair| match pair {
            [a, b] => revision(a).is_some() && revision(a) == revision(b),
            _ => false,
        });
        let Some(at) = torn else { return false };
        self.held.insert(stream, seen.split_off(at + 1));
        true
    }

    /// The state that a list of the present is really served from.
    pub(crate) fn snapshot(&mut self, storage: u8, snapshot: Snapshot) -> Snapshot {
        if !self.is(Fault::StaleList) {
            return snapshot;
        }
        let strikes = self.strikes(Fault::StaleList);
        match self.listed.get_mut(usize::from(storage)) {
            Some(Some(former)) if strikes => former.clone(),
            Some(place) => {
                *place = Some(snapshot.clone());
                snapshot
            }
            None => snapshot,
        }
    }

    /// What is answered to a list instead.
    pub(crate) fn list(&mut self, list: &mut List) {
        let Listed::Items {
            revision, items, ..
        } = &mut list.answer
        else {
            return;
        };
        if self.strikes(Fault::MislabelledList) {
            *revision += 1;
        } else if self.strikes(Fault::MissingItem) {
            items.pop();
        }
    }
}

fn swap(seen: &mut [Seen]) {
    let pair = seen.windows(2).position(|pair| match pair {
        [
            Seen::Event { revision: a, .. },
            Seen::Event { revision: b, .. },
        ] => a != b,
        _ => false,
    });
    if let Some(at) = pair {
        seen.swap(at, at + 1);
    }
}

fn turn(seen: &mut Seen) {
    if let Seen::Event { kind, .. } = seen {
        *kind = match kind {
            Kind::Added | Kind::Deleted => Kind::Modified,
            Kind::Modified => Kind::Added,
        };
    }
}
