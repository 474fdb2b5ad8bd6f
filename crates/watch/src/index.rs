//! [`DispatchIndex`]: which watchers an event must be offered to.
//!
//! A watcher sits in exactly one bucket, the most selective its selector allows; an event visits
//! only the buckets that could hold somebody who wants it:
//!
//! | place | a watcher sits here if its selector pins down | an event visits |
//! |---|---|---|
//! | key | namespace and name | its key |
//! | name | the name alone | its name |
//! | field | the indexed field (`spec.nodeName`) | the object's value before and after |
//! | label | one label's value | the object's labels before and after |
//! | namespace | the namespace | its namespace |
//! | all | nothing | this one |
//!
//! The order says which place wins. The index only narrows: the selector itself decides. Ten
//! thousand watchers of other objects cost an event a handful of look-ups.
//!
//! - D1: whoever matches an event's object before or after it is in a bucket that the event visits.
//! - D2: no bucket is visited twice for one event, so nobody is offered an event twice.

use std::collections::BTreeMap;

use masthead_api::{Event, Key, Object, Selector};

use crate::snapshot::{name, namespace};

/// The slots of watchers in one place.
type Bucket = Vec<u32>;
type Buckets = BTreeMap<Box<str>, Bucket>;

/// Where a selector's watcher sits.
enum Place<'a> {
    Key(Key),
    Name(&'a str),
    Field(&'a str),
    Label(&'a str, &'a str),
    Namespace(&'a str),
    All,
}

/// All watchers of a cache by what they can be interested in.
#[derive(Debug, Default)]
pub(crate) struct DispatchIndex {
    field: Option<&'static str>,
    keys: BTreeMap<Key, Bucket>,
    names: Buckets,
    fields: Buckets,
    labels: BTreeMap<Box<str>, Buckets>,
    namespaces: Buckets,
    all: Bucket,
}

impl DispatchIndex {
    /// An index that knows `field` besides scope and labels.
    pub(crate) fn new(field: Option<&'static str>) -> Self {
        Self {
            field,
            ..Self::default()
        }
    }

    fn place<'a>(&self, selector: &'a Selector) -> Place<'a> {
        match (namespace(selector), name(selector)) {
            (Some(namespace), Some(name)) => return Place::Key(Key::new(namespace, name)),
            (None, Some(name)) => return Place::Name(name),
            (Some(_) | None, None) => {}
        }
        if let Some(value) = self.field.and_then(|field| selector.fields.exact(field)) {
            return Place::Field(value);
        }
        if let Some((key, value)) = selector.labels.exact() {
            return Place::Label(key, value);
        }
        namespace(selector).map_or(Place::All, Place::Namespace)
    }

    /// Seats the watcher in `slot`; its position in its bucket.
    pub(crate) fn add(&mut self, selector: &Selector, slot: u32) -> u32 {
        let bucket = match self.place(selector) {
            Place::Key(key) => self.keys.entry(key).or_default(),
            Place::Name(name) => self.names.entry(name.into()).or_default(),
            Place::Field(value) => self.fields.entry(value.into()).or_default(),
            Place::Label(key, value) => self
                .labels
                .entry(key.into())
                .or_default()
                .entry(value.into())
                .or_default(),
            Place::Namespace(namespace) => self.namespaces.entry(namespace.into()).or_default(),
            Place::All => &mut self.all,
        };
        bucket.push(slot);
        (bucket.len() - 1) as u32
    }

    /// Unseats the watcher at `position` of its bucket; the slot of the one that takes its place.
    pub(crate) fn remove(&mut self, selector: &Selector, position: u32) -> Option<u32> {
        match self.place(selector) {
            Place::Key(key) => take(&mut self.keys, key.as_str(), position),
            Place::Name(name) => take(&mut self.names, name, position),
            Place::Field(value) => take(&mut self.fields, value, position),
            Place::Label(key, value) => {
                let values = self.labels.get_mut(key)?;
                let moved = take(values, value, position);
                if values.is_empty() {
                    self.labels.remove(key);
                }
                moved
            }
            Place::Namespace(namespace) => take(&mut self.namespaces, namespace, position),
            Place::All => unseat(&mut self.all, position),
        }
    }

    /// Calls `offer` with the slots of each bucket that could hold a taker of `event`; how many
    /// buckets that were.
    pub(crate) fn visit(&self, event: &Event, mut offer: impl FnMut(&[u32])) -> u64 {
        let mut visited = 0;
        let mut visit = |bucket: Option<&Bucket>| {
            if let Some(bucket) = bucket.filter(|bucket| !bucket.is_empty()) {
                visited += 1;
                offer(bucket);
            }
        };
        visit(self.keys.get(event.key.as_str()));
        visit(self.names.get(event.key.name()));
        let (old, new) = (event.old.as_deref(), event.new.as_deref());
        if let Some(field) = self.field.filter(|_| !self.fields.is_empty()) {
            let before = old.map(|object| object.fields.get(field));
            let after = new.map(|object| object.fields.get(field));
            visit(before.and_then(|value| self.fields.get(value)));
            visit(
                after
                    .filter(|_| after != before)
                    .and_then(|value| self.fields.get(value)),
            );
        }
        if !self.labels.is_empty() {
            for (key, value) in labels(old) {
                visit(self.label(key, value));
            }
            for (key, value) in labels(new) {
                if old.and_then(|object| object.labels.get(key)) != Some(value) {
                    visit(self.label(key, value));
                }
            }
        }
        visit(self.namespaces.get(event.key.namespace()));
        visit(Some(&self.all));
        visited
    }

    fn label(&self, key: &str, value: &str) -> Option<&Bucket> {
        self.labels.get(key)?.get(value)
    }
}

fn labels(object: Option<&Object>) -> impl Iterator<Item = (&str, &str)> {
    object.into_iter().flat_map(|object| object.labels.iter())
}

fn take<K: Ord + std::borrow::Borrow<str>>(
    buckets: &mut BTreeMap<K, Bucket>,
    key: &str,
    position: u32,
) -> Option<u32> {
    let bucket = buckets.get_mut(key)?;
    let moved = unseat(bucket, position);
    if bucket.is_empty() {
        buckets.remove(key);
    }
    moved
}

fn unseat(bucket: &mut Bucket, position: u32) -> Option<u32> {
    let position = position as usize;
    if position >= bucket.len() {
        return None;
    }
    bucket.swap_remove(position);
    if bucket.capacity() > 64 && bucket.len() * 4 < bucket.capacity() {
        bucket.shrink_to(bucket.len() * 2);
    }
    bucket.get(position).copied()
}

#[cfg(test)]
mod tests;
