//! [`ResourceMetrics`]: the numbers of one resource, at hand without looking them up.

use std::sync::atomic::AtomicI64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use super::histogram::Histogram;

/// A gauge of whole numbers.
pub(super) type Number = Gauge<i64, AtomicI64>;

/// The numbers of one resource in one version. Made once a resource with
/// [`Metrics::resource`](super::Metrics::resource) and kept; each method is one or two atomic
/// additions.
#[derive(Clone, Debug)]
pub struct ResourceMetrics {
    pub(super) watch_events: Counter,
    pub(super) watch_event_bytes: Histogram,
    pub(super) watchers: Number,
    pub(super) init_events: Counter,
    pub(super) events_received: Counter,
    pub(super) events_dispatched: Counter,
    pub(super) cache_initializations: Counter,
    pub(super) cache_revision: Number,
    pub(super) terminated_watchers: Counter,
    pub(super) capacity: Number,
    pub(super) capacity_increases: Counter,
    pub(super) capacity_decreases: Counter,
    pub(super) objects: Number,
    pub(super) storage_objects: Number,
}

/// A resource version in a gauge keeps its last 15 digits, which a float holds exactly.
const REVISION_MODULUS: u64 = 1_000_000_000_000_000;

impl ResourceMetrics {
    /// A watch began; it ends where the returned value is dropped.
    #[must_use]
    pub fn watch_began(&self) -> WatchGauge {
        self.watchers.inc();
        WatchGauge {
            running: self.watchers.clone(),
            events: self.watch_events.clone(),
            event_bytes: self.watch_event_bytes.clone(),
            init_events: self.init_events.clone(),
        }
    }

    /// The cache took in so many events from the store since it was filled, of which so many went
    /// to watchers, and ended so many watchers that could not keep up. Whoever tells this tells it
    /// from under the cache's lock.
    pub fn cache_totals(&self, received: u64, dispatched: u64, terminated: u64) {
        raise(&self.events_received, received);
        raise(&self.events_dispatched, dispatched);
        raise(&self.terminated_watchers, terminated);
    }

    /// The cache was filled from the store.
    pub fn cache_initialized(&self) {
        self.cache_initializations.inc();
    }

    /// The cache stands at `revision`.
    pub fn cache_at(&self, revision: u64) {
        self.cache_revision
            .set((revision % REVISION_MODULUS) as i64);
    }

    /// The history window can hold `events` events.
    pub fn cache_capacity(&self, events: usize) {
        let events = events as i64;
        let before = self.capacity.set(events);
        match before.cmp(&events) {
            _ if before == 0 => {}
            std::cmp::Ordering::Less => drop(self.capacity_increases.inc()),
            std::cmp::Ordering::Greater => drop(self.capacity_decreases.inc()),
            std::cmp::Ordering::Equal => {}
        }
    }

    /// So many objects are stored.
    pub fn objects(&self, objects: usize) {
        self.objects.set(objects as i64);
        self.storage_objects.set(objects as i64);
    }
}

/// The numbers of one watch, which is counted as running until this is dropped.
#[derive(Debug)]
pub struct WatchGauge {
    running: Number,
    events: Counter,
    event_bytes: Histogram,
    init_events: Counter,
}

impl WatchGauge {
    /// The watch was sent so many objects of its initial state.
    pub fn initial(&self, objects: u64) {
        self.init_events.inc_by(objects);
    }

    /// The watch was sent an event of `bytes` bytes.
    pub fn event(&self, bytes: usize) {
        self.events.inc();
        self.event_bytes.observe(bytes as u64);
    }
}

impl Drop for WatchGauge {
    fn drop(&mut self) {
        self.running.dec();
    }
}

/// Brings a counter to a total that was counted elsewhere.
fn raise(counter: &Counter, total: u64) {
    counter.inc_by(total.saturating_sub(counter.get()));
}
