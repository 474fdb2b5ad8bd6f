//! The committing thread: batches, and what follows from them, one thing at a time.

use std::sync::Arc;

use masthead_api::{Event, Object, Revision, WatchEventType};
use masthead_store::{Commit, CommitError, Op, Txn, TxnResult};
use masthead_watch::WatcherId;

use super::World;
use crate::fault::Fault;
use crate::history::{Outcome, Put, Record, Write};
use crate::object::{Content, Place, STORAGES};
use crate::step::{Change, Item, Knows};

/// One thing that follows from a commit.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// The events of one revision into one cache.
    Publish { storage: u8, commit: Arc<Commit> },
    /// The head moves.
    Advance(Revision),
    /// A writer is told.
    Answer { write: usize, revision: Option<u64> },
    /// Those that have something are woken.
    Wake,
}

impl World {
    /// Somebody computes a write from what the caches say, and hands it in.
    pub(super) fn hand_in(&mut self, items: &[Item]) {
        let mut write = Write::new();
        for item in items {
            let cache = self.hub.cache(item.place.storage);
            let present = cache
                .and_then(|cache| cache.get(item.place.text()))
                .map(|object| object.revision.get());
            let content = match item.change {
                Change::Delete if present.is_none() => continue,
                Change::Delete => None,
                Change::Put { labels, node } => {
                    self.serial += 1;
                    Some(Content {
                        labels,
                        node,
                        serial: self.serial,
                    })
                }
            };
            let expected = match (item.knows, present) {
                (Knows::Present, present) => present,
                (Knows::Wrong, Some(revision)) => Some(revision - 1),
                (Knows::Wrong, None) => Some(1),
            };
            write.push(Put {
                place: item.place,
                expected,
                content,
            });
        }
        if !write.is_empty() {
            self.pending.push(write);
        }
    }

    /// The next thing there is to do.
    pub(super) fn act(&mut self) {
        match self.acts.pop_front() {
            None => self.commit(),
            Some(Act::Publish { storage, commit }) => self.publish(storage, &commit),
            Some(Act::Advance(head)) => self.hub.head = head,
            Some(Act::Answer { write, revision }) => {
                self.records.push(Record::Answered { write, revision });
            }
            Some(Act::Wake) => self.ready.extend(self.to_wake.drain(..)),
        }
    }

    /// Everything there is to do.
    pub(super) fn flush(&mut self) {
        while !(self.acts.is_empty() && self.pending.is_empty()) {
            self.act();
        }
    }

    fn commit(&mut self) {
        let writes = std::mem::take(&mut self.pending);
        if writes.is_empty() {
            return;
        }
        let txns = writes.iter().map(|write| self.txn(write)).collect();
        let first = self.writes;
        self.writes += writes.len();
        let outcome = match self.store.commit(txns) {
            Ok(results) => {
                let done = results.into_iter().map(Result::ok).collect();
                Outcome::Done(self.plan_acts(first, done))
            }
            Err(CommitError::Stopped) => Outcome::Refused,
            Err(_) if self.store.commit(Vec::new()).is_ok() => Outcome::Refused,
            Err(_) => Outcome::Unknown,
        };
        self.records.push(Record::Batch {
            first,
            writes,
            outcome,
        });
    }

    fn txn(&mut self, write: &Write) -> Txn {
        let ops = write
            .iter()
            .map(|put| match put.content {
                Some(content) => Op::put(put.place.store_key(), content.encode().json),
                None => Op::delete(put.place.store_key()),
            })
            .collect();
        if self.saboteur.strikes(Fault::UncheckedWrite) {
            return Txn::of(ops);
        }
        write.iter().fold(Txn::of(ops), |txn, put| {
            txn.when_unchanged(put.place.store_key(), put.expected.and_then(Revision::new))
        })
    }

