//! Parts of a snapshot: [`page`] for lists, [`SnapshotCursor`] for streams.

use std::num::NonZeroUsize;
use std::ops::Bound;
use std::sync::Arc;

use masthead_api::{Key, Object, Revision, Selector};

use crate::Snapshot;

/// One page of a list.
#[derive(Clone, Debug)]
pub struct Page {
    /// The matching objects, in key order.
    pub items: Vec<Arc<Object>>,
    /// The last key looked at, where there are more keys after it: the next page is from
    /// `Bound::Excluded` of it.
    pub next_after: Option<Key>,
    /// How many objects there are after `next_after`; `None` on the last page, and where labels,
    /// fields or a name are asked for, since nobody knows how many match.
    pub remaining: Option<usize>,
}

/// At most `limit` objects that `selector` matches, at or after `from`; all of them without a limit.
///
/// A continue token's `start` is a `Bound::Included` as it is, trailing NUL and all. "More" means
/// more keys, not more matches: the last page may be empty.
pub fn page(
    snapshot: &Snapshot,
    selector: &Selector,
    from: Bound<&str>,
    limit: Option<NonZeroUsize>,
) -> Page {
    let mut page = Page {
        items: Vec::new(),
        next_after: None,
        remaining: None,
    };
    let mut objects = snapshot.range(selector, from);
    while let Some(object) = objects.next() {
        if !selector.matches(object) {
            continue;
        }
        page.items.push(Arc::clone(object));
        if limit.is_none_or(|limit| page.items.len() < limit.get()) {
            continue;
        }
        if objects.next().is_some() {
            page.next_after = Some(object.key.clone());
            page.remaining = (!selector.has_requirements() && selector.name.is_none())
                .then(|| snapshot.count(selector, Bound::Excluded(object.key.as_str())));
        }
        break;
    }
    page
}

/// Is there more to come?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// Not everything has been looked at.
    More,
    /// All matching objects have been handed out.
    Done,
}

/// A place in a snapshot that a streaming body can hold: it owns what it needs.
#[derive(Clone, Debug)]
pub struct SnapshotCursor {
    snapshot: Snapshot,
    selector: Arc<Selector>,
    from: Bound<Key>,
    advanced: Advanced,
}

impl SnapshotCursor {
    /// Before the first object of `snapshot` that `selector` matches.
    pub const fn new(snapshot: Snapshot, selector: Arc<Selector>) -> Self {
        Self {
            snapshot,
            selector,
            from: Bound::Unbounded,
            advanced: Advanced::More,
        }
    }

    /// The revision whose state is walked.
    pub const fn revision(&self) -> Revision {
        self.snapshot.revision()
    }

    /// How many objects are ahead, matching or not, within the scope.
    pub fn remaining(&self) -> usize {
        match self.advanced {
            Advanced::More => self.snapshot.count(&self.selector, self.bound()),
            Advanced::Done => 0,
        }
    }

    /// Hands at most `taken_max` matching objects to `take`, looking at no more than
    /// `examined_max`.
    pub fn advance(
        &mut self,
        taken_max: usize,
        examined_max: usize,
        mut take: impl FnMut(&Arc<Object>),
    ) -> Advanced {
        if self.advanced == Advanced::Done {
            return Advanced::Done;
        }
        let (mut taken, mut examined) = (0, 0);
        let mut last = None;
        self.advanced = Advanced::Done;
        for object in self.snapshot.range(&self.selector, self.bound()) {
            if taken >= taken_max || examined >= examined_max {
                self.advanced = Advanced::More;
                break;
            }
            examined += 1;
            last = Some(&object.key);
            if self.selector.matches(object) {
                taken += 1;
                take(object);
            }
        }
        if let Some(last) = last {
            self.from = Bound::Excluded(last.clone());
        }
        self.advanced
    }

    fn bound(&self) -> Bound<&str> {
        self.from.as_ref().map(Key::as_str)
    }
}
