use crate::testing::{LIST, STATE, World, after, rev};
use crate::*;

#[test]
fn a_selector_sees_its_set_and_not_the_objects_fates() {
    let mut world = World::new(CacheConfig::default());
    let live = world.watch("app=x", WatchStart::Now);
    world.put("ns/a", "app=x");
    world.put("ns/a", "app=y");
    world.put("ns/a", "app=x");
    world.put("ns/a", "app=x,more=1");
    world.delete("ns/a");
    world.put("ns/b", "app=y");
    world.put("ns/b", "app=z");
    world.delete("ns/b");
    let want = [
        "ADDED ns/a 11",
        "DELETED ns/a 12",
        "ADDED ns/a 13",
        "MODIFIED ns/a 14",
        "DELETED ns/a 15",
    ];
    assert_eq!(world.lines(live), want);
    // A replay is the same change by change, not a net result.
    let replayed = world.watch("app=x", after(LIST));
    assert_eq!(world.lines(replayed), want);
}

#[test]
fn leaving_the_set_shows_the_old_content_at_the_new_revision() {
    let mut world = World::new(CacheConfig::default());
    world.put("ns/a", "app=x");
    let id = world.watch("app=x", WatchStart::Now);
    world.put("ns/a", "app=y");
    let mut out = Vec::new();
    assert_eq!(world.cache.poll(id, 10, &mut out), Polled::Pending);
    let [Delivery::Event { event, seen }] = out.as_slice() else {
        panic!("{out:?}")
    };
    let object = event.object(*seen).unwrap();
    assert_eq!(
        (object.labels.get("app"), object.revision),
        (Some("x"), rev(12))
    );
}

#[test]
fn a_changing_field_moves_objects_in_and_out() {
    for index_field in [None, Some("spec.nodeName")] {
        let mut world = World::new(CacheConfig {
            index_field,
            ..CacheConfig::default()
        });
        let on = world.watch("node=n1", WatchStart::Now);
        let unscheduled = world.watch("node=", WatchStart::Now);
        world.put_on("ns/a", "");
        world.put_on("ns/a", "n1");
        world.put_on("ns/a", "n2");
        assert_eq!(world.lines(on), ["ADDED ns/a 12", "DELETED ns/a 13"]);
        assert_eq!(
            world.lines(unscheduled),
            ["ADDED ns/a 11", "DELETED ns/a 12"]
        );
    }
}

#[test]
fn each_watcher_sees_only_its_own() {
    let mut world = World::new(CacheConfig::default());
    let texts = ["app=a", "app=b", "app=a|b", "app!=a", "ns=ns name=b"];
    let ids = texts.map(|text| world.watch(text, WatchStart::Now));
    for labels in ["app=a", "app=a,n=2"] {
        world.put("ns/a", labels);
    }
    world.put("ns/b", "app=b");
    world.put("ns/none", "");
    world.delete("ns/a");
    world.delete("ns/b");
    for (text, id) in texts.into_iter().zip(ids) {
        assert_eq!(world.lines(id), world.owed(text, LIST), "{text}");
    }
}

#[test]
fn uninterested_watchers_are_not_visited() {
    let mut world = World::new(CacheConfig::default());
    for n in 0..10_000 {
        world.watch(&format!("ns=ns name=o{n}"), WatchStart::Now);
    }
    world.put("ns/o7", "");
    let stats = world.cache.stats();
    assert_eq!((stats.visited, stats.offered, stats.dispatched), (1, 1, 1));
    assert_eq!(world.woken.len(), 1);
}

#[test]
fn a_hundred_watchers_of_different_starts_share_one_suffix() {
    let mut world = World::new(CacheConfig::default());
    let mut ids = Vec::new();
    for n in 0..100 {
        world.put(&format!("ns/{}", n % 9), "");
        ids.push((world.head(), world.watch("", after(world.head() - n % 3))));
    }
    let last = world.head();
    for n in 0..10 {
        world.put(&format!("ns/{n}"), "");
    }
    let owed = world.owed("", last);
    assert_eq!(owed.len(), 10);
    for (started, id) in ids {
        let lines = world.lines(id);
        assert!(lines.ends_with(&owed), "started at {started}");
    }
}

#[test]
fn the_events_of_one_revision_come_in_one_batch() {
    let many: Vec<_> = ["ns/a", "ns/b", "ns/c", "ns/d", "ns/e"]
        .map(|k| (k, Some(("", ""))))
        .into();
    for start in [WatchStart::Now, after(LIST)] {
        let mut world = World::new(CacheConfig::tiny());
        let early = world.watch("", start);
        world.put("ns/z", "");
        world.commit(&many);
        world.commit(&many[..2]);
        let late = world.watch("", after(world.head() - 2));
        for (id, want) in [(early, vec![1, 5, 2]), (late, vec![5, 2])] {
            let mut batches = Vec::new();
            loop {
                let mut out = Vec::new();
                let polled = world.cache.poll(id, 1, &mut out);
                batches.extend((!out.is_empty()).then_some(out.len()));
                if polled != Polled::More {
                    break;
                }
            }
            assert_eq!(batches, want, "{start:?}");
        }
    }
}