    /// Publishing, then the head, then the answers, then waking: in that order.
    fn plan_acts(&mut self, first: usize, done: Vec<Option<TxnResult>>) -> Vec<Option<u64>> {
        let commits: Vec<Option<Arc<Commit>>> = done
            .into_iter()
            .map(|result| result.and_then(|result| result.commit).map(Arc::new))
            .collect();
        let publish = commits.iter().flatten().flat_map(|commit| {
            let storages = storages(commit);
            storages.map(|storage| Act::Publish {
                storage,
                commit: Arc::clone(commit),
            })
        });
        let head = commits.iter().flatten().next_back();
        let advance = head.map(|commit| Act::Advance(commit.revision));
        let revisions: Vec<Option<u64>> = commits
            .iter()
            .map(|commit| commit.as_ref().map(|commit| commit.revision.get()))
            .collect();
        let answers = revisions
            .iter()
            .zip(first..)
            .map(|(revision, write)| Act::Answer {
                write,
                revision: *revision,
            });
        if self.saboteur.is(Fault::EarlyHead) {
            self.acts.extend(advance.iter().cloned());
        }
        if self.saboteur.is(Fault::EarlyAnswer) {
            self.acts.extend(answers.clone());
        }
        self.acts.extend(publish);
        if !self.saboteur.is(Fault::EarlyHead) {
            self.acts.extend(advance);
        }
        if !self.saboteur.is(Fault::EarlyAnswer) {
            self.acts.extend(answers);
        }
        self.acts.push_back(Act::Wake);
        revisions
    }

    fn publish(&mut self, storage: u8, commit: &Commit) {
        let mut events: Vec<Arc<Event>> = commit
            .changes
            .iter()
            .filter_map(|change| {
                let place = Place::of_store_key(&change.key)?;
                let content = change.value.as_deref().map(Content::decode);
                (place.storage == storage)
                    .then(|| self.event(place, content.flatten(), commit.revision))
            })
            .map(Arc::new)
            .collect();
        if self.saboteur.strikes(Fault::UnpublishedEvent) {
            events.pop();
        }
        let ids = self.hub.publish(storage, events);
        let woken = self.take_wakers(storage, ids);
        self.to_wake.extend(woken);
    }

    fn event(&mut self, place: Place, content: Option<Content>, revision: Revision) -> Event {
        let old = self
            .hub
            .cache(place.storage)
            .and_then(|cache| cache.get(place.text()).cloned());
        event(place, old, content, revision)
    }

    /// Records who is woken, and takes their wakers.
    pub(super) fn take_wakers(&mut self, storage: u8, mut ids: Vec<WatcherId>) -> Vec<usize> {
        for id in &ids {
            if let Some(stream) = self.hub.stream(storage, *id) {
                self.records.push(Record::Woken { stream });
            }
        }
        self.saboteur.woken(&mut ids);
        self.hub.take_wakers(storage, &ids)
    }

    /// The store forgets what is older.
    pub(super) fn compact(&mut self, back: u8) {
        let through = self.hub.head.get().saturating_sub(u64::from(back));
        let Some(through) = Revision::new(through) else {
            return;
        };
        if self.store.compact(through).is_ok() {
            self.records.push(Record::Compacted(through.get()));
        }
    }

    pub(super) fn tidy(&mut self) {
        // A failure is tried again by the next step, as in the server.
        drop(self.store.compact_step());
    }
}

/// The change of one object from `old` to `content`.
pub(super) fn event(
    place: Place,
    old: Option<Arc<Object>>,
    content: Option<Content>,
    revision: Revision,
) -> Event {
    let framed = if old.is_some() {
        WatchEventType::Modified
    } else {
        WatchEventType::Added
    };
    let object =
        |content: Content| Object::commit(place.key(), &content.encode(), revision, framed);
    Event::new(
        revision,
        place.key(),
        old,
        content.map(object).map(Arc::new),
    )
}

/// The resources that a commit is about.
fn storages(commit: &Commit) -> impl Iterator<Item = u8> + use<> {
    let touched = commit
        .changes
        .iter()
        .fold([false; STORAGES], |mut touched, change| {
            let storage = Place::of_store_key(&change.key).map(|place| usize::from(place.storage));
            if let Some(place) = storage.and_then(|storage| touched.get_mut(storage)) {
                *place = true;
            }
            touched
        });
    (0..)
        .zip(touched)
        .filter_map(|(storage, touched)| touched.then_some(storage))
}
