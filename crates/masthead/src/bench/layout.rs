//! [`Layout`]: which write changes which object, who sends it, and which watchers see it.
//!
//! Objects are spread evenly over the watchers, and each is changed by one writer only, so that its
//! changes come in the order of their numbers. With 8 watchers, 4 objects and 2 writers:
//!
//! ```text
//! write     0  1  2  3  4  5  …
//! writer    0  1  0  1  0  1
//! object    0  1  2  3  0  1
//! watcher   0  2  4  6  0  2      (with `--match all`: every one)
//! ```

use super::args::Match;
use super::objects::{Kind, name, node};

/// More objects than this are not made for a run.
const OBJECTS_MAX: u64 = 100_000;

/// Who writes and who sees what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) selection: Match,
    pub(super) watchers: u64,
    pub(super) writes: u64,
    pub(super) writers: u64,
    pub(super) objects: u64,
    stride: u64,
}

/// What a watcher has seen, or is to see: how many writes, and a sum over their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) count: u64,
    pub(super) digest: u64,
}

impl Seen {
    /// One more write.
    pub(super) fn add(&mut self, number: u64) {
        self.count += 1;
        self.digest = self.digest.wrapping_add(mixed(number));
    }

    /// What was seen besides.
    pub(super) fn join(&mut self, other: Self) {
        self.count += other.count;
        self.digest = self.digest.wrapping_add(other.digest);
    }
}

/// A number whose bits depend on all bits of `number`, so that sums of different sets differ.
const fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl Layout {
    /// For so many of each; all are 1 at least.
    pub(super) fn new(selection: Match, watchers: u64, writes: u64, writers: u64) -> Self {
        let candidates = match selection {
            Match::All => writers,
            Match::Label | Match::Name | Match::Node => watchers,
        };
        let most = candidates.min(writes).clamp(1, OBJECTS_MAX);
        let writers = writers.clamp(1, most);
        // A whole number of objects for each writer.
        let objects = most / writers * writers;
        let stride = match selection {
            Match::All => 1,
            Match::Label | Match::Name | Match::Node => watchers / objects,
        };
        Self {
            selection,
            watchers,
            writes,
            writers,
            objects,
            stride,
        }
    }

    /// The kind of object that can be selected so.
    pub(super) const fn kind(&self) -> Kind {
        match self.selection {
            Match::All | Match::Label | Match::Name => Kind::ConfigMap,
            Match::Node => Kind::Pod,
        }
    }

    /// The number in the name of the object at this place.
    pub(super) const fn subject(&self, place: u64) -> u64 {
        place * self.stride
    }

    /// The number in the name of the object that a write changes.
    pub(super) const fn subject_of(&self, write: u64) -> u64 {
        self.subject(write % self.objects)
    }

    /// What each watcher is to see.
    pub(super) fn expected(&self) -> Vec<Seen> {
        let mut seen = vec![Seen::default(); self.watchers as usize];
        if self.selection == Match::All {
            let mut all = Seen::default();
            (0..self.writes).for_each(|write| all.add(write));
            seen.fill(all);
            return seen;
        }
        for write in 0..self.writes {
            if let Some(watcher) = seen.get_mut(self.subject_of(write) as usize) {
                watcher.add(write);
            }
        }
        seen
    }

    /// The selector of a watcher as a part of its query.
    pub(super) fn selector(&self, watcher: u64) -> String {
        match self.selection {
            Match::All => String::new(),
            Match::Label => format!(
                "&labelSelector={}%3D{}",
                super::wire::SUBJECT,
                name(watcher)
            ),
            Match::Name => format!("&fieldSelector=metadata.name%3D{}", name(watcher)),
            Match::Node => format!("&fieldSelector=spec.nodeName%3D{}", node(watcher)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn an_object_has_one_writer_and_one_watcher_whatever_the_numbers() {
        for watchers in 1..12 {
            for writes in 1..12 {
                for writers in 1..6 {
                    let layout = Layout::new(Match::Name, watchers, writes, writers);
                    let case = format!("{layout:?}");
                    let mut owners = HashMap::new();
                    for write in 0..writes {
                        let writer = write % layout.writers;
                        let owner = *owners.entry(layout.subject_of(write)).or_insert(writer);
                        assert_eq!(owner, writer, "{case}");
                        assert!(layout.subject_of(write) < watchers, "{case}");
                    }
                    let total: u64 = layout.expected().iter().map(|seen| seen.count).sum();
                    assert_eq!(total, writes, "{case}");
                }
            }
        }
    }

    #[test]
    fn every_watcher_of_all_sees_every_write() {
        let layout = Layout::new(Match::All, 3, 10, 4);
        let expected = layout.expected();
        assert_eq!(layout.objects, 4);
        assert!(expected.iter().all(|seen| seen.count == 10));
        assert_eq!(layout.selector(2), "");
    }

    #[test]
    fn what_was_seen_twice_or_in_place_of_another_shows() {
        let seen = |numbers: &[u64]| {
            let mut seen = Seen::default();
            for number in numbers {
                seen.add(*number);
            }
            seen
        };
        assert_eq!(seen(&[0, 1, 2]), seen(&[2, 0, 1]));
        assert_ne!(seen(&[0, 1, 2]), seen(&[0, 1, 1]));
        assert_ne!(seen(&[0, 3]), seen(&[1, 2]));
        assert_ne!(seen(&[1]), seen(&[1, 1]));
    }

    #[test]
    fn selectors_are_those_of_the_objects() {
        let check = |selection, wanted: &str| {
            assert_eq!(Layout::new(selection, 9, 9, 1).selector(7), wanted);
        };
        check(
            Match::Label,
            "&labelSelector=masthead-bench.subject%3Dobject-0000007",
        );
        check(Match::Name, "&fieldSelector=metadata.name%3Dobject-0000007");
        check(
            Match::Node,
            "&fieldSelector=spec.nodeName%3Dmasthead-bench-0000007",
        );
    }
}
