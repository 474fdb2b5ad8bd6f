use std::num::NonZeroUsize;

use super::*;
use crate::testing::{object, rev, selector};
use crate::{Advanced, SnapshotCursor, page};

fn snapshot<'a>(keys: impl IntoIterator<Item = &'a str>) -> Snapshot {
    let objects = keys
        .into_iter()
        .map(|key| object(key, 7, if key.ends_with('1') { "app=x" } else { "" }, ""));
    Snapshot::of(rev(9), objects)
}

fn keys(snapshot: &Snapshot, text: &str, from: Bound<&str>) -> Vec<String> {
    snapshot
        .range(&selector(text), from)
        .map(|object| object.key.to_string())
        .collect()
}

const KEYS: [&str; 7] = ["a-b/1", "a/1", "a/2", "a/3", "a0/1", "ab/1", "b/1"];

#[test]
fn a_namespace_is_its_own_range_of_keys() {
    let snapshot = snapshot(KEYS);
    for (text, from, want) in [
        ("", Bound::Unbounded, &KEYS[..]),
        ("ns=a", Bound::Unbounded, &["a/1", "a/2", "a/3"]),
        ("ns=a-b", Bound::Unbounded, &["a-b/1"]),
        ("ns=none", Bound::Unbounded, &[]),
        ("ns=a", Bound::Excluded("a/1"), &["a/2", "a/3"]),
        ("ns=a", Bound::Included("a/1\0"), &["a/2", "a/3"]),
        ("ns=a", Bound::Included("a/2"), &["a/2", "a/3"]),
        ("ns=a", Bound::Excluded("a/3"), &[]),
        ("ns=a", Bound::Excluded("b/1"), &[]),
        ("ns=b", Bound::Excluded("a/1"), &["b/1"]),
        ("ns=a name=2", Bound::Unbounded, &["a/2"]),
        ("ns=a name=2", Bound::Excluded("a/2"), &[]),
        ("ns=a name=9", Bound::Unbounded, &[]),
        ("", Bound::Excluded("ab/1"), &["b/1"]),
    ] {
        assert_eq!(keys(&snapshot, text, from), want, "{text} {from:?}");
        assert_eq!(
            snapshot.count(&selector(text), from),
            want.len(),
            "{text} {from:?}"
        );
    }
}

#[test]
fn a_name_without_a_namespace_is_a_key_only_in_cluster_scope() {
    let cluster = snapshot(["n1", "n2"]);
    assert_eq!(keys(&cluster, "name=n2", Bound::Unbounded), ["n2"]);
    let namespaced = snapshot(KEYS);
    let found = page(&namespaced, &selector("name=1"), Bound::Unbounded, None);
    assert_eq!(found.items.len(), 5);
}

#[test]
fn counting_agrees_with_walking_in_a_large_state() {
    let names: Vec<String> = (0..3000).map(|n| format!("ns{}/{n:05}", n % 2)).collect();
    let snapshot = snapshot(names.iter().map(String::as_str));
    for text in ["", "ns=ns0", "ns=ns1"] {
        for from in [
            "",
            "ns0",
            "ns0/00000",
            "ns0/00512",
            "ns0/01111",
            "ns1/00001",
            "ns1/02999",
        ] {
            for from in [Bound::Included(from), Bound::Excluded(from)] {
                let walked = keys(&snapshot, text, from).len();
                assert_eq!(
                    snapshot.count(&selector(text), from),
                    walked,
                    "{text} {from:?}"
                );
            }
        }
    }
}

/// All pages of a listing: for each its keys and what remains.
fn pages(snapshot: &Snapshot, text: &str, limit: usize) -> Vec<(Vec<String>, Option<usize>)> {
    let selector = selector(text);
    let mut pages = Vec::new();
    let mut after: Option<Key> = None;
    loop {
        let from = after
            .as_ref()
            .map_or(Bound::Unbounded, |key| Bound::Excluded(key.as_str()));
        let page = page(snapshot, &selector, from, NonZeroUsize::new(limit));
        pages.push((
            page.items.iter().map(|o| o.key.to_string()).collect(),
            page.remaining,
        ));
        after = page.next_after;
        if after.is_none() {
            return pages;
        }
    }
}

#[test]
fn pages_say_what_remains_where_that_is_known() {
    let snapshot = snapshot(KEYS);
    let of = |keys: &[&str], remaining| {
        (
            keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>(),
            remaining,
        )
    };
    assert_eq!(pages(&snapshot, "", 0), [of(&KEYS, None)]);
    assert_eq!(pages(&snapshot, "", 7), [of(&KEYS, None)]);
    assert_eq!(
        pages(&snapshot, "", 3),
        [
            of(&KEYS[..3], Some(4)),
            of(&KEYS[3..6], Some(1)),
            of(&KEYS[6..], None)
        ]
    );
    assert_eq!(
        pages(&snapshot, "ns=a", 2),
        [of(&["a/1", "a/2"], Some(1)), of(&["a/3"], None)]
    );
}

#[test]
fn a_page_with_requirements_is_filled_and_the_last_may_be_empty() {
    let snapshot = snapshot(KEYS);
    let keys = |pages: Vec<(Vec<String>, Option<usize>)>| {
        assert!(pages.iter().all(|(_, remaining)| remaining.is_none()));
        pages
            .into_iter()
            .map(|(keys, _)| keys.join(" "))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys(pages(&snapshot, "app=x", 3)),
        ["a-b/1 a/1 a0/1", "ab/1 b/1"]
    );
    assert_eq!(keys(pages(&snapshot, "ns=a app=x", 1)), ["a/1", ""]);
}

#[test]
fn a_cursor_hands_out_the_same_in_any_batches() {
    let snapshot = snapshot(KEYS);
    for text in ["", "ns=a", "app=x", "ns=none", "ns=a name=2"] {
        let selector = Arc::new(selector(text));
        let want: Vec<String> = snapshot
            .select(&selector, Bound::Unbounded)
            .map(|object| object.key.to_string())
            .collect();
        for (taken_max, examined_max) in [(1, 1), (2, 9), (9, 2), (100, 100)] {
            let mut cursor = SnapshotCursor::new(snapshot.clone(), Arc::clone(&selector));
            let mut taken = Vec::new();
            while cursor.advance(taken_max, examined_max, |o| taken.push(o.key.to_string()))
                == Advanced::More
            {
                assert!(cursor.remaining() > 0);
            }
            assert_eq!((taken, cursor.remaining()), (want.clone(), 0), "{text}");
        }
    }
}
