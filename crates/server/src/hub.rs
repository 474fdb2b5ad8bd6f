//! [`Hub`]: every resource's watch cache, each behind one lock, and the head of the store.
//!
//! ```text
//!  committing thread ── publish ─▶ Slot { Mutex<Cache + wakers> } ◀── poll ── watch bodies
//!                    └─ head ────▶ everybody who waits for a revision
//! ```
//!
//! * **I1** Only the committing thread calls [`Hub::publish`] and [`Hub::advance`].
//! * **I2** `head` moves to R only after every cache has every event through R, so `head` is a
//!   truthful progress notice for every resource.
//! * **I3** Watchers are woken after the slot's lock is released; no lock is held over an await.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use masthead_api::{Event, Object, Revision};
use masthead_objects::StorageId;
use masthead_watch::{
    Cache, Delivery, EndReason, Mono, Polled, Snapshot, WatchError, WatchRequest, WatcherId,
};
use tokio::sync::{Notify, watch};

use crate::clock::{Clock, Driven};
use crate::uncached::Past;

/// How long a read waits for a revision that does not exist yet.
const FRESHNESS_WAIT_MAX: Duration = Duration::from_secs(3);

/// One resource's cache and the tasks that wait for its watchers.
struct Slot {
    cache: Cache,
    wakers: Vec<Option<Waker>>,
}

/// All caches.
pub(crate) struct Hub {
    slots: Vec<Mutex<Slot>>,
    head: watch::Sender<Revision>,
    clock: Clock,
    /// When the timer task looks next, in microseconds of the clock; `u64::MAX` for never.
    due: AtomicU64,
    timer: Notify,
    /// Set once every watch has been ended: later ones end as they begin.
    ended: OnceLock<EndReason>,
}

impl Hub {
    /// A hub over `caches`, one a storage, in the order of their ids.
    pub(crate) fn new(caches: Vec<Cache>, head: Revision, clock: Clock) -> Self {
        let slots = caches
            .into_iter()
            .map(|cache| {
                Mutex::new(Slot {
                    cache,
                    wakers: Vec::new(),
                })
            })
            .collect();
        let head = watch::Sender::new(head);
        Self {
            slots,
            head,
            clock,
            due: AtomicU64::new(u64::MAX),
            timer: Notify::new(),
            ended: OnceLock::new(),
        }
    }

    /// The server's clock.
    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The newest revision that every cache has.
    pub(crate) fn head(&self) -> Revision {
        *self.head.borrow()
    }

    /// How many storages there are.
    pub(crate) fn storages(&self) -> impl Iterator<Item = StorageId> + use<> {
        (0..self.slots.len())
            .filter_map(|at| u16::try_from(at).ok())
            .map(StorageId)
    }

    /// The present version of one object.
    pub(crate) fn get(&self, storage: StorageId, key: &str) -> Option<Arc<Object>> {
        self.slot(storage)?.cache.get(key).cloned()
    }

    /// The present state of one resource.
    pub(crate) fn snapshot(&self, storage: StorageId) -> Option<Snapshot> {
        let head = self.head();
        Some(self.slot(storage)?.cache.snapshot(head))
    }

    /// Keeps `snapshot` at hand for the following pages of its listing.
    pub(crate) fn keep(&self, storage: StorageId, snapshot: &Snapshot) {
        if let Some(mut slot) = self.slot(storage) {
            slot.cache.keep(snapshot);
        }
    }

    /// The state at exactly `revision`, while the history reaches back that far.
    pub(crate) fn snapshot_at(&self, storage: StorageId, revision: Revision) -> Option<Snapshot> {
        self.slot(storage)?.cache.snapshot_at(revision)
    }

    /// Waits until `revision` exists, at most 3 s. Answers whether it does.
    pub(crate) async fn reached(&self, revision: Revision) -> bool {
        let mut head = self.head.subscribe();
        let mut timer = self.clock.timer();
        tokio::select! {
            biased;
            reached = head.wait_for(|head| *head >= revision) => reached.is_ok(),
            () = timer.sleep(FRESHNESS_WAIT_MAX) => false,
        }
    }

    /// Opens a watch.
    pub(crate) fn watch(
        self: &Arc<Self>,
        storage: StorageId,
        request: WatchRequest,
    ) -> Result<Subscription, WatchError> {
        let (now, head) = (self.clock.mono(), self.head());
        let Some(mut slot) = self.slot(storage) else {
            return Err(WatchError::Expired {
                wanted: head,
                oldest_accepted: head,
            });
        };
        let id = slot.cache.watch(request, now, head)?;
        if let Some(reason) = self.ended.get() {
            slot.cache.end_one(id, *reason, &mut Vec::new());
        }
        let due = slot.cache.next_deadline();
        drop(slot);
        self.remind(due);
        Ok(Subscription {
            hub: Arc::clone(self),
            past: None,
            storage,
            id,
        })
    }

    /// Hands the events of one revision of one resource to its cache and watchers (I1).
    pub(crate) fn publish(&self, storage: StorageId, events: Vec<Arc<Event>>) -> Woken {
        let now = self.clock.mono();
        let mut woken = Woken::default();
        if let Some(mut slot) = self.slot(storage) {
            let mut ids = Vec::new();
            slot.cache.publish(events, now, &mut ids);
            slot.take_wakers(&ids, &mut woken);
        }
        woken
    }

