//! [`Plan`]: what a seed stands for, as values: the sizes of a world and the steps taken in it.

use std::time::Duration;

use masthead_watch::CacheConfig;

use crate::disk::{AppendFault, Leaves};
use crate::object::{KEYS, LABELS_LEN, NODES_LEN, Place, STORAGES};
use crate::pick::{PICKS_LEN, Pick};
use crate::rng::Rng;
use crate::step::{Change, From, Item, Knows, Pace, Step, Taste, Wanted};

/// The shortest world, and
const STEPS_MIN: u64 = 150;
/// the longest.
const STEPS_MAX: u64 = 600;

/// A world to come.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The sizes of its caches.
    pub config: CacheConfig,
    /// What happens in it.
    pub steps: Vec<Step>,
}

impl Plan {
    /// What `seed` stands for.
    pub fn of_seed(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let config = config(&mut rng);
        let len = STEPS_MIN + rng.below(STEPS_MAX - STEPS_MIN);
        let temper = Temper::new(&mut rng);
        let mut steps = Vec::with_capacity(len as usize);
        let mut stopped = None;
        for at in 0..len {
            if stopped.is_some_and(|until| until < at) {
                steps.push(Step::Crash(leaves(&mut rng)));
                stopped = None;
            }
            let step = step(&mut rng, &temper);
            if step == Step::FailAppend(AppendFault::Unknown) {
                // The store takes no writes after that: somebody will start it again.
                stopped = Some(at + rng.below(40));
            }
            steps.push(step);
        }
        Self { config, steps }
    }
}

fn config(rng: &mut Rng) -> CacheConfig {
    let tiny = CacheConfig::tiny();
    let events_min = 2 + rng.below(6) as usize;
    let queue_events_min = 1 + rng.below(3) as usize;
    CacheConfig {
        window: Duration::from_secs(if rng.once_in(3) { 2 } else { 75 }),
        history_events_min: events_min,
        history_events_max: events_min * if rng.once_in(3) { 16 } else { 2 },
        queue_events_min,
        queue_events_max: queue_events_min + rng.below(3) as usize,
        snapshots_max: rng.below(3) as usize,
        poll_examined_max: 1 + rng.below(5) as usize,
        ..tiny
    }
}

/// What kind of world it is: which steps come often. Pairs of a weight and a kind.
struct Temper {
    weights: Vec<(u64, Kind)>,
    total: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Write,
    Act,
    Flush,
    Open,
    Reopen,
    Poll,
    Cut,
    End,
    Pass,
    List,
    Page,
    Get,
    Compact,
    Tidy,
    FailAppend,
    Crash,
    Restart,
    Settle,
}

const WEIGHTS: [(u64, Kind); 18] = [
    (240, Kind::Write),
    (240, Kind::Act),
    (160, Kind::Flush),
    (24, Kind::Open),
    (70, Kind::Reopen),
    (400, Kind::Poll),
    (30, Kind::Cut),
    (6, Kind::End),
    (24, Kind::Pass),
    (40, Kind::List),
    (30, Kind::Page),
    (20, Kind::Get),
    (8, Kind::Compact),
    (10, Kind::Tidy),
    (2, Kind::FailAppend),
    (3, Kind::Crash),
    (2, Kind::Restart),
    (8, Kind::Settle),
];

impl Temper {
    /// Every world has its own mixture.
    fn new(rng: &mut Rng) -> Self {
        let weights: Vec<(u64, Kind)> = WEIGHTS
            .iter()
            .map(|(weight, kind)| (weight * (1 + rng.below(4)), *kind))
            .collect();
        let total = weights.iter().map(|(weight, _)| weight).sum();
        Self { weights, total }
    }

    fn kind(&self, rng: &mut Rng) -> Kind {
        let mut at = rng.below(self.total);
        for (weight, kind) in &self.weights {
            match at.checked_sub(*weight) {
                Some(rest) => at = rest,
                None => return *kind,
            }
        }
        Kind::Act
    }
}

