//! [`Object`]: one version of one object, as the bytes that go over the wire.
//!
//! The bytes are made once, when the object is committed, and are shared from then on by the
//! cache, by every list and by every watcher. They live inside the watch frame that announced the
//! commit, so the most common frame costs nothing more:
//!
//! ```text
//! {"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{…,"resourceVersion":"7",…}}\n
//! └─ head ───────────────────┘└─ json() ────────────────────────────────────────────────────────┘
//! └─ frame() ──────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! A built-in kind's list items carry no `kind` and `apiVersion`: an item is `{` and the bytes from
//! `item_at` on ([`Object::item`]).

use bytes::{BufMut, Bytes, BytesMut};

use crate::{Key, Revision, WatchEventType};

/// An object's JSON as it is stored: without its `metadata.resourceVersion`, which is the revision
/// of the commit and known only then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// `{"kind":…,"apiVersion":…,"metadata":{…},…}` without `metadata.resourceVersion`.
    pub json: Bytes,
    /// Where in `json` the member `"resourceVersion":"N"` belongs.
    pub splice: Splice,
    /// Where the `"metadata"` member starts, right after the members `kind` and `apiVersion` and
    /// their comma; 1 where they do not come first.
    pub item_at: usize,
    /// Labels, ordered by key.
    pub labels: Labels,
    /// Selectable fields other than `metadata.name` and `metadata.namespace`.
    pub fields: Fields,
}

/// Where `"resourceVersion":"N"` goes, and which side needs a comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splice {
    /// Byte offset into the JSON.
    pub at: usize,
    /// What is around that place.
    pub comma: Comma,
}

/// Which side of a spliced member needs a comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comma {
    /// The place is after a member: `,"resourceVersion":"N"`.
    Before,
    /// The place is before the first of several members: `"resourceVersion":"N",`.
    After,
    /// `metadata` is empty.
    None,
}

/// Labels of one object, ordered by key, keys unique.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Box<[(Box<str>, Box<str>)]>);

impl Labels {
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(k, _)| k.as_ref().cmp(key)).ok()?;
        self.0.get(at).map(|(_, value)| value.as_ref())
    }

    /// All pairs, ordered by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_ref(), value.as_ref()))
    }
}

impl<K: Into<Box<str>>, V: Into<Box<str>>> FromIterator<(K, V)> for Labels {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut pairs: Vec<(Box<str>, Box<str>)> = pairs
            .into_iter()
            .map(|(key, value)| (key.into(), value.into()))
            .collect();
        pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
        pairs.dedup_by(|(a, _), (b, _)| a == b);
        Self(pairs.into())
    }
}

/// Selectable fields of one object by their path, e.g. `spec.nodeName`; absent means empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(pub Box<[(&'static str, Box<str>)]>);

impl Fields {
    /// The value at `path`, empty where the object has none.
    pub fn get(&self, path: &str) -> &str {
        self.0
            .iter()
            .find(|(p, _)| *p == path)
            .map_or("", |(_, value)| value)
    }
}

/// One version of one object, ready to be sent.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its place within its resource.
    pub key: Key,
    /// Its `metadata.resourceVersion`.
    pub revision: Revision,
    /// Its labels.
    pub labels: Labels,
    /// Its selectable fields.
    pub fields: Fields,
    frame: Bytes,
    json_at: usize,
    item_at: usize,
    version: (usize, usize),
}

impl Object {
    /// The object that `encoded` becomes when it is committed at `revision`, framed as `event`.
    pub fn commit(key: Key, encoded: &Encoded, revision: Revision, event: WatchEventType) -> Self {
        let number = revision.to_string();
        let head = event.head();
        let Splice { at, comma } = encoded.splice;
        let (before, after) = encoded.json.split_at(at.min(encoded.json.len()));
        let mut frame = BytesMut::with_capacity(head.len() + encoded.json.len() + 48);
        frame.put_slice(head);
        frame.put_slice(before);
        if comma == Comma::Before {
            frame.put_u8(b',');
        }
        frame.put_slice(b"\"resourceVersion\":\"");
        let version = frame.len() - head.len();
        frame.put_slice(number.as_bytes());
        frame.put_u8(b'"');
        if comma == Comma::After {
            frame.put_u8(b',');
        }
        frame.put_slice(after);
        frame.put_slice(b"}\n");
        Self {
            key,
            revision,
            labels: encoded.labels.clone(),
            fields: encoded.fields.clone(),
            frame: frame.freeze(),
            json_at: head.len(),
            item_at: encoded.item_at,
            version: (version, version + number.len()),
        }
    }