#[test]
fn a_slow_watcher_falls_back_to_the_history_and_loses_nothing() {
    let config = CacheConfig {
        history_events_max: 1000,
        ..CacheConfig::tiny()
    };
    let mut world = World::new(config);
    let slow = world.watch("", WatchStart::Now);
    for n in 0..50 {
        world.put(&format!("ns/{}", n % 3), "");
    }
    assert_eq!(world.woken, [slow]);
    let view = world.cache.watchers().next().unwrap();
    assert_eq!((view.phase, view.queued), (WatcherPhase::Replaying, 2));
    let mut out = Vec::new();
    assert_eq!(world.cache.poll(slow, 4, &mut out), Polled::More);
    world.put("ns/later", "");
    let mut lines = crate::testing::lines(&out);
    lines.extend(world.lines(slow));
    assert_eq!(lines, world.owed("", LIST));
    let view = world.cache.watchers().next().unwrap();
    assert_eq!(
        (view.phase, view.delivered, view.delivered_through),
        (WatcherPhase::Live, 51, Some(rev(world.head())))
    );
    world.put("ns/live", "");
    assert_eq!(world.lines(slow), ["ADDED ns/live 62"]);
}

#[test]
fn a_slow_watcher_overrun_by_the_history_ends_cleanly_after_a_prefix() {
    let mut world = World::new(CacheConfig::tiny());
    let slow = world.watch("", WatchStart::Now);
    for _ in 0..20 {
        world.put("ns/a", "");
    }
    let (lines, polled) = world.read(slow);
    assert_eq!(lines, world.owed("", LIST)[..2]);
    assert_eq!(polled, Polled::Ended(EndReason::Overrun));
    assert_eq!(world.cache.stats().terminated, 1);
    // Its last revision is too old by now.
    let again = world.watch_for("", after(12), Bookmarks::Off, None);
    assert_eq!(
        again,
        Err(WatchError::Expired {
            wanted: rev(12),
            oldest_accepted: rev(22)
        })
    );
    // It costs nobody anything any more.
    let offered = world.cache.stats().offered;
    world.put("ns/a", "");
    assert_eq!(world.cache.stats().offered, offered);
}

#[test]
fn an_overrun_during_the_initial_state_still_tells_its_end() {
    let mut world = World::with(CacheConfig::tiny(), &["ns/a", "ns/b"]);
    let id = world.watch("", STATE);
    for _ in 0..20 {
        world.put("ns/a", "");
    }
    let want = vec![
        "INITIAL ns/a 5".to_owned(),
        "INITIAL ns/b 5".to_owned(),
        "END 10".to_owned(),
    ];
    assert_eq!(world.read(id), (want, Polled::Ended(EndReason::Overrun)));
}

#[test]
fn one_slow_reader_of_two_delays_nobody() {
    let mut world = World::new(CacheConfig::tiny());
    let slow = world.watch("", WatchStart::Now);
    let quick = world.watch("", WatchStart::Now);
    let mut lines = Vec::new();
    for _ in 0..1000 {
        world.put("ns/a", "");
        lines.extend(world.lines(quick));
    }
    assert_eq!(lines, world.owed("", LIST));
    assert_eq!(world.read(slow).1, Polled::Ended(EndReason::Overrun));
}

#[test]
fn a_feed_that_begins_too_early_does_no_harm() {
    let mut world = World::new(CacheConfig::default());
    let id = world.watch("", WatchStart::Now);
    world.put("ns/a", "");
    world.put("ns/b", "");
    let again = world.log.clone();
    for event in again {
        world
            .cache
            .publish(vec![event], world.now, &mut world.woken);
    }
    assert_eq!(world.lines(id), ["ADDED ns/a 11", "ADDED ns/b 12"]);
    assert_eq!(world.cache.window().events, 2);
}

#[test]
fn a_queue_holds_a_second_of_a_history_that_is_as_busy_as_its_capacity() {
    let queue = |capacity, window_seconds| {
        let config = CacheConfig {
            window: std::time::Duration::from_secs(window_seconds),
            history_events_min: capacity,
            history_events_max: capacity,
            queue_events_min: 10,
            ..CacheConfig::default()
        };
        World::new(config).cache.queue_events_max()
    };
    for (capacity, want) in [
        (100, 10),
        (750, 10),
        (7500, 100),
        (75_000, 1000),
        (150_000, 1000),
    ] {
        assert_eq!(queue(capacity, 75), want, "capacity {capacity}");
    }
    assert_eq!(queue(7500, 150), 50);
}