fn step(rng: &mut Rng, temper: &Temper) -> Step {
    match temper.kind(rng) {
        Kind::Write => write(rng),
        Kind::Act => Step::Act,
        Kind::Flush => Step::Flush,
        Kind::Open => Step::Open(taste(rng), from(rng, From::Streaming)),
        Kind::Reopen => Step::Reopen(rng.small(u8::MAX), from(rng, From::Last)),
        Kind::Poll => Step::Poll {
            which: rng.small(u8::MAX),
            max: 1 + rng.small(5),
            luck: rng.small(8),
        },
        Kind::Cut => Step::Cut(rng.small(u8::MAX)),
        Kind::End => Step::End(rng.small(u8::MAX)),
        Kind::Pass => Step::Pass(1 + rng.below(40) as u16),
        Kind::List => list(rng),
        Kind::Page => Step::Page(rng.small(u8::MAX)),
        Kind::Get => Step::Get(place(rng)),
        Kind::Compact => Step::Compact(rng.small(12)),
        Kind::Tidy => Step::Tidy,
        Kind::FailAppend if rng.once_in(2) => Step::FailAppend(AppendFault::Untouched),
        Kind::FailAppend => Step::FailAppend(AppendFault::Unknown),
        Kind::Crash => Step::Crash(leaves(rng)),
        Kind::Restart => Step::Restart,
        Kind::Settle => Step::Settle,
    }
}

const fn leaves(rng: &mut Rng) -> Leaves {
    if rng.once_in(2) {
        Leaves::Live
    } else {
        Leaves::Durable
    }
}

const fn place(rng: &mut Rng) -> Place {
    // The first resource is the busiest.
    let storage = rng.small(2 * STORAGES as u8).saturating_sub(STORAGES as u8);
    let key = rng.small(KEYS as u8);
    Place { storage, key }
}

fn write(rng: &mut Rng) -> Step {
    let len = if rng.once_in(6) { 2 + rng.below(3) } else { 1 };
    let mut items: Vec<Item> = Vec::new();
    for _ in 0..len {
        let place = place(rng);
        if items.iter().any(|item| item.place == place) {
            continue;
        }
        let change = if rng.once_in(4) {
            Change::Delete
        } else {
            Change::Put {
                labels: rng.small(LABELS_LEN),
                node: rng.small(NODES_LEN),
            }
        };
        let knows = if rng.once_in(12) {
            Knows::Wrong
        } else {
            Knows::Present
        };
        items.push(Item {
            place,
            change,
            knows,
        });
    }
    Step::Write(items)
}

fn taste(rng: &mut Rng) -> Taste {
    Taste {
        storage: place(rng).storage,
        pick: pick(rng),
        bookmarks: !rng.once_in(3),
        timeout: rng.once_in(4).then(|| rng.below(150) as u16),
        pace: if rng.once_in(3) {
            Pace::Slow
        } else {
            Pace::Fast
        },
    }
}

fn pick(rng: &mut Rng) -> Pick {
    // Half of all want much.
    let picks = if rng.once_in(2) { 5 } else { PICKS_LEN };
    Pick::numbered(rng.small(picks))
}

/// `usual` two times of three.
fn from(rng: &mut Rng, usual: From) -> From {
    match rng.below(27) {
        0 => From::Nothing,
        1 => From::Zero,
        2 => From::Streaming,
        3 => From::StreamingFrom(4 - rng.small(10) as i8),
        4 => From::Now,
        5 => From::After(rng.small(4) as i8),
        6 | 7 => From::After(-(rng.small(12) as i8)),
        8 => From::Offered,
        _ => usual,
    }
}

fn list(rng: &mut Rng) -> Step {
    let wanted = match rng.below(6) {
        0 | 1 => Wanted::Newest,
        2 => Wanted::Any,
        3 => Wanted::AtLeast(2 - rng.small(8) as i8),
        _ => Wanted::Exactly(2 - rng.small(14) as i8),
    };
    Step::List {
        storage: place(rng).storage,
        pick: pick(rng),
        wanted,
        limit: rng.small(4),
    }
}