    /// Moves the head (I2).
    pub(crate) fn advance(&self, head: Revision) {
        self.head.send_replace(head);
    }

    /// Ends every watch of every resource, and from now on each one that begins.
    pub(crate) fn end_all(&self, reason: EndReason) {
        let head = self.head();
        self.ended.get_or_init(|| reason);
        for storage in self.storages() {
            let mut woken = Woken::default();
            if let Some(mut slot) = self.slot(storage) {
                let mut ids = Vec::new();
                slot.cache.end_all(reason, head, &mut ids);
                slot.take_wakers(&ids, &mut woken);
            }
            woken.wake();
        }
    }

    /// Lets `read` look at one cache.
    pub(crate) fn inspect<T>(
        &self,
        storage: StorageId,
        read: impl FnOnce(&Cache) -> T,
    ) -> Option<T> {
        Some(read(&self.slot(storage)?.cache))
    }

    /// The one timer of all watches: sends bookmarks and ends streams whose time is up. Runs until
    /// it is dropped. Where the clock is advanced by hand, that hand does it instead.
    pub(crate) async fn run_timer(&self) {
        loop {
            let due = self.due();
            let wait = due.map(|due| due.saturating_sub(self.clock.mono().since_start()));
            tokio::select! {
                // Both arms are cancel-safe: a permit of the notification is kept.
                () = self.timer.notified() => continue,
                () = tokio::time::sleep(wait.unwrap_or_default()), if wait.is_some() => {}
            }
            self.handle_due();
        }
    }

    fn handle_time(&self, storage: StorageId) -> Option<Mono> {
        let (now, head) = (self.clock.mono(), self.head());
        let mut woken = Woken::default();
        let mut slot = self.slot(storage)?;
        let mut ids = Vec::new();
        slot.cache.handle_time(now, head, &mut ids);
        slot.take_wakers(&ids, &mut woken);
        let due = slot.cache.next_deadline();
        drop(slot);
        woken.wake();
        due
    }

    fn remind(&self, due: Option<Mono>) {
        let Some(due) = due else { return };
        // Rounded up: a moment too early would find nothing to do.
        let due = due.since_start().as_nanos().div_ceil(1000);
        let due = u64::try_from(due).unwrap_or(u64::MAX - 1);
        if self.due.fetch_min(due, Ordering::AcqRel) > due {
            self.timer.notify_one();
        }
    }

    fn slot(&self, storage: StorageId) -> Option<MutexGuard<'_, Slot>> {
        let slot = self.slots.get(usize::from(storage.0))?;
        Some(slot.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Driven for Hub {
    fn due(&self) -> Option<Duration> {
        let due = self.due.load(Ordering::Acquire);
        (due != u64::MAX).then(|| Duration::from_micros(due))
    }

    fn handle_due(&self) {
        self.due.store(u64::MAX, Ordering::Release);
        let mut next = None;
        for storage in self.storages() {
            next = earlier(next, self.handle_time(storage));
        }
        self.remind(next);
    }
}

impl Slot {
    fn take_wakers(&mut self, ids: &[WatcherId], woken: &mut Woken) {
        for id in ids {
            woken
                .0
                .extend(self.wakers.get_mut(id.index()).and_then(Option::take));
        }
    }
}

fn earlier(a: Option<Mono>, b: Option<Mono>) -> Option<Mono> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Tasks to wake once no lock is held (I3).
#[derive(Default)]
#[must_use]
pub(crate) struct Woken(Vec<Waker>);

impl Woken {
    /// Wakes them.
    pub(crate) fn wake(self) {
        self.0.into_iter().for_each(Waker::wake);
    }
}

/// An open watch; dropping it closes the watch.
pub(crate) struct Subscription {
    hub: Arc<Hub>,
    /// What comes first, where the cache does not reach back so far.
    past: Option<Box<Past>>,
    storage: StorageId,
    id: WatcherId,
}

impl Subscription {
    /// This watch, after `past`.
    pub(crate) fn after(mut self, past: Past) -> Self {
        self.past = Some(Box::new(past));
        self
    }

    /// Takes up to `events_max` deliveries. After [`Polled::Pending`] the task of `context` is
    /// woken when there is more.
    pub(crate) fn poll(
        &self,
        context: &Context<'_>,
        events_max: usize,
        out: &mut Vec<Delivery>,
    ) -> Polled {
        let past = self.past.as_ref();
        if let Some(polled) = past.and_then(|past| past.poll(context, events_max, out)) {
            return polled;
        }
        let Some(mut slot) = self.hub.slot(self.storage) else {
            return Polled::Ended(EndReason::Shutdown);
        };
        let polled = slot.cache.poll(self.id, events_max, out);
        if polled == Polled::Pending {
            let at = self.id.index();
            if slot.wakers.len() <= at {
                slot.wakers.resize(at + 1, None);
            }
            if let Some(place) = slot.wakers.get_mut(at) {
                match place {
                    Some(waker) => waker.clone_from(context.waker()),
                    None => *place = Some(context.waker().clone()),
                }
            }
        }
        polled
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(mut slot) = self.hub.slot(self.storage) {
            slot.cache.cancel(self.id);
            if let Some(waker) = slot.wakers.get_mut(self.id.index()) {
                *waker = None;
            }
        }
    }
}
