//! [`World`]: the shell around the pure core, on one thread and with a clock that only steps move.
//!
//! It does what the server does, in the same order, and stops after each thing:
//!
//! ```text
//!  Write ─▶ pending ─▶ store.commit ─▶ publish, cache by cache ─▶ head ─▶ answers ─▶ wake     (Act)
//!                                          other steps happen in between, crashes as well
//! ```
//! So everything that can happen between two locks of the server can happen here, and the same
//! plan always makes the same history.

mod clients;
mod commit;
mod hub;
mod reads;
mod start;
mod streams;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use masthead_store::Store;
use masthead_watch::EndReason;

use self::clients::Client;
use self::commit::Act;
use self::hub::Hub;
use self::reads::Listing;
use self::streams::Stream;
use crate::disk::{Disk, Leaves, Syncing};
use crate::fault::{Fault, Saboteur};
use crate::history::{History, Record, Write};
use crate::object::STORAGES;
use crate::plan::Plan;
use crate::step::Step;

/// How often a reader may be told in a row that there is more.
const POLLS_MAX: usize = 2000;

/// Why a world could not begin.
#[derive(Debug, thiserror::Error)]
#[error("an empty store cannot be opened: {0}")]
pub struct WorldError(String);

/// A server's core, its clients, and the record of what they saw.
pub(crate) struct World {
    config: masthead_watch::CacheConfig,
    disk: Arc<Disk>,
    store: Store,
    hub: Hub,
    pending: Vec<Write>,
    acts: VecDeque<Act>,
    to_wake: Vec<usize>,
    writes: usize,
    serial: u32,
    clients: Vec<Client>,
    streams: Vec<Stream>,
    ready: BTreeSet<usize>,
    listings: Vec<Listing>,
    dead: bool,
    saboteur: Saboteur,
    records: Vec<Record>,
}

/// Carries out a plan, with a fault or without one.
///
/// # Errors
/// [`WorldError`] if not even an empty store can be opened.
pub fn run(plan: &Plan, fault: Option<Fault>) -> Result<History, WorldError> {
    let mut world = World::new(plan, fault)?;
    for step in &plan.steps {
        if world.dead {
            break;
        }
        world.step(step);
    }
    if !world.dead {
        world.settle();
    }
    Ok(History {
        events_min: plan.config.history_events_min,
        records: world.records,
    })
}

impl World {
    fn new(plan: &Plan, fault: Option<Fault>) -> Result<Self, WorldError> {
        let syncing = if fault == Some(Fault::UnsyncedAppend) {
            Syncing::Never
        } else {
            Syncing::Always
        };
        let disk = Arc::new(Disk::new(syncing));
        let store = start::open(&disk).map_err(WorldError)?;
        let caches = start::caches(&store.reader(), &plan.config).map_err(WorldError)?;
        let hub = Hub::new(caches, store.revision());
        Ok(Self {
            config: plan.config.clone(),
            disk,
            store,
            hub,
            pending: Vec::new(),
            acts: VecDeque::new(),
            to_wake: Vec::new(),
            writes: 0,
            serial: 0,
            clients: Vec::new(),
            streams: Vec::new(),
            ready: BTreeSet::new(),
            listings: Vec::new(),
            dead: false,
            saboteur: Saboteur::new(fault),
            records: Vec::new(),
        })
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Write(items) => self.hand_in(items),
            Step::Act => self.act(),
            Step::Flush => self.flush(),
            Step::Open(taste, from) => self.arrive(*taste, *from),
            Step::Reopen(which, from) => self.reopen(*which, *from),
            Step::Poll { which, max, luck } => self.poll_one(*which, *max, *luck),
            Step::Cut(which) => self.cut(*which),
            Step::End(which) => self.end(*which),
            Step::Pass(seconds) => self.pass(Duration::from_secs(u64::from(*seconds))),
            Step::List {
                storage,
                pick,
                wanted,
                limit,
            } => self.list(*storage, *pick, *wanted, usize::from(*limit)),
            Step::Page(which) => self.next_page(*which),
            Step::Get(place) => self.get(*place),
            Step::Compact(back) => self.compact(*back),
            Step::Tidy => self.tidy(),
            Step::FailAppend(fault) => self.disk.fail_next(*fault),
            Step::Crash(leaves) => self.crash(*leaves),
            Step::Restart => self.restart(),
            Step::Settle => self.settle(),
        }
    }

    /// The revision this many before the head, or after it.
    fn revision_at(&self, distance: i8) -> u64 {
        let head = self.hub.head.get();
        head.saturating_add_signed(i64::from(distance)).max(1)
    }

    /// Lets time pass. What is due happens at its end, as it does when a timer is late.
    fn pass(&mut self, time: Duration) {
        self.hub.now = self.hub.now + time;
        for storage in 0..STORAGES as u8 {
            let ids = self.hub.handle_time(storage);
            let woken = self.take_wakers(storage, ids);
            self.ready.extend(woken);
        }
    }

    fn crash(&mut self, leaves: Leaves) {
        for stream in 0..self.streams.len() {
            self.close(stream);
        }
        self.acts.clear();
        self.pending.clear();
        self.to_wake.clear();
        self.start_again(leaves);
    }

    /// A clean stop: everything accepted is done, every stream ends, then the process does.
    fn restart(&mut self) {
        self.flush();
        for storage in 0..STORAGES as u8 {
            let ids = self.hub.end_all(storage, EndReason::Shutdown);
            let woken = self.take_wakers(storage, ids);
            self.ready.extend(woken);
        }
        self.read_all();
        self.crash(Leaves::Live);
    }

    /// Everybody reads until nobody is ready, then those are asked that have not been woken.
    fn settle(&mut self) {
        self.flush();
        self.read_all();
        self.ask_sleepers();
        let head = self.hub.head.get();
        self.records.push(Record::Settled { head });
    }
}
