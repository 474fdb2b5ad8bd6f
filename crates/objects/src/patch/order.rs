//! In which order the items of a merged list stand.
//!
//! Items that the patch names follow the patch's order, the others keep theirs. The two are woven
//! together by the old list: an item that was in front of another one stays in front of it.

use std::collections::BTreeMap;

use serde_json::Value;

/// Position of each item, by its identity.
pub(super) type Positions = BTreeMap<String, usize>;

/// The positions of `ids`; of two of the same the first one counts.
pub(super) fn positions(ids: impl IntoIterator<Item = String>) -> Positions {
    let mut positions = Positions::new();
    for (at, id) in ids.into_iter().enumerate() {
        positions.entry(id).or_insert(at);
    }
    positions
}

/// `merged` in the order that `patch` and the old list `server` ask for.
pub(super) fn weave(
    merged: Vec<(String, Value)>,
    patch: &Positions,
    server: &Positions,
) -> Vec<Value> {
    let (mut named, mut others): (Vec<_>, Vec<_>) = merged
        .into_iter()
        .partition(|(id, _)| patch.contains_key(id));
    named.sort_by_key(|(id, _)| patch.get(id).copied());
    others.sort_by_key(|(id, _)| server.get(id).copied());
    let mut woven = Vec::with_capacity(named.len() + others.len());
    let mut named = named.into_iter().peekable();
    let mut others = others.into_iter().peekable();
    while let (Some((left, _)), Some((right, _))) = (others.peek(), named.peek()) {
        let stays_in_front =
            matches!((server.get(left), server.get(right)), (Some(l), Some(r)) if l < r);
        let next = if stays_in_front {
            others.next()
        } else {
            named.next()
        };
        woven.extend(next.map(|(_, item)| item));
    }
    woven.extend(others.chain(named).map(|(_, item)| item));
    woven
}
