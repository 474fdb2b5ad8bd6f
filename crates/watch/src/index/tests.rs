use std::sync::Arc;

use super::*;
use crate::testing::{object, rev, selector};

const SELECTORS: [&str; 16] = [
    "",
    "ns=a",
    "ns=b",
    "name=1",
    "ns=a name=1",
    "ns=b name=1",
    "node=n1",
    "node=n2",
    "node=",
    "ns=a node=n1",
    "app=x",
    "app=y",
    "tier=z",
    "ns=b app=x",
    "app=x|y",
    "app!=x",
];

fn index() -> DispatchIndex {
    let mut index = DispatchIndex::new(Some("spec.nodeName"));
    for (slot, text) in (0..).zip(SELECTORS) {
        index.add(&selector(text), slot);
    }
    index
}

fn event(key: &str, old: Option<(&str, &str)>, new: Option<(&str, &str)>) -> Event {
    let make = |revision, of: Option<(&str, &str)>| {
        of.map(|(labels, node)| object(key, revision, labels, node))
    };
    Event::new(rev(8), Key::from_text(key), make(7, old), make(8, new))
}

/// The slots that an event is offered to, and how many buckets it visits.
fn visited(index: &DispatchIndex, event: &Event) -> (Vec<u32>, u64) {
    let mut slots = Vec::new();
    let buckets = index.visit(event, |bucket| slots.extend_from_slice(bucket));
    (slots, buckets)
}

#[test]
fn whoever_matches_is_visited_once_and_few_others() {
    let index = index();
    let versions = [
        None,
        Some(("", "")),
        Some(("app=x", "n1")),
        Some(("app=y,tier=z", "n1")),
        Some(("app=x,tier=z", "n2")),
    ];
    for key in ["a/1", "a/2", "b/1", "c/9"] {
        for old in versions {
            for new in versions {
                let event = event(key, old, new);
                let (mut slots, _) = visited(&index, &event);
                let count = slots.len();
                slots.sort_unstable();
                slots.dedup();
                assert_eq!(slots.len(), count, "offered twice: {key} {old:?} {new:?}");
                for (slot, text) in (0..).zip(SELECTORS) {
                    let selector = selector(text);
                    let matches = |object: &Option<Arc<Object>>| {
                        object
                            .as_ref()
                            .is_some_and(|object| selector.matches(object))
                    };
                    let wants = matches(&event.old) || matches(&event.new);
                    assert!(
                        !wants || slots.contains(&slot),
                        "{text}: {key} {old:?} {new:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn ten_thousand_others_are_not_visited() {
    let mut index = DispatchIndex::new(Some("spec.nodeName"));
    for n in 0..10_000u32 {
        let text = match n % 5 {
            0 => format!("ns=a name=o{n}"),
            1 => format!("name=o{n}"),
            2 => format!("node=n{n}"),
            3 => format!("app=x{n}"),
            _ => format!("ns=ns{n}"),
        };
        index.add(&selector(&text), n);
    }
    let event = event("a/o5", Some(("app=x3", "n7")), Some(("app=x3", "n12")));
    let (mut slots, buckets) = visited(&index, &event);
    slots.sort_unstable();
    assert_eq!(slots, [3, 5, 7, 12]);
    assert_eq!(buckets, 4);
}

#[test]
fn unseating_tells_who_moved_and_leaves_nothing_behind() {
    let mut index = DispatchIndex::new(None);
    let all = selector("app=x");
    let positions: Vec<u32> = (0..4).map(|slot| index.add(&all, slot)).collect();
    assert_eq!(positions, [0, 1, 2, 3]);
    assert_eq!(index.remove(&all, 1), Some(3));
    assert_eq!(index.remove(&all, 2), None);
    assert_eq!(
        visited(&index, &event("a/1", None, Some(("app=x", "")))).0,
        [0, 3]
    );
    assert_eq!(index.remove(&all, 0), Some(3));
    assert_eq!(index.remove(&all, 0), None);
    assert_eq!(index.remove(&all, 0), None);
    assert!(index.labels.is_empty());
}
