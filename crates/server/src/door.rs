//! [`Door`]: the one door for writes, and the thread behind it.
//!
//! ```text
//!  requests ── Write ──▶ queue ──▶ batch ──▶ store.commit (one sync) ──▶ caches ──▶ head ──▶ answers ──▶ watchers woken
//! ```
//!
//! The committing thread owns the [`Store`], so nothing else can commit and no revision can be
//! seen without its events. Writes that arrive while a sync is under way share the next one.
//! A write names the revision that it was computed from; when that is no longer the current one
//! the answer is a conflict, and the caller computes anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;
use masthead_api::{Encoded, Event, Key, Object, Revision, WatchEventType};
use masthead_objects::{Catalog, StorageId};
use masthead_store::{
    Commit, CommitError, CompactProgress, KeyRange, LeaseError, Op, Relation, Store, Target, Txn,
    TxnError,
};
use tokio::sync::{mpsc, oneshot};

use crate::hub::{Hub, Woken};
use crate::leases::EventLeases;

/// Writes that may wait for the committing thread; more are held back in their requests.
const QUEUE_WRITES_MAX: usize = 4096;
/// Writes that share one sync at most.
const BATCH_WRITES_MAX: usize = 512;

/// What a write does to its object.
#[derive(Debug)]
pub(crate) enum Change {
    /// Store this content.
    Put(Encoded),
    /// Remove the object.
    Delete,
}

/// One write of one object.
#[derive(Debug)]
pub(crate) struct Write {
    /// The object's resource.
    pub(crate) storage: StorageId,
    /// The object's place in it.
    pub(crate) key: Key,
    /// The object's key in the store.
    pub(crate) store_key: Bytes,
    /// The revision that must be the object's current one; `None`: it must not exist.
    pub(crate) expected: Option<Revision>,
    /// A store key that must exist: the namespace of a new object.
    pub(crate) requires: Option<Bytes>,
    /// What to do.
    pub(crate) change: Change,
    /// How long the object lives, where it is to expire by itself.
    pub(crate) ttl: Option<Duration>,
}

/// What became of a write.
#[derive(Debug)]
pub(crate) enum Written {
    /// It is durable; the event that watchers see.
    Committed(Arc<Event>),
    /// The object (or the namespace it requires) is not as the write expected.
    Conflict,
}

