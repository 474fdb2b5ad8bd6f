//! Random worlds against the model: every stream is the filtered suffix of what happened.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::states;
use crate::testing::{LIST, World, line, rev};
use crate::*;

const KEYS: [&str; 6] = ["a/1", "a/2", "b/1", "b/2", "c/1", "c/3"];
const LABELS: [&str; 4] = ["", "app=x", "app=y", "app=x,tier=z"];
const NODES: [&str; 3] = ["", "n1", "n2"];
const SELECTORS: [&str; 11] = [
    "",
    "ns=a",
    "ns=c",
    "name=1",
    "ns=a name=1",
    "node=n1",
    "node=",
    "app=x",
    "ns=b app=x",
    "app=x|y",
    "app!=x",
];

#[derive(Clone, Debug)]
enum Step {
    Put {
        key: usize,
        labels: usize,
        node: usize,
    },
    Delete {
        key: usize,
    },
    PutBoth {
        key: usize,
        labels: usize,
    },
    Elsewhere,
    Pass {
        seconds: u64,
    },
    Watch {
        selector: usize,
        start: usize,
        bookmarks: bool,
        timeout: Option<u64>,
    },
    Poll {
        which: usize,
        max: usize,
    },
    Cancel {
        which: usize,
    },
    StateAt {
        back: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let (keys, labels) = (0..KEYS.len(), 0..LABELS.len());
    prop_oneof![
        8 => (keys.clone(), labels.clone(), 0..NODES.len())
            .prop_map(|(key, labels, node)| Step::Put { key, labels, node }),
        3 => keys.clone().prop_map(|key| Step::Delete { key }),
        2 => (keys, labels).prop_map(|(key, labels)| Step::PutBoth { key, labels }),
        1 => Just(Step::Elsewhere),
        1 => (0..50u64).prop_map(|seconds| Step::Pass { seconds }),
        3 => (0..SELECTORS.len(), 0..12usize, any::<bool>(), prop::option::of(0..200u64)).prop_map(
            |(selector, start, bookmarks, timeout)| Step::Watch {
                selector, start, bookmarks, timeout
            }
        ),
        8 => (any::<usize>(), 1..6usize).prop_map(|(which, max)| Step::Poll { which, max }),
        1 => any::<usize>().prop_map(|which| Step::Cancel { which }),
        1 => (0..20u64).prop_map(|back| Step::StateAt { back }),
    ]
}

/// A watcher and what it must say.
struct Watched {
    id: WatcherId,
    selector: &'static str,
    /// Events through this revision are not for it.
    after: u64,
    /// What comes before the events.
    prelude: Vec<String>,
    got: Vec<Delivery>,
    ended: Option<EndReason>,
}

struct Run {
    world: World,
    watched: Vec<Watched>,
    /// Those that may be polled: new, woken, or with more to come.
    ready: BTreeSet<WatcherId>,
}

impl Run {
    fn step(&mut self, step: &Step) {
        match *step {
            Step::Put { key, labels, node } => {
                self.world
                    .commit(&[(KEYS[key], Some((LABELS[labels], NODES[node])))]);
            }
            Step::Delete { key } => {
                self.world.delete(KEYS[key]);
            }
            Step::PutBoth { key, labels } => {
                let other = (key + 1) % KEYS.len();
                self.world.commit(&[
                    (KEYS[key], Some((LABELS[labels], ""))),
                    (KEYS[other], Some((LABELS[0], "n1"))),
                ]);
            }
            Step::Elsewhere => self.world.elsewhere(1),
            Step::Pass { seconds } => self.world.pass(seconds),
            Step::Watch {
                selector,
                start,
                bookmarks,
                timeout,
            } => {
                let bookmarks = if bookmarks {
                    Bookmarks::On
                } else {
                    Bookmarks::Off
                };
                self.watch(SELECTORS[selector], start, bookmarks, timeout);
            }
            Step::Poll { which, max } => {
                let ready = which % self.ready.len().max(1);
                if let Some(id) = self.ready.iter().nth(ready).copied() {
                    self.poll(id, max);
                }
            }
            Step::Cancel { which } => {
                if !self.watched.is_empty() {
                    let watched = self.watched.swap_remove(which % self.watched.len());
                    self.world.cache.cancel(watched.id);
                    self.ready.remove(&watched.id);
                    check(&self.world, &watched, Complete::No);
                }
            }
            Step::StateAt { back } => {
                let revision = self.world.head().saturating_sub(back).max(LIST);
                states::check(&mut self.world, revision);
            }
        }
        self.ready.extend(self.world.woken.drain(..));
    }