    /// The same content under another revision, framed as `event`: what a DELETED event carries.
    #[must_use]
    pub fn at(&self, revision: Revision, event: WatchEventType) -> Self {
        let number = revision.to_string();
        let head = event.head();
        let json = self.json();
        let (from, until) = self.version;
        let (before, rest) = json.split_at(from.min(json.len()));
        let after = rest.get(until - from..).unwrap_or_default();
        let mut frame = BytesMut::with_capacity(head.len() + json.len() + 24);
        frame.put_slice(head);
        frame.put_slice(before);
        frame.put_slice(number.as_bytes());
        frame.put_slice(after);
        frame.put_slice(b"}\n");
        Self {
            key: self.key.clone(),
            revision,
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            frame: frame.freeze(),
            json_at: head.len(),
            item_at: self.item_at,
            version: (from, from + number.len()),
        }
    }

    /// The whole object, compact JSON.
    pub fn json(&self) -> &[u8] {
        self.frame
            .get(self.json_at..self.frame.len() - 2)
            .unwrap_or_default()
    }

    /// The whole object, compact JSON, sharing this object's memory.
    pub fn json_bytes(&self) -> Bytes {
        self.frame.slice(self.json_at..self.frame.len() - 2)
    }

    /// What follows the opening brace of the object where `kind` and `apiVersion` are left out:
    /// a built-in kind's list item is `{` and this.
    pub fn item(&self) -> &[u8] {
        self.json().get(self.item_at..).unwrap_or_default()
    }

    /// The watch frame that announced this object's commit, with its line feed.
    pub fn frame(&self) -> &Bytes {
        &self.frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(json: &'static str, at: usize, comma: Comma) -> Encoded {
        Encoded {
            json: Bytes::from_static(json.as_bytes()),
            splice: Splice { at, comma },
            item_at: json.find("\"metadata\"").unwrap_or(1),
            labels: Labels::default(),
            fields: Fields::default(),
        }
    }

    fn revision(number: u64) -> Revision {
        Revision::new(number).unwrap()
    }

    #[test]
    fn the_version_is_spliced_in_whatever_is_around_it() {
        for (json, at, comma, wanted) in [
            (
                r#"{"metadata":{}}"#,
                13,
                Comma::None,
                r#"{"metadata":{"resourceVersion":"7"}}"#,
            ),
            (
                r#"{"metadata":{"name":"a"}}"#,
                23,
                Comma::Before,
                r#"{"metadata":{"name":"a","resourceVersion":"7"}}"#,
            ),
            (
                r#"{"metadata":{"uid":"u"}}"#,
                13,
                Comma::After,
                r#"{"metadata":{"resourceVersion":"7","uid":"u"}}"#,
            ),
        ] {
            let made = encoded(json, at, comma);
            let key = Key::new("", "a");
            let object = Object::commit(key, &made, revision(7), WatchEventType::Added);
            assert_eq!(std::str::from_utf8(object.json()).unwrap(), wanted);
            let frame = format!("{{\"type\":\"ADDED\",\"object\":{wanted}}}\n");
            assert_eq!(object.frame(), frame.as_bytes());
            assert_eq!(object.json_bytes(), wanted.as_bytes());
        }
    }

    #[test]
    fn the_same_content_can_stand_at_another_revision_of_any_length() {
        let made = encoded(r#"{"kind":"P","metadata":{}}"#, 24, Comma::None);
        let first = Object::commit(
            Key::new("n", "a"),
            &made,
            revision(9),
            WatchEventType::Added,
        );
        let gone = first.at(revision(1_000), WatchEventType::Deleted);
        let json = r#"{"kind":"P","metadata":{"resourceVersion":"1000"}}"#;
        assert_eq!(std::str::from_utf8(gone.json()).unwrap(), json);
        assert_eq!(gone.item(), br#""metadata":{"resourceVersion":"1000"}}"#);
        assert!(gone.frame().starts_with(WatchEventType::Deleted.head()));
        let back = gone.at(revision(9), WatchEventType::Added);
        assert_eq!(back.frame(), first.frame());
    }

    #[test]
    fn labels_are_ordered_and_found_by_key() {
        let labels: Labels = [("b", "2"), ("a", "1"), ("b", "3")].into_iter().collect();
        assert_eq!(labels.iter().collect::<Vec<_>>(), [("a", "1"), ("b", "2")]);
        assert_eq!((labels.get("a"), labels.get("c")), (Some("1"), None));
    }
}
