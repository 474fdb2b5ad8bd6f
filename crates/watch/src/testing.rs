//! A small world for tests: a cache, and a record of every state and every event to compare with.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use masthead_api::{
    Comma, Encoded, Event, FieldRequirement, FieldSelector, Fields, Key, LabelRequirement,
    LabelSelector, Object, Revision, Selector, Splice, WatchEventType,
};

use crate::{
    Bookmarks, Cache, CacheConfig, Delivery, InitialEnd, Mono, Polled, WatchError, WatchRequest,
    WatchStart, WatcherId,
};

pub(crate) const LIST: u64 = 10;
pub(crate) const STATE: WatchStart = WatchStart::State {
    end: InitialEnd::Annotated,
};

pub(crate) fn rev(number: u64) -> Revision {
    Revision::new(number).unwrap()
}

pub(crate) fn after(number: u64) -> WatchStart {
    WatchStart::After(rev(number))
}

/// An object with these labels (`app=x,tier=y`) on this node.
pub(crate) fn object(key: &str, revision: u64, labels: &str, node: &str) -> Arc<Object> {
    let encoded = Encoded {
        json: Bytes::from_static(b"{\"metadata\":{}}"),
        splice: Splice {
            at: 13,
            comma: Comma::None,
        },
        item_at: 1,
        labels: labels
            .split(',')
            .filter_map(|pair| pair.split_once('='))
            .collect(),
        fields: Fields(
            (!node.is_empty())
                .then(|| ("spec.nodeName", node.into()))
                .into_iter()
                .collect(),
        ),
    };
    let key = Key::from_text(key);
    Arc::new(Object::commit(
        key,
        &encoded,
        rev(revision),
        WatchEventType::Added,
    ))
}

/// A selector from `ns=… name=… app=… node=…`, all optional; `app=x|y` is a set, `app!=x` refuses.
pub(crate) fn selector(text: &str) -> Selector {
    let mut selector = Selector::default();
    let values = |value: &str| value.split('|').map(str::to_owned).collect::<Vec<_>>();
    for word in text.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap();
        match key {
            "ns" => selector.namespace = Some(value.to_owned()),
            "name" => selector.name = Some(value.to_owned()),
            "node" => {
                let path = "spec.nodeName".to_owned();
                let value = value.to_owned();
                selector.fields = FieldSelector(vec![FieldRequirement::Equals { path, value }]);
            }
            key => {
                let (values, refused) = (values(value), key.strip_suffix('!'));
                let key = refused.unwrap_or(key).to_owned();
                selector.labels = LabelSelector(vec![match refused {
                    Some(_) => LabelRequirement::NotIn { key, values },
                    None => LabelRequirement::In { key, values },
                }]);
            }
        }
    }
    selector
}

/// What a batch says, one line for each delivery.
pub(crate) fn lines(deliveries: &[Delivery]) -> Vec<String> {
    deliveries.iter().map(line).collect()
}

pub(crate) fn line(delivery: &Delivery) -> String {
    match delivery {
        Delivery::Initial(object) => format!("INITIAL {} {}", object.key, object.revision),
        Delivery::InitialEventsEnd(revision) => format!("END {revision}"),
        Delivery::Event { event, seen } => event_line(event, *seen),
        Delivery::Bookmark(revision) => format!("BOOKMARK {revision}"),
    }
}

fn event_line(event: &Event, seen: WatchEventType) -> String {
    let object = event.object(seen).unwrap();
    assert_eq!(object.revision, event.revision);
    format!("{} {} {}", seen.as_str(), event.key, event.revision)
}

/// The objects of one state, by the text of their keys.
pub(crate) type State = BTreeMap<String, Arc<Object>>;

pub(crate) struct World {
    pub(crate) cache: Cache,
    pub(crate) now: Mono,
    pub(crate) woken: Vec<WatcherId>,
    /// The state at each revision from [`LIST`] on.
    pub(crate) states: Vec<State>,
    pub(crate) log: Vec<Arc<Event>>,
}

/// A change: labels and node of the new object, or its deletion.
pub(crate) type Change<'a> = (&'a str, Option<(&'a str, &'a str)>);

impl World {
    pub(crate) fn new(config: CacheConfig) -> Self {
        Self::with(config, &[])
    }

