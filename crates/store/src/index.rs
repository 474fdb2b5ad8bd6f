//! The key index: which versions of each key exist, and where in the log they stand. In memory.
//!
//! One [`KeyHistory`] per key: the versions in the order of their revisions. A *generation* runs from
//! a creation to the next deletion. Here is one key's life, a version drawn as
//! `revision:version`, a deletion as `revision:x`:
//!
//! ```text
//! put at 2, put at 4      [2:1 4:2]
//! delete at 6             [2:1 4:2 6:x]
//! put at 9                [2:1 4:2 6:x | 9:1]          a new generation, create revision 9
//!
//! read at 1               nothing, the key is younger
//! read at 4 and at 5      4:2
//! read at 6 to 8          nothing, deleted
//!
//! compact through 3       [2:1 4:2 6:x | 9:1]          2:1 is the newest at 3, it stays
//! compact through 5       [4:2 6:x | 9:1]              create revision 2 and version 2 stay true
//! compact through 6       [6:x | 9:1]                  a deletion exactly at the boundary stays,
//!                                                      so that a follower from 6 on still sees it
//! compact through 7       [9:1]
//! ```
//!
//! Invariants:
//! - **I1** The versions of a key rise strictly in position.
//! - **I2** No key has an empty history.
//! - **I3** Versions behind the newest durable revision may be in the index while a batch is under way;
//!   no reader sees them, because readers read at a durable revision.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use masthead_api::Revision;

use crate::{KeyRange, Position};

/// One version of one key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) at: Position,
    pub(crate) create_revision: Revision,
    /// 0 for a deletion.
    pub(crate) version: u64,
}

/// All versions of one key that are still kept.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct KeyHistory {
    entries: Vec<Entry>,
}

impl KeyHistory {
    /// The version that a read at `revision` sees.
    pub(crate) fn live_at(&self, revision: Revision) -> Option<Entry> {
        // Most reads want the newest version, so look from the end.
        let seen = self
            .entries
            .iter()
            .rev()
            .find(|entry| entry.at.revision <= revision)?;
        (seen.version > 0).then_some(*seen)
    }

    fn push(&mut self, entry: Entry) {
        if self.entries.is_empty() {
            // Most keys of a quiet store have one version: do not reserve more.
            self.entries.reserve_exact(1);
        }
        self.entries.push(entry);
    }

    fn undo_after(&mut self, revision: Revision) {
        let kept = self
            .entries
            .partition_point(|entry| entry.at.revision <= revision);
        self.entries.truncate(kept);
    }

    /// Drops what a compaction through `through` drops, and tells the positions.
    fn compact(&mut self, through: Revision, removed: &mut Vec<Position>) {
        let old = self
            .entries
            .partition_point(|entry| entry.at.revision <= through);
        let Some(newest) = old.checked_sub(1).and_then(|index| self.entries.get(index)) else {
            return;
        };
        let stays = newest.version > 0 || newest.at.revision == through;
        let dropped = if stays { old - 1 } else { old };
        if dropped > 0 {
            removed.extend(self.entries.drain(..dropped).map(|entry| entry.at));
            self.entries.shrink_to(self.entries.len() * 2);
        }
    }
}

/// Where a stepwise walk over the index goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Cursor {
    Start,
    After(Box<[u8]>),
    End,
}

/// The histories of all keys, in the order of the keys.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Index {
    keys: BTreeMap<Box<[u8]>, KeyHistory>,
}

impl Index {
    /// The version of a key that a read at `revision` sees.
    pub(crate) fn live_at(&self, key: &[u8], revision: Revision) -> Option<Entry> {
        self.keys.get(key)?.live_at(revision)
    }

    /// Adds a version of a key; returns what was written.
    pub(crate) fn put(&mut self, key: &[u8], at: Position) -> Entry {
        let before = self.live_at(key, at.revision);
        let (create_revision, version) = before.map_or((at.revision, 1), |entry| {
            (entry.create_revision, entry.version + 1)
        });
        let entry = Entry {
            at,
            create_revision,
            version,
        };
        self.push(key, entry);
        entry
    }

    /// Adds a version as it stands in the log.
    pub(crate) fn push(&mut self, key: &[u8], entry: Entry) {
        if let Some(history) = self.keys.get_mut(key) {
            history.push(entry);
        } else {
            let mut history = KeyHistory::default();
            history.push(entry);
            self.keys.insert(key.into(), history);
        }
    }

    /// Forgets every version of a key behind `revision`.
    pub(crate) fn undo_after(&mut self, key: &[u8], revision: Revision) {
        if let Some(history) = self.keys.get_mut(key) {
            history.undo_after(revision);
            if history.entries.is_empty() {
                self.keys.remove(key);
            }
        }
    }

    /// Visits at most `keys_max` keys of a range, from a cursor on, until the visitor has enough;
    /// returns the cursor for the rest.
    pub(crate) fn walk(
        &self,
        range: &KeyRange,
        cursor: &Cursor,
        keys_max: usize,
        mut visit: impl FnMut(&[u8], &KeyHistory) -> ControlFlow<()>,
    ) -> Cursor {
        let Some((start, end)) = range.ends() else {
            return Cursor::End;
        };
        let start = match cursor {
            Cursor::Start => start,
            Cursor::After(key) => Bound::Excluded(key.as_ref()),
            Cursor::End => return Cursor::End,
        };
        if let (Bound::Excluded(after), Bound::Included(last) | Bound::Excluded(last)) =
            (start, end)
            && after >= last
        {
            return Cursor::End;
        }
        let mut visited = 0;
        for (key, history) in self.keys.range::<[u8], _>((start, end)) {
            if visit(key, history).is_break() {
                return Cursor::End;
            }
            visited += 1;
            if visited >= keys_max {
                return Cursor::After(key.clone());
            }
        }
        Cursor::End
    }

    /// Compacts at most `keys_max` keys from a cursor on; returns the cursor for the rest.
    pub(crate) fn compact_step(
        &mut self,
        through: Revision,
        cursor: &Cursor,
        keys_max: usize,
        removed: &mut Vec<Position>,
    ) -> Cursor {
        let start = match cursor {
            Cursor::Start => Bound::Unbounded,
            Cursor::After(key) => Bound::Excluded(key.as_ref()),
            Cursor::End => return Cursor::End,
        };
        let mut next = Cursor::End;
        let mut gone: Vec<Box<[u8]>> = Vec::new();
        for (visited, (key, history)) in self
            .keys
            .range_mut::<[u8], _>((start, Bound::Unbounded))
            .enumerate()
        {
            history.compact(through, removed);
            if history.entries.is_empty() {
                gone.push(key.clone());
            }
            if visited + 1 >= keys_max {
                next = Cursor::After(key.clone());
                break;
            }
        }
        for key in gone {
            self.keys.remove(&key);
        }
        next
    }

    /// How many keys have a history, deleted ones that are not compacted away included.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }
}

#[cfg(test)]
mod tests;