/// Why a write could not be tried.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DoorError {
    /// The store takes no writes.
    #[error(transparent)]
    Store(#[from] Arc<CommitError>),
    /// The store refuses this write.
    #[error(transparent)]
    Txn(#[from] TxnError),
    /// No lease for an object that expires.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The server is stopping.
    #[error("the server is shutting down")]
    Closed,
}

type Answer = oneshot::Sender<Result<Written, DoorError>>;

enum Command {
    /// Commit this, and say so.
    Write(Box<Write>, Answer),
    /// Forget the history before this revision, and say so.
    Compact(Revision, oneshot::Sender<()>),
    /// Remove what has expired by now, take a step of a compaction under way, and say when there
    /// is more to do.
    Tidy(oneshot::Sender<Option<Duration>>),
    /// End, after everything that was accepted before.
    Stop,
}

/// A handle on the committing thread.
#[derive(Clone)]
pub(crate) struct Door {
    queue: mpsc::Sender<Command>,
    open: Arc<AtomicBool>,
}

/// Closes the door when the committing thread ends, by a panic as well.
struct OpenWhileAlive(Arc<AtomicBool>);

impl Drop for OpenWhileAlive {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Door {
    /// Starts the committing thread. It ends when every handle is gone and the queue is empty.
    pub(crate) fn open(
        store: Store,
        hub: Arc<Hub>,
        catalog: &'static Catalog,
    ) -> std::io::Result<(Self, JoinHandle<()>)> {
        let (queue, commands) = mpsc::channel(QUEUE_WRITES_MAX);
        let mut committer = Committer {
            store,
            hub,
            catalog,
            leases: EventLeases::default(),
            open: OpenWhileAlive(Arc::new(AtomicBool::new(true))),
        };
        let open = Arc::clone(&committer.open.0);
        let thread = std::thread::Builder::new()
            .name("commit".into())
            .spawn(move || committer.run(commands))?;
        Ok((Self { queue, open }, thread))
    }

    /// Can writes be made? Once they cannot, only a restart helps.
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Commits one write and answers when it is durable and every cache has it.
    pub(crate) async fn write(&self, write: Write) -> Result<Written, DoorError> {
        let (answer, written) = oneshot::channel();
        let command = Command::Write(Box::new(write), answer);
        self.queue
            .send(command)
            .await
            .map_err(|_| DoorError::Closed)?;
        written.await.map_err(|_| DoorError::Closed)?
    }

    /// Compacts through `revision`.
    pub(crate) async fn compact(&self, revision: Revision) {
        let (answer, compacted) = oneshot::channel();
        let asked = self.queue.send(Command::Compact(revision, answer)).await;
        if asked.is_err() || compacted.await.is_err() {
            tracing::debug!("no compaction: the server is shutting down");
        }
    }

    /// Removes everything that has expired, and takes a step of compaction. Answers after how long
    /// there is more to do, as far as is known.
    pub(crate) async fn tidy(&self) -> Option<Duration> {
        let (answer, tidied) = oneshot::channel();
        let asked = self.queue.send(Command::Tidy(answer)).await;
        if asked.is_err() {
            tracing::debug!("nothing is tidied: the server is shutting down");
        }
        tidied.await.ok().flatten()
    }

    /// Ends the committing thread after everything that was accepted so far.
    pub(crate) async fn stop(&self) {
        if self.queue.send(Command::Stop).await.is_err() {
            tracing::debug!("the committing thread has ended already");
        }
    }
}

/// The state of the committing thread.
struct Committer {
    store: Store,
    hub: Arc<Hub>,
    catalog: &'static Catalog,
    leases: EventLeases,
    open: OpenWhileAlive,
}

impl Committer {
    fn run(&mut self, mut commands: mpsc::Receiver<Command>) {
        let mut batch = Vec::new();
        while let Some(first) = commands.blocking_recv() {
            let mut next = Some(first);
            let mut stop = false;
            while let Some(command) = next {
                match command {
                    Command::Write(write, answer) => batch.push((write, answer)),
                    // Those who asked and have gone away do not want to know.
                    Command::Compact(revision, answer) => {
                        self.compact(revision);
                        answer.send(()).unwrap_or_default();
                    }
                    Command::Tidy(answer) => drop(answer.send(self.tidy())),
                    Command::Stop => stop = true,
                }
                let more = !stop && batch.len() < BATCH_WRITES_MAX;
                next = if more { commands.try_recv().ok() } else { None };
            }
            if !batch.is_empty() {
                self.commit(std::mem::take(&mut batch));
            }
            if stop {
                return;
            }
        }
    }

    /// One sync for the whole batch, then caches, head, answers, watchers: in that order.
    fn commit(&mut self, batch: Vec<(Box<Write>, Answer)>) {
        let (batch, txns) = self.transactions(batch);
        let results = match self.store.commit(txns) {
            Ok(results) => results,
            Err(error) => {
                if matches!(error, CommitError::Stopped | CommitError::Log(_)) {
                    tracing::error!(%error, "the store takes no writes any more");
                    self.open.0.store(false, Ordering::Release);
                }
                return refuse(batch, error);
            }
        };
        let mut woken = Vec::with_capacity(batch.len());
        let mut answers = Vec::with_capacity(batch.len());
        let mut head = None;
        for ((write, answer), result) in batch.into_iter().zip(results) {
            let written = match result.map(|done| done.commit) {
                Ok(Some(commit)) => {
                    head = Some(commit.revision);
                    let event = Arc::new(self.event(&write, &commit));
                    woken.push(self.hub.publish(write.storage, vec![Arc::clone(&event)]));
                    Ok(Written::Committed(event))
                }
                Ok(None) => Ok(Written::Conflict),
                Err(error) => Err(DoorError::Txn(error)),
            };
            answers.push((answer, written));
        }
        if let Some(head) = head {
            self.hub.advance(head);
        }
        for (answer, written) in answers {
            // A caller that has gone away does not want to know.
            drop(answer.send(written));
        }
        woken.into_iter().for_each(Woken::wake);
    }

    /// The store's transactions for a batch; writes that get no lease are answered and left out.
    fn transactions(
        &mut self,
        batch: Vec<(Box<Write>, Answer)>,
    ) -> (Vec<(Box<Write>, Answer)>, Vec<Txn>) {
        let mut accepted = Vec::with_capacity(batch.len());
        let mut txns = Vec::with_capacity(batch.len());
        for (write, answer) in batch {
            match self.transaction(&write) {
                Ok(txn) => {
                    txns.push(txn);
                    accepted.push((write, answer));
                }
                Err(error) => drop(answer.send(Err(error.into()))),
            }
        }
        (accepted, txns)
    }

    fn transaction(&mut self, write: &Write) -> Result<Txn, LeaseError> {
        let key = write.store_key.clone();
        let op = match &write.change {
            Change::Put(encoded) => {
                let lease = match write.ttl {
                    Some(ttl) => Some(self.leases.lease(&mut self.store, ttl, self.hub.clock())?),
                    None => None,
                };
                Op::Put {
                    key: key.clone(),
                    value: encoded.json.clone(),
                    lease,
                }
            }
            Change::Delete => Op::DeleteRange {
                keys: KeyRange::One(key.clone()),
            },
        };
        let txn = Txn::of(vec![op]).when_unchanged(key, write.expected);
        Ok(match &write.requires {
            Some(key) => txn.when(key.clone(), Relation::Greater, Target::CreateRevision(0)),
            None => txn,
        })
    }

    fn event(&self, write: &Write, commit: &Commit) -> Event {
        let old = self.hub.get(write.storage, write.key.as_str());
        let framed = if old.is_some() {
            WatchEventType::Modified
        } else {
            WatchEventType::Added
        };
        let new = match &write.change {
            Change::Put(encoded) => {
                let key = write.key.clone();
                Some(Arc::new(Object::commit(
                    key,
                    encoded,
                    commit.revision,
                    framed,
                )))
            }
            Change::Delete => None,
        };
        Event::new(commit.revision, write.key.clone(), old, new)
    }

    fn compact(&mut self, through: Revision) {
        if let Err(error) = self.store.compact(through) {
            tracing::warn!(%through, %error, "compaction failed; it is tried again later");
        }
    }

    fn tidy(&mut self) -> Option<Duration> {
        let compacting = match self.store.compact_step() {
            Ok(progress) => progress == CompactProgress::More,
            Err(error) => {
                tracing::warn!(%error, "a step of compaction failed; it is tried again");
                true
            }
        };
        let now = self.hub.clock().mono().since_start();
        for lease in self.store.expired(now) {
            match self.store.revoke(lease) {
                Ok(Some(commit)) => self.publish_deletions(&commit),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "expired objects could not be removed"),
            }
        }
        if compacting {
            return Some(Duration::ZERO);
        }
        let next = self.store.next_expiry()?;
        Some(next.saturating_sub(now))
    }

    /// Publishes the deletions of one revision, which may be of several resources.
    fn publish_deletions(&self, commit: &Commit) {
        let mut by_storage: Vec<(StorageId, Vec<Arc<Event>>)> = Vec::new();
        for change in &commit.changes {
            let place = std::str::from_utf8(&change.key)
                .ok()
                .and_then(|k| self.catalog.locate(k));
            let Some((storage, key)) = place else {
                continue;
            };
            let old = self.hub.get(storage, key.as_str());
            if old.is_none() {
                continue;
            }
            let event = Arc::new(Event::new(commit.revision, key, old, None));
            match by_storage.iter_mut().find(|(which, _)| *which == storage) {
                Some((_, events)) => events.push(event),
                None => by_storage.push((storage, vec![event])),
            }
        }
        let woken: Vec<Woken> = by_storage
            .into_iter()
            .map(|(storage, events)| self.hub.publish(storage, events))
            .collect();
        self.hub.advance(commit.revision);
        woken.into_iter().for_each(Woken::wake);
    }
}

fn refuse(batch: Vec<(Box<Write>, Answer)>, error: CommitError) {
    let error = Arc::new(error);
    for (_, answer) in batch {
        drop(answer.send(Err(DoorError::Store(Arc::clone(&error)))));
    }
}
