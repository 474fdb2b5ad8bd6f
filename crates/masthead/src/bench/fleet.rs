//! [`Fleet`]: watchers, many streams a connection, that note what they see and when.
//!
//! A watcher lives in a group, which is one connection with its streams. The group's lock guards
//! what its watchers have seen, a few more guard the latencies of all; a part of a stream is taken
//! in with one look at the clock and one turn of both, so an event costs the load little.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::BodyExt as _;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::client::{Call, Client};
use super::connection::Connection;
use super::faults::Faults;
use super::layout::{Layout, Seen};
use super::progress::Counter;
use super::stats::Latencies;
use super::watcher::{WatchError, Watcher, open};
use super::wire::{Clock, Reader};

/// Between two looks at a counter.
const POLL_PERIOD: Duration = Duration::from_millis(2);
/// Without any progress for so long, a fleet is given up.
const STALL_PATIENCE: Duration = Duration::from_secs(30);
/// The same when something went wrong already.
const FAULTY_PATIENCE: Duration = Duration::from_secs(3);
/// Latencies are collected in so many places, lest connections wait for each other.
const SHARDS: usize = 16;
/// Watches end by themselves after six hours.
const WATCH_SECONDS: u32 = 6 * 3600;

/// Where watchers begin, and how.
pub(super) struct Start {
    pub(super) client: Client,
    pub(super) clock: Clock,
    pub(super) layout: Arc<Layout>,
    /// The path of the objects.
    pub(super) path: String,
    /// They see what comes after this version.
    pub(super) after: String,
    /// Watches on one connection.
    pub(super) streams: u32,
    /// Events after which a watcher counts as live; 0: as soon as its watch is answered.
    pub(super) live_after: u64,
    /// Watches that are being opened at a time.
    pub(super) openings: usize,
    /// Moves with each watcher that is live.
    pub(super) live: Counter,
}

/// Watchers at work, until they are dropped.
pub(super) struct Fleet {
    crew: Arc<Crew>,
    groups: Vec<Arc<Group>>,
    shards: Vec<Arc<Mutex<Latencies>>>,
    _tasks: JoinSet<()>,
}

/// What all watchers share.
struct Crew {
    start: Start,
    began_nanos: u64,
    gate: Semaphore,
    reader: Reader,
    delivered: AtomicU64,
    bytes: AtomicU64,
    last_nanos: AtomicU64,
    /// From the start of the fleet to live.
    lives: Mutex<Latencies>,
    faults: Arc<Faults>,
}

/// The watchers of one connection.
struct Group {
    seen: Mutex<Vec<Seen>>,
    /// From sent to arrived, of several groups.
    events: Arc<Mutex<Latencies>>,
}

/// Sums over a fleet.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) delivered: u64,
    /// Watchers that did not see exactly what they were to see.
    pub(super) wrong: u64,
    pub(super) bytes: u64,
    pub(super) events: Latencies,
    pub(super) lives: Latencies,
    /// When the last event came.
    pub(super) last_nanos: u64,
}

impl Fleet {
    /// Sends the watchers out.
    pub(super) fn launch(start: Start) -> Self {
        let watchers = start.layout.watchers;
        let streams = u64::from(start.streams.max(1));
        let crew = Arc::new(Crew {
            began_nanos: start.clock.nanos(),
            gate: Semaphore::new(start.openings.max(1)),
            reader: Reader::default(),
            delivered: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            last_nanos: AtomicU64::new(0),
            lives: Mutex::default(),
            faults: Arc::default(),
            start,
        });
        let shards = shards(watchers.div_ceil(streams));
        let (mut groups, mut tasks) = (Vec::new(), JoinSet::new());
        let firsts = (0..watchers).step_by(streams as usize);
        for (first, events) in firsts.zip(shards.iter().cycle()) {
            let until = (first + streams).min(watchers);
            let group = Arc::new(Group {
                seen: Mutex::new(vec![Seen::default(); (until - first) as usize]),
                events: Arc::clone(events),
            });
            groups.push(Arc::clone(&group));
            tasks.spawn(run_group(Arc::clone(&crew), group, first..until));
        }
        Self {
            crew,
            groups,
            shards,
            _tasks: tasks,
        }
    }

    /// Waits until all are live; returns whether they are.
    pub(super) async fn live(&self) -> bool {
        reach(&self.crew.start.live, self.watchers(), &self.crew.faults).await
    }

    /// Waits until so many events came in all; returns whether they did.
    pub(super) async fn delivered(&self, wanted: u64) -> bool {
        reach(&self.crew.delivered, wanted, &self.crew.faults).await
    }

    /// What went wrong.
    pub(super) fn faults(&self) -> &Faults {
        &self.crew.faults
    }

    /// How many there are to be.
    pub(super) fn watchers(&self) -> u64 {
        self.crew.start.layout.watchers
    }

    /// How many are live.
    pub(super) fn live_count(&self) -> u64 {
        self.crew.start.live.load(Ordering::Relaxed)
    }

