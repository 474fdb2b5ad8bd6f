use std::ops::Bound;

use crate::testing::{LIST, World, rev};
use crate::*;

fn keys(snapshot: &Snapshot) -> Vec<(String, u64)> {
    snapshot
        .range(&masthead_api::Selector::default(), Bound::Unbounded)
        .map(|object| (object.key.to_string(), object.revision.get()))
        .collect()
}

/// Compares a state of the past with what really was.
pub(super) fn check(world: &mut World, revision: u64) {
    let reached = revision >= world.cache.oldest().get();
    let snapshot = world.cache.snapshot_at(rev(revision));
    assert_eq!(snapshot.is_some(), reached, "{revision}");
    let Some(snapshot) = snapshot else { return };
    let want: Vec<_> = world
        .state(revision)
        .iter()
        .map(|(key, object)| (key.clone(), object.revision.get()))
        .collect();
    assert_eq!(keys(&snapshot), want, "{revision}");
    assert_eq!(snapshot.revision(), rev(revision));
}

#[test]
fn the_state_at_any_kept_revision_is_what_it_was() {
    let mut world = World::with(CacheConfig::default(), &["ns/a", "ns/b"]);
    for n in 0..60 {
        match n % 5 {
            0 => world.put(&format!("ns/{n}"), ""),
            1 => world.put("ns/a", ""),
            2 => world.delete("ns/b"),
            3 => world.commit(&[("ns/b", Some(("", ""))), ("ns/c", Some(("", "")))]),
            _ => {
                world.elsewhere(2);
                world.head()
            }
        };
    }
    let head = world.head();
    for revision in (LIST..=head).chain((LIST..=head).rev()) {
        check(&mut world, revision);
    }
}

#[test]
fn a_state_out_of_reach_is_none_even_if_it_was_kept() {
    let mut world = World::with(CacheConfig::tiny(), &["ns/a"]);
    let kept = world.cache.snapshot(rev(LIST));
    world.cache.keep(&kept);
    world.put("ns/a", "");
    check(&mut world, LIST);
    for _ in 0..20 {
        world.put("ns/a", "");
    }
    assert_eq!(world.cache.oldest(), rev(23));
    for revision in LIST..=world.head() {
        check(&mut world, revision);
    }
}

#[test]
fn a_snapshot_does_not_change_when_the_cache_does() {
    let mut world = World::with(CacheConfig::default(), &["ns/a"]);
    world.elsewhere(4);
    let snapshot = world.cache.snapshot(rev(world.head()));
    world.put("ns/b", "");
    world.delete("ns/a");
    assert_eq!(snapshot.revision(), rev(14));
    assert_eq!(keys(&snapshot), [("ns/a".to_owned(), 5)]);
    assert_eq!(
        world.cache.snapshot(rev(2)).revision(),
        rev(16),
        "never older than its events"
    );
}
