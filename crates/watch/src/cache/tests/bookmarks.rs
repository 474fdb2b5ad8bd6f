use std::time::Duration;

use crate::testing::{STATE, World, after, rev};
use crate::*;

fn on(world: &mut World, text: &str, start: WatchStart, timeout: Option<u64>) -> WatcherId {
    world
        .watch_for(text, start, Bookmarks::On, timeout)
        .unwrap()
}

#[test]
fn a_quiet_watch_of_a_busy_resource_gets_one_each_minute() {
    let mut world = World::new(CacheConfig::default());
    let id = on(&mut world, "ns=quiet", WatchStart::Now, None);
    let off = world.watch("ns=quiet", WatchStart::Now);
    let mut got = Vec::new();
    for second in 1..=185 {
        world.put("busy/a", "");
        world.pass(1);
        got.extend(world.lines(id).into_iter().map(|line| (second, line)));
    }
    let want = [
        (60, "BOOKMARK 70"),
        (120, "BOOKMARK 130"),
        (180, "BOOKMARK 190"),
    ];
    assert_eq!(got, want.map(|(second, line)| (second, line.to_owned())));
    assert_eq!(world.read(off), (vec![], Polled::Pending));
}

#[test]
fn a_timeout_brings_a_last_bookmark_then_the_end() {
    for (timeout, want) in [
        (1, vec![]),
        (2, vec![]),
        (3, vec![(1, "BOOKMARK 11")]),
        (90, vec![(60, "BOOKMARK 70"), (88, "BOOKMARK 98")]),
    ] {
        let mut world = World::new(CacheConfig::default());
        let id = on(&mut world, "", WatchStart::Now, Some(timeout));
        let mut got = Vec::new();
        for second in 1..=timeout {
            world.elsewhere(1);
            world.pass(1);
            let (lines, polled) = world.read(id);
            got.extend(lines.into_iter().map(|line| (second, line)));
            let ended = polled == Polled::Ended(EndReason::Timeout);
            assert_eq!(ended, second == timeout, "second {second} of {timeout}");
        }
        let want: Vec<_> = want
            .into_iter()
            .map(|(at, line)| (at, line.to_owned()))
            .collect();
        assert_eq!(got, want, "timeout {timeout}");
    }
}

#[test]
fn a_timeout_of_nothing_ends_at_once() {
    let mut world = World::with(CacheConfig::default(), &["ns/a"]);
    let id = on(&mut world, "", STATE, Some(0));
    assert_eq!(world.read(id), (vec![], Polled::Ended(EndReason::Timeout)));
    assert_eq!(world.cache.next_deadline(), None);
}

#[test]
fn none_comes_before_the_revision_has_moved() {
    let mut world = World::new(CacheConfig::default());
    world.put("ns/a", "");
    let plain = on(&mut world, "", after(11), None);
    let replayed = on(&mut world, "", after(10), None);
    let listed = on(&mut world, "", STATE, None);
    let future = on(&mut world, "", after(13), None);
    let all = [plain, replayed, listed, future];
    for id in all {
        world.lines(id);
    }
    world.pass(61);
    assert_eq!(
        all.map(|id| world.lines(id)),
        [const { Vec::<String>::new() }; 4]
    );
    // Another resource's write moves it, without an event.
    world.elsewhere(1);
    world.pass(60);
    let told = vec!["BOOKMARK 12".to_owned()];
    assert_eq!(
        all.map(|id| world.lines(id)),
        [told.clone(), told.clone(), told, vec![]]
    );
}

#[test]
fn one_waits_behind_queued_events() {
    let mut world = World::new(CacheConfig::default());
    let id = on(&mut world, "", WatchStart::Now, None);
    world.put("ns/a", "");
    world.elsewhere(2);
    world.pass(60);
    world.put("ns/b", "");
    assert_eq!(world.woken, [id]);
    assert_eq!(
        world.lines(id),
        ["ADDED ns/a 11", "BOOKMARK 13", "ADDED ns/b 14"]
    );
}

#[test]
fn one_for_a_watcher_that_is_behind_is_put_off_not_lost() {
    let mut world = World::new(CacheConfig {
        history_events_max: 100,
        ..CacheConfig::tiny()
    });
    let full = on(&mut world, "", WatchStart::Now, None);
    let replaying = on(&mut world, "", after(10), None);
    let initial = on(&mut world, "", STATE, None);
    world.put("ns/a", "");
    world.put("ns/a", "");
    world.pass(60);
    assert_eq!(world.lines(full), ["ADDED ns/a 11", "MODIFIED ns/a 12"]);
    assert_eq!(
        world.lines(initial),
        ["END 10", "ADDED ns/a 11", "MODIFIED ns/a 12"]
    );
    world.pass(1);
    for id in [full, initial] {
        assert_eq!(world.lines(id), ["BOOKMARK 12"]);
    }
    assert_eq!(world.lines(replaying).len(), 2);
}

#[test]
fn a_bookmark_outlives_the_start() {
    let mut world = World::new(CacheConfig::default());
    let id = on(&mut world, "ns=quiet", WatchStart::Now, None);
    for _ in 0..300 {
        world.put("busy/a", "");
        world.pass(1);
    }
    let lines = world.lines(id);
    let bookmark: u64 = lines
        .last()
        .unwrap()
        .strip_prefix("BOOKMARK ")
        .unwrap()
        .parse()
        .unwrap();
    assert!(world.watch_for("", after(10), Bookmarks::On, None).is_err());
    assert!(
        world
            .watch_for("", after(bookmark), Bookmarks::On, None)
            .is_ok()
    );
}

#[test]
fn a_shutdown_ends_all_with_a_last_bookmark_for_those_who_want_it() {
    let mut world = World::new(CacheConfig::default());
    let with = on(&mut world, "", WatchStart::Now, None);
    let without = world.watch("", WatchStart::Now);
    let ended = on(&mut world, "", WatchStart::Now, Some(0));
    world.put("ns/a", "");
    world.elsewhere(3);
    let mut woken = Vec::new();
    world
        .cache
        .end_all(EndReason::Shutdown, rev(14), &mut woken);
    assert_eq!(woken, [with, without]);
    let end = Polled::Ended(EndReason::Shutdown);
    let event = "ADDED ns/a 11".to_owned();
    assert_eq!(
        world.read(with),
        (vec![event.clone(), "BOOKMARK 14".to_owned()], end)
    );
    assert_eq!(world.read(without), (vec![event], end));
    assert_eq!(world.read(ended).1, Polled::Ended(EndReason::Timeout));
    assert_eq!(world.cache.next_deadline(), None);
    world.put("ns/b", "");
    assert_eq!(world.read(with), (vec![], end));
}

#[test]
fn a_late_shell_gets_one_bookmark_not_all_that_were_due() {
    let mut world = World::new(CacheConfig::default());
    let id = on(&mut world, "", WatchStart::Now, None);
    world.elsewhere(1);
    let late = Mono::new(Duration::from_secs(1000));
    world
        .cache
        .handle_time(late, rev(world.head()), &mut world.woken);
    assert_eq!(world.lines(id), ["BOOKMARK 11"]);
    assert_eq!(
        world.cache.next_deadline(),
        Some(Mono::new(Duration::from_secs(1060)))
    );
}
