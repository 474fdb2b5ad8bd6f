use crate::testing::{LIST, STATE, World, after, rev};
use crate::*;

fn quick() -> CacheConfig {
    CacheConfig {
        queue_events_min: 1000,
        ..CacheConfig::default()
    }
}

fn expired(wanted: u64, oldest: u64) -> WatchError {
    WatchError::Expired {
        wanted: rev(wanted),
        oldest_accepted: rev(oldest),
    }
}

#[test]
fn a_fresh_cache_starts_at_its_list_revision_and_not_before() {
    let mut world = World::new(quick());
    let mut start = |at| world.watch_for("", after(at), Bookmarks::Off, None).err();
    assert_eq!(start(LIST - 1), Some(expired(LIST - 1, LIST)));
    assert_eq!(start(LIST), None);
    assert_eq!(start(LIST + 1), None);
    assert_eq!(
        expired(9, 10).to_string(),
        "too old resource version: 9 (10)",
        "clients read this text"
    );
}

#[test]
fn an_old_start_is_refused_with_the_oldest_accepted() {
    let mut world = World::new(CacheConfig {
        history_events_min: 100,
        ..quick()
    });
    for n in 0..150 {
        world.put(&format!("ns/{n}"), "");
        world.pass(1);
    }
    // Events 61..=160 are kept.
    assert!(world.watch_for("", after(60), Bookmarks::Off, None).is_ok());
    assert_eq!(
        world.watch_for("", after(59), Bookmarks::Off, None),
        Err(expired(59, 60))
    );
    // The state can always be had.
    let id = world.watch("ns=none", STATE);
    assert_eq!(world.lines(id), ["END 160"]);
}

#[test]
fn a_burst_can_be_replayed_from_before_it() {
    let mut world = World::new(quick());
    for n in 0..1200 {
        world.put(&format!("ns/{}", n % 7), "");
    }
    let id = world.watch("", after(LIST));
    assert_eq!(world.lines(id), world.owed("", LIST));
}

#[test]
fn a_stream_from_any_revision_is_the_suffix_of_the_history() {
    let mut world = World::new(quick());
    for n in 0..40u64 {
        let key = format!("ns{}/{}", n % 2, n % 5);
        match n % 6 {
            5 => world.delete(&key),
            4 => {
                world.elsewhere(3);
                world.head()
            }
            _ => world.put(&key, ["app=x", "app=y"][(n / 3 % 2) as usize]),
        };
    }
    let watches: Vec<_> = (LIST..=world.head())
        .flat_map(|at| ["", "ns=ns0", "app=x", "ns=ns1 name=1"].map(|text| (at, text)))
        .map(|(at, text)| (at, text, world.watch(text, after(at))))
        .collect();
    for n in 0..10 {
        world.put(&format!("ns{}/1", n % 2), ["app=x", "app=y"][n % 2]);
    }
    for (at, text, id) in watches {
        assert_eq!(world.lines(id), world.owed(text, at), "{text} after {at}");
    }
}

#[test]
fn a_future_start_is_silent_until_its_revision_is_passed() {
    let mut world = World::new(quick());
    let id = world.watch("", after(LIST + 2));
    world.put("ns/a", "");
    world.put("ns/b", "");
    assert_eq!(world.read(id), (vec![], Polled::Pending));
    assert_eq!(world.woken, []);
    world.put("ns/c", "");
    assert_eq!(world.woken, [id]);
    assert_eq!(world.lines(id), ["ADDED ns/c 13"]);
}

#[test]
fn now_shows_nothing_of_the_past() {
    let mut world = World::with(quick(), &["ns/a"]);
    world.elsewhere(5);
    let id = world.watch("", WatchStart::Now);
    assert_eq!(world.read(id), (vec![], Polled::Pending));
    world.put("ns/a", "");
    assert_eq!(world.lines(id), ["MODIFIED ns/a 16"]);
}

#[test]
fn the_state_comes_in_key_order_then_its_end_then_what_happened_meanwhile() {
    let mut world = World::with(quick(), &["ns/b", "ns/a", "other/c"]);
    world.elsewhere(2);
    let id = world.watch("ns=ns", STATE);
    let silent = world.watch(
        "ns=ns",
        WatchStart::State {
            end: InitialEnd::Silent,
        },
    );
    world.put("ns/a", "");
    world.delete("ns/b");
    let initial = ["INITIAL ns/a 5", "INITIAL ns/b 5"];
    let later = ["MODIFIED ns/a 13", "DELETED ns/b 14"];
    assert_eq!(
        world.lines(id),
        [&initial[..], &["END 12"], &later].concat()
    );
    assert_eq!(world.lines(silent), [initial, later].concat());
}

#[test]
fn writes_of_others_raise_the_end_of_initial_events() {
    let mut world = World::new(quick());
    world.put("ns2/a", "");
    world.put("ns2/b", "");
    let id = world.watch("ns=ns1", STATE);
    assert_eq!(world.lines(id), ["END 12"]);
}

#[test]
fn a_name_is_never_given_twice() {
    let mut world = World::new(quick());
    let first = world.watch("", WatchStart::Now);
    world.cancel(first);
    let second = world.watch("", WatchStart::Now);
    assert_ne!(first, second);
    world.put("ns/a", "");
    assert_eq!(
        world.read(first),
        (vec![], Polled::Ended(EndReason::Cancelled))
    );
    world.cancel(first);
    assert_eq!(world.lines(second), ["ADDED ns/a 11"]);
    assert_eq!(world.cache.watchers().count(), 1);
}

#[test]
fn nothing_is_left_of_ten_thousand_watchers() {
    let mut world = World::new(quick());
    for round in 0..10 {
        let ids: Vec<_> = (0..1000)
            .map(|n| {
                let text = ["", "ns=a", "app=x", "ns=a name=1"][n % 4];
                world
                    .watch_for(text, STATE, Bookmarks::On, Some(30))
                    .unwrap()
            })
            .collect();
        assert_eq!(world.cache.watchers().count(), 1000, "round {round}");
        for id in ids.into_iter().rev() {
            world.cancel(id);
        }
    }
    assert_eq!(
        (world.cache.watchers().count(), world.cache.next_deadline()),
        (0, None)
    );
    let visited = world.cache.stats().visited;
    world.put("a/1", "app=x");
    assert_eq!(world.cache.stats().visited, visited);
}

impl World {
    fn cancel(&mut self, id: WatcherId) {
        self.cache.cancel(id);
    }
}