    fn watch(
        &mut self,
        selector: &'static str,
        start: usize,
        bookmarks: Bookmarks,
        timeout: Option<u64>,
    ) {
        let head = self.world.head();
        let mut prelude = Vec::new();
        let (start, after) = match start {
            0 => (WatchStart::Now, head),
            1 => (WatchStart::After(rev(head + 3)), head + 3),
            2 | 3 => {
                prelude = self.world.initial(selector, head);
                prelude.push(format!("END {head}"));
                (
                    WatchStart::State {
                        end: InitialEnd::Annotated,
                    },
                    head,
                )
            }
            back => {
                let after = (head - (back as u64 - 4).min(head - LIST)).max(LIST);
                (WatchStart::After(rev(after)), after)
            }
        };
        let oldest = self.world.cache.oldest();
        match self.world.watch_for(selector, start, bookmarks, timeout) {
            Ok(id) => {
                let got = Vec::new();
                self.watched.push(Watched {
                    id,
                    selector,
                    after,
                    prelude,
                    got,
                    ended: None,
                });
                self.ready.insert(id);
            }
            Err(WatchError::Expired {
                wanted,
                oldest_accepted,
            }) => {
                assert_eq!(oldest_accepted, oldest);
                assert_eq!(wanted, rev(after));
                assert!(wanted < oldest);
            }
        }
    }

    fn poll(&mut self, id: WatcherId, max: usize) {
        let watched = self
            .watched
            .iter_mut()
            .find(|watched| watched.id == id)
            .unwrap();
        let mut out = Vec::new();
        match self.world.cache.poll(id, max, &mut out) {
            Polled::More => {}
            Polled::Pending => {
                self.ready.remove(&id);
            }
            Polled::Ended(reason) => {
                self.ready.remove(&id);
                watched.ended = Some(reason);
            }
        }
        // Atomic: no revision is torn between two batches.
        if let (Some(Delivery::Event { event: last, .. }), Some(Delivery::Event { event, .. })) =
            (watched.got.last(), out.first())
        {
            assert!(last.revision < event.revision);
        }
        watched.got.append(&mut out);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Complete {
    Yes,
    No,
}

fn check(world: &World, watched: &Watched, complete: Complete) {
    let mut owed = watched.prelude.clone();
    owed.extend(world.owed(watched.selector, watched.after));
    let mut got = Vec::new();
    let mut through = 0;
    for delivery in &watched.got {
        match delivery {
            Delivery::Bookmark(revision) => {
                through = revision.get();
                assert!(through > watched.after, "a bookmark says something new");
                let before = world.owed(watched.selector, watched.after).len()
                    - world.owed(watched.selector, through).len();
                assert!(
                    got.len() >= watched.prelude.len() + before,
                    "a bookmark passed an event"
                );
            }
            Delivery::Event { event, .. } => {
                assert!(
                    event.revision.get() > through,
                    "an event came after its bookmark"
                );
                got.push(line(delivery));
            }
            Delivery::Initial(_) | Delivery::InitialEventsEnd(_) => got.push(line(delivery)),
        }
    }
    let whole = complete == Complete::Yes && watched.ended.is_none();
    assert!(
        owed.starts_with(&got),
        "{}: {got:?} of {owed:?}",
        watched.selector
    );
    assert!(
        !whole || owed.len() == got.len(),
        "{}: {got:?} of {owed:?}",
        watched.selector
    );
    assert!(!matches!(
        watched.ended,
        Some(EndReason::Cancelled | EndReason::Cut)
    ));
}

fn run(config: CacheConfig, steps: &[Step]) {
    let world = World::with(config, &KEYS[..2]);
    let mut run = Run {
        world,
        watched: Vec::new(),
        ready: BTreeSet::new(),
    };
    for step in steps {
        run.step(step);
    }
    while let Some(id) = run.ready.first().copied() {
        run.poll(id, 3);
    }
    for watched in &run.watched {
        check(&run.world, watched, Complete::Yes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_stream_is_the_filtered_suffix(steps in prop::collection::vec(step(), 1..150)) {
        run(CacheConfig { index_field: Some("spec.nodeName"), ..CacheConfig::tiny() }, &steps);
    }

    #[test]
    fn the_same_where_nothing_expires(steps in prop::collection::vec(step(), 1..150)) {
        let config = CacheConfig {
            history_events_min: 1000,
            history_events_max: 1000,
            ..CacheConfig::tiny()
        };
        run(config, &steps);
    }
}