    /// A world in which `keys` exist from the start.
    pub(crate) fn with(config: CacheConfig, keys: &[&str]) -> Self {
        let state: State = keys
            .iter()
            .map(|key| ((*key).to_owned(), object(key, 5, "", "")))
            .collect();
        Self {
            cache: Cache::new(config, rev(LIST), state.values().cloned()),
            now: Mono::START,
            woken: Vec::new(),
            states: vec![state],
            log: Vec::new(),
        }
    }

    pub(crate) fn head(&self) -> u64 {
        LIST + self.states.len() as u64 - 1
    }

    pub(crate) fn state(&self, revision: u64) -> &State {
        &self.states[(revision - LIST) as usize]
    }

    pub(crate) fn put(&mut self, key: &str, labels: &str) -> u64 {
        self.commit(&[(key, Some((labels, "")))])
    }

    pub(crate) fn put_on(&mut self, key: &str, node: &str) -> u64 {
        self.commit(&[(key, Some(("", node)))])
    }

    pub(crate) fn delete(&mut self, key: &str) -> u64 {
        self.commit(&[(key, None)])
    }

    /// Commits all changes at the next revision.
    pub(crate) fn commit(&mut self, changes: &[Change<'_>]) -> u64 {
        let revision = self.head() + 1;
        let mut state = self.state(self.head()).clone();
        let mut events = Vec::new();
        for (key, change) in changes {
            let new = change.map(|(labels, node)| object(key, revision, labels, node));
            let old = match &new {
                Some(new) => state.insert((*key).to_owned(), Arc::clone(new)),
                None => state.remove(*key),
            };
            if old.is_some() || new.is_some() {
                let event = Event::new(rev(revision), Key::from_text(key), old, new);
                events.push(Arc::new(event));
            }
        }
        self.states.push(state);
        self.log.extend(events.iter().cloned());
        self.cache.publish(events, self.now, &mut self.woken);
        revision
    }

    /// Writes of other resources.
    pub(crate) fn elsewhere(&mut self, revisions: u64) {
        for _ in 0..revisions {
            self.states.push(self.state(self.head()).clone());
        }
    }

    /// Lets time pass; what is due happens when it is due.
    pub(crate) fn pass(&mut self, seconds: u64) {
        let until = self.now + Duration::from_secs(seconds);
        let head = rev(self.head());
        while let Some(due) = self.cache.next_deadline().filter(|due| *due <= until) {
            self.cache.handle_time(due, head, &mut self.woken);
            assert!(self.cache.next_deadline().is_none_or(|next| next > due));
        }
        self.now = until;
    }

    pub(crate) fn watch(&mut self, text: &str, start: WatchStart) -> WatcherId {
        self.watch_for(text, start, Bookmarks::Off, None).unwrap()
    }

    pub(crate) fn watch_for(
        &mut self,
        text: &str,
        start: WatchStart,
        bookmarks: Bookmarks,
        timeout: Option<u64>,
    ) -> Result<WatcherId, WatchError> {
        let timeout = timeout.map(Duration::from_secs);
        let request = WatchRequest {
            selector: selector(text),
            start,
            bookmarks,
            timeout,
        };
        let head = rev(self.head());
        self.cache.watch(request, self.now, head)
    }

    /// Everything that is there for a watcher now.
    pub(crate) fn read(&mut self, id: WatcherId) -> (Vec<String>, Polled) {
        let mut out = Vec::new();
        loop {
            match self.cache.poll(id, 7, &mut out) {
                Polled::More => {}
                polled @ (Polled::Pending | Polled::Ended(_)) => return (lines(&out), polled),
            }
        }
    }

    pub(crate) fn lines(&mut self, id: WatcherId) -> Vec<String> {
        self.read(id).0
    }

    /// What a watcher of `text` is owed of what happened after `revision`.
    pub(crate) fn owed(&self, text: &str, revision: u64) -> Vec<String> {
        let selector = selector(text);
        let matches = |object: &Option<Arc<Object>>| {
            object
                .as_ref()
                .is_some_and(|object| selector.matches(object))
        };
        self.log
            .iter()
            .filter(|event| event.revision.get() > revision)
            .filter_map(|event| {
                let seen = Event::seen(matches(&event.old), matches(&event.new))?;
                Some(event_line(event, seen))
            })
            .collect()
    }

    /// The initial events of a watcher of `text` at `revision`.
    pub(crate) fn initial(&self, text: &str, revision: u64) -> Vec<String> {
        let selector = selector(text);
        self.state(revision)
            .values()
            .filter(|object| selector.matches(object))
            .map(|object| format!("INITIAL {} {}", object.key, object.revision))
            .collect()
    }
}
