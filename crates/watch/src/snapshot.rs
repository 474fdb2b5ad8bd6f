//! [`Snapshot`]: the state of a resource at one revision, never to change.
//!
//! A snapshot shares its tree with the cache and with all other snapshots; taking one costs a
//! reference count, and holding one costs only what has been written since. It needs no lock.

use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use imbl::OrdMap;
use masthead_api::{Key, Object, Revision, Selector};

/// A mark in the tree for each so many keys.
const KEYS_PER_MARK: usize = 256;
/// Up to so many keys are counted one by one.
const COUNTED_MAX: usize = 512;

/// The objects of a resource by key: the order of bytes, which is the order of every list.
pub(crate) type Objects = OrdMap<Key, Arc<Object>>;

/// All objects of a resource as they were at one revision. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Snapshot {
    revision: Revision,
    objects: Objects,
    /// Each 256th key: made when somebody asks how many items remain, shared by all clones, so
    /// that the pages of one listing pay for it once.
    marks: Arc<OnceLock<Box<[Key]>>>,
}

impl Snapshot {
    /// The state that consists of `objects` at `revision`, e.g. one read from the store.
    pub fn of(revision: Revision, objects: impl IntoIterator<Item = Arc<Object>>) -> Self {
        let keyed = objects
            .into_iter()
            .map(|object| (object.key.clone(), object));
        Self::new(revision, keyed.collect())
    }

    pub(crate) fn new(revision: Revision, objects: Objects) -> Self {
        Self {
            revision,
            objects,
            marks: Arc::default(),
        }
    }

    /// The same state under another revision, between which and this one nothing changed.
    pub(crate) fn relabelled(&self, revision: Revision) -> Self {
        Self {
            revision,
            ..self.clone()
        }
    }

    pub(crate) const fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The revision whose state this is.
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Is there no object?
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The object at `key` (`namespace/name` or `name`).
    pub fn get(&self, key: &str) -> Option<&Arc<Object>> {
        self.objects.get(key)
    }

    /// The objects in the scope of `selector` (its namespace and name; labels and fields are not
    /// looked at) whose keys are at or after `from`, in key order. Cost: a seek, then what is taken.
    pub fn range<'a>(
        &'a self,
        selector: &Selector,
        from: Bound<&str>,
    ) -> impl Iterator<Item = &'a Arc<Object>> + use<'a> {
        let span = Span::new(self, selector, from);
        (!span.is_empty())
            .then(|| self.objects.range::<_, str>(span.bounds()))
            .into_iter()
            .flatten()
            .map(|(_, object)| object)
    }

    /// The objects that `selector` matches, at or after `from`, in key order.
    pub fn select<'a>(
        &'a self,
        selector: &'a Selector,
        from: Bound<&str>,
    ) -> impl Iterator<Item = &'a Arc<Object>> + use<'a> {
        self.range(selector, from)
            .filter(|object| selector.matches(object))
    }

    /// How many objects [`Snapshot::range`] would hand out.
    ///
    /// Cost: one walk over the keys for the first of all clones that asks, then O(log n).
    pub fn count(&self, selector: &Selector, from: Bound<&str>) -> usize {
        let span = Span::new(self, selector, from);
        if span.is_empty() {
            return 0;
        }
        if span.from.is_empty() && span.until.is_none() {
            return self.len();
        }
        let walked = self
            .objects
            .range::<_, str>(span.bounds())
            .take(COUNTED_MAX + 1)
            .count();
        if walked <= COUNTED_MAX {
            return walked;
        }
        let until = span
            .until
            .as_deref()
            .map_or(self.len(), |until| self.keys_before(until));
        until.saturating_sub(self.keys_before(&span.from))
    }

    fn keys_before(&self, until: &str) -> usize {
        let marks = self.marks.get_or_init(|| {
            self.objects
                .keys()
                .step_by(KEYS_PER_MARK)
                .cloned()
                .collect()
        });
        let marked = marks.partition_point(|mark| mark.as_str() < until);
        let Some(last) = marked.checked_sub(1) else {
            return 0;
        };
        let Some(mark) = marks.get(last) else {
            return 0;
        };
        let bounds = (Bound::Included(mark.as_str()), Bound::Excluded(until));
        last * KEYS_PER_MARK + self.objects.range::<_, str>(bounds).count()
    }
}

/// The keys from `from` until `until`; the end where that is `None`.
struct Span {
    from: String,
    until: Option<String>,
}

impl Span {
    fn new(snapshot: &Snapshot, selector: &Selector, from: Bound<&str>) -> Self {
        let start = match from {
            Bound::Unbounded => String::new(),
            Bound::Included(key) => key.to_owned(),
            Bound::Excluded(key) => after(key),
        };
        let mut span = Self::of_scope(snapshot, selector);
        span.from = span.from.max(start);
        span
    }

    fn of_scope(snapshot: &Snapshot, selector: &Selector) -> Self {
        let one = |key: &str| Self {
            from: key.to_owned(),
            until: Some(after(key)),
        };
        // An empty namespace is every cluster-scoped object's: no part of the keys says so.
        let namespace = namespace(selector).filter(|namespace| !namespace.is_empty());
        match (namespace, name(selector)) {
            (Some(namespace), Some(name)) => one(Key::new(namespace, name).as_str()),
            // The character after the slash closes the namespace.
            (Some(namespace), None) => Self {
                from: format!("{namespace}/"),
                until: Some(format!("{namespace}0")),
            },
            // Without a namespace a name is a key only where keys have no namespace.
            (None, Some(name)) if snapshot.is_cluster_scoped() => one(name),
            (None, _) => Self {
                from: String::new(),
                until: None,
            },
        }
    }

    fn is_empty(&self) -> bool {
        self.until.as_ref().is_some_and(|until| *until <= self.from)
    }

    fn bounds(&self) -> (Bound<&str>, Bound<&str>) {
        let until = self
            .until
            .as_deref()
            .map_or(Bound::Unbounded, Bound::Excluded);
        (Bound::Included(self.from.as_str()), until)
    }
}

impl Snapshot {
    fn is_cluster_scoped(&self) -> bool {
        self.objects
            .get_min()
            .is_some_and(|(key, _)| key.namespace().is_empty())
    }
}

/// The first text after `key`.
fn after(key: &str) -> String {
    format!("{key}\0")
}

/// The namespace that every match is in.
pub(crate) fn namespace(selector: &Selector) -> Option<&str> {
    selector
        .namespace
        .as_deref()
        .or_else(|| selector.fields.exact("metadata.namespace"))
}

/// The name that every match has.
pub(crate) fn name(selector: &Selector) -> Option<&str> {
    selector
        .name
        .as_deref()
        .or_else(|| selector.fields.exact("metadata.name"))
}

#[cfg(test)]
mod tests;