    /// The sums, with each watcher compared with what it was to see.
    pub(super) fn tally(&self, expected: &[Seen]) -> Tally {
        let mut tally = Tally {
            bytes: self.crew.bytes.load(Ordering::Relaxed),
            last_nanos: self.crew.last_nanos.load(Ordering::Relaxed),
            lives: lock(&self.crew.lives).clone(),
            ..Tally::default()
        };
        for shard in &self.shards {
            tally.events.add(&lock(shard));
        }
        let mut expected = expected.iter();
        for group in &self.groups {
            for seen in lock(&group.seen).iter() {
                tally.delivered += seen.count;
                tally.wrong += u64::from(expected.next() != Some(seen));
            }
        }
        tally
    }
}

/// Places for the latencies of so many groups.
fn shards(groups: u64) -> Vec<Arc<Mutex<Latencies>>> {
    let count = usize::try_from(groups).unwrap_or(SHARDS).clamp(1, SHARDS);
    (0..count).map(|_| Arc::default()).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until `counter` comes to `wanted`, unless it stands still for too long.
async fn reach(counter: &AtomicU64, wanted: u64, faults: &Faults) -> bool {
    let (mut before, mut moved) = (0, Instant::now());
    loop {
        let now = counter.load(Ordering::Relaxed);
        if now >= wanted {
            return true;
        }
        if now != before {
            (before, moved) = (now, Instant::now());
        }
        let patience = match faults.count() {
            0 => STALL_PATIENCE,
            _ => FAULTY_PATIENCE,
        };
        if moved.elapsed() > patience {
            return false;
        }
        sleep(POLL_PERIOD).await;
    }
}

/// One connection, and a task for each watch on it.
async fn run_group(crew: Arc<Crew>, group: Arc<Group>, watchers: std::ops::Range<u64>) {
    let connected = {
        let _permit = crew.gate.acquire().await;
        crew.start.client.connect().await
    };
    let connection = match connected {
        Ok(connection) => connection,
        Err(error) => {
            watchers.for_each(|_| crew.faults.add(&error));
            return;
        }
    };
    let mut tasks = JoinSet::new();
    // With HTTP/1.1 a group has one watcher, which takes the connection itself.
    let mut siblings = Vec::new();
    for _ in watchers.clone().skip(1) {
        siblings.extend(connection.sibling());
    }
    siblings.push(connection);
    for ((slot, watcher), own) in watchers.enumerate().zip(siblings) {
        let (crew, group) = (Arc::clone(&crew), Arc::clone(&group));
        tasks.spawn(async move {
            let Err(error) = watch(&crew, &group, (slot, watcher), own).await;
            crew.faults.add(&format!("watcher {watcher}: {error}"));
        });
    }
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            crew.faults.add(&error);
        }
    }
}

/// Watches until the stream ends, which it should not.
async fn watch(
    crew: &Crew,
    group: &Group,
    (slot, watcher): (usize, u64),
    mut connection: Connection,
) -> Result<Infallible, WatchError> {
    let call = Call::get(crew.path(watcher));
    let mut body = {
        let _permit = crew.gate.acquire().await;
        open(&mut connection, &call).await?.into_body()
    };
    drop(call);
    let (mut watcher, mut waits_for) = (Watcher::default(), Some(crew.start.live_after));
    let mut count = 0;
    loop {
        if waits_for.is_some_and(|wanted| count >= wanted) {
            waits_for = None;
            crew.note_live();
        }
        let Some(frame) = body.frame().await else {
            return Err(WatchError::Ended);
        };
        if let Ok(data) = frame?.into_data() {
            count = crew.take(group, slot, &mut watcher, &data)?;
        }
    }
}

impl Crew {
    fn path(&self, watcher: u64) -> String {
        format!(
            "{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={WATCH_SECONDS}\
             &resourceVersion={}{}",
            self.start.path,
            self.start.after,
            self.start.layout.selector(watcher)
        )
    }

    /// Takes in a part of a watcher's stream; returns how many updates it has seen in all.
    fn take(
        &self,
        group: &Group,
        slot: usize,
        watcher: &mut Watcher,
        data: &[u8],
    ) -> Result<u64, WatchError> {
        let now = self.start.clock.nanos();
        let mut fresh = Seen::default();
        let taken = {
            let mut events = lock(&group.events);
            watcher.take(&self.reader, data, |marker| {
                fresh.add(marker.number);
                events.record(now.saturating_sub(marker.sent_nanos));
            })
        };
        let count = match lock(&group.seen).get_mut(slot) {
            Some(seen) => {
                seen.join(fresh);
                seen.count
            }
            None => 0,
        };
        self.delivered.fetch_add(fresh.count, Ordering::Relaxed);
        self.bytes.fetch_add(data.len() as u64, Ordering::Relaxed);
        self.last_nanos.fetch_max(now, Ordering::Relaxed);
        taken.map(|()| count)
    }

    /// Notes that one more watcher is live.
    fn note_live(&self) {
        let took = self.start.clock.nanos().saturating_sub(self.began_nanos);
        lock(&self.lives).record(took);
        self.start.live.fetch_add(1, Ordering::Relaxed);
    }
}
