//! [`Evidence`]: a history sorted for the checkers: the timeline, each stream on its own, each read
//! with what was known when it was answered.

use masthead_watch::EndReason;

use crate::history::{History, List, Opened, Record, Seen};
use crate::object::{Place, Version};
use crate::timeline::{Owed, Timeline};

/// What was known at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// The newest revision that is durable.
    pub durable: u64,
    /// The newest revision that a writer was told of.
    pub answered: u64,
    /// Where the store's history begins.
    pub compacted: u64,
    /// Where the caches' history began, when they were made.
    pub base: u64,
}

/// What a client read at once.
#[derive(Clone, Debug)]
pub struct Batch {
    /// When.
    pub moment: Moment,
    /// What.
    pub seen: Vec<Seen>,
    /// Why the stream ended, if it did.
    pub ended: Option<EndReason>,
}

/// Something in the life of a stream.
#[derive(Clone, Debug)]
pub enum Turn {
    /// A batch was read.
    Batch(Batch),
    /// The cache said that there is something.
    Woken,
    /// It had something and had not been woken.
    Overslept,
    /// It never stops to say that there is more.
    Stuck,
    /// It must have shown everything through this revision.
    Settled(u64),
}

/// One stream, from its opening to its end.
#[derive(Clone, Debug)]
pub struct Stream {
    /// How it was opened.
    pub opened: Opened,
    /// When.
    pub moment: Moment,
    /// Everything after that.
    pub turns: Vec<Turn>,
    /// What it must show.
    pub owed: Vec<Owed>,
    open: bool,
}

impl Stream {
    /// All batches.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.turns.iter().filter_map(|turn| match turn {
            Turn::Batch(batch) => Some(batch),
            Turn::Woken | Turn::Overslept | Turn::Stuck | Turn::Settled(_) => None,
        })
    }

    /// Everything it carried.
    pub fn seen(&self) -> impl Iterator<Item = &Seen> {
        self.batches().flat_map(|batch| batch.seen.iter())
    }

    /// The changes it carried, by revision and key.
    pub fn events(&self) -> impl Iterator<Item = (u64, u8)> {
        self.seen().filter_map(Seen::event)
    }

    /// How it is called in messages.
    pub fn name(&self) -> String {
        let Opened {
            stream,
            storage,
            pick,
            start,
            ..
        } = &self.opened;
        format!("stream {stream} of {storage}:{pick:?} from {start:?}")
    }
}

/// A refusal.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// Which resource.
    pub storage: u8,
    /// The revision asked for.
    pub wanted: u64,
    /// The oldest that would do, it is said.
    pub oldest: u64,
    /// Whether it would.
    pub oldest_works: bool,
    /// When.
    pub moment: Moment,
    /// How many changes there were after the revision asked for.
    pub changes_after: usize,
}

/// A get.
#[derive(Clone, Copy, Debug)]
pub struct Fetch {
    /// Which object.
    pub place: Place,
    /// What was there.
    pub version: Option<Version>,
    /// When.
    pub moment: Moment,
}

/// Everything the checkers look at.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The least number of events that a cache keeps.
    pub events_min: usize,
    /// What really happened.
    pub timeline: Timeline,
    /// All streams.
    pub streams: Vec<Stream>,
    /// All refusals.
    pub refusals: Vec<Refusal>,
    /// All lists.
    pub lists: Vec<(List, Moment)>,
    /// All gets.
    pub fetches: Vec<Fetch>,
    /// Answers to writers that were not what the store had said.
    pub false_answers: Vec<usize>,
    moment: Moment,
    outcomes: Vec<Option<u64>>,
}

impl Evidence {
    /// The evidence in a history.
    pub fn of(history: &History) -> Self {
        let mut evidence = Self {
            events_min: history.events_min,
            moment: Moment {
                durable: 1,
                answered: 1,
                compacted: 1,
                base: 1,
            },
            ..Self::default()
        };
        for record in &history.records {
            evidence.timeline.apply(record);
            evidence.moment.durable = evidence.timeline.head();
            evidence.take(record);
        }
        for stream in &mut evidence.streams {
            let Opened {
                storage,
                pick,
                base,
                ..
            } = &stream.opened;
            stream.owed = evidence.timeline.owed(*storage, pick, *base);
        }
        evidence
    }

    fn take(&mut self, record: &Record) {
        let moment = self.moment;
        match record {
            Record::Batch {
                first,
                writes,
                outcome,
            } => {
                self.outcomes.resize(first + writes.len(), None);
                if let crate::history::Outcome::Done(revisions) = outcome {
                    self.outcomes.truncate(*first);
                    self.outcomes.extend(revisions);
                }
            }
            Record::Answered { write, revision } => self.answered(*write, *revision),
            Record::Started { base, .. } => {
                self.moment.base = *base;
                self.moment.compacted = *base;
            }
            Record::StartFailed(_) => {}
            Record::Compacted(through) => self.moment.compacted = *through,
            Record::Opened(opened) => self.streams.push(Stream {
                opened: opened.clone(),
                moment,
                turns: Vec::new(),
                owed: Vec::new(),
                open: true,
            }),
            Record::Refused {
                storage,
                wanted,
                oldest,
                oldest_works,
            } => self.refusals.push(Refusal {
                storage: *storage,
                wanted: *wanted,
                oldest: *oldest,
                oldest_works: *oldest_works,
                moment,
                changes_after: self.timeline.changes_after(*storage, *wanted).len(),
            }),
            Record::Got {
                stream,
                seen,
                ended,
            } => self.got(*stream, seen, *ended),
            Record::Closed { stream } => self.close(*stream),
            Record::Woken { stream } => self.turn(*stream, Turn::Woken),
            Record::Overslept { stream } => self.turn(*stream, Turn::Overslept),
            Record::Stuck { stream } => self.turn(*stream, Turn::Stuck),
            Record::Settled { head } => {
                for stream in self.streams.iter_mut().filter(|stream| stream.open) {
                    stream.turns.push(Turn::Settled(*head));
                }
            }
            Record::Listed(list) => self.lists.push((list.clone(), moment)),
            Record::Fetched { place, version } => self.fetches.push(Fetch {
                place: *place,
                version: *version,
                moment,
            }),
        }
    }

    fn answered(&mut self, write: usize, revision: Option<u64>) {
        if self.outcomes.get(write) != Some(&revision) {
            self.false_answers.push(write);
        }
        if let Some(revision) = revision {
            self.moment.answered = self.moment.answered.max(revision);
        }
    }

    fn got(&mut self, stream: usize, seen: &[Seen], ended: Option<EndReason>) {
        let batch = Batch {
            moment: self.moment,
            seen: seen.to_vec(),
            ended,
        };
        self.turn(stream, Turn::Batch(batch));
        if ended.is_some() {
            self.close(stream);
        }
    }

    fn turn(&mut self, stream: usize, turn: Turn) {
        if let Some(stream) = self.streams.get_mut(stream) {
            stream.turns.push(turn);
        }
    }

    fn close(&mut self, stream: usize) {
        if let Some(stream) = self.streams.get_mut(stream) {
            stream.open = false;
        }
    }
}
