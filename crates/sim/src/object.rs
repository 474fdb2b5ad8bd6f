//! What there is in a world: three resources of eight possible objects each.
//!
//! Every write has a serial number of its own, which travels inside the object's JSON. So a checker
//! can tell which write it sees from the bytes alone, as a client would.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use masthead_api::{Comma, Encoded, Fields, Key, Object, Splice};

/// How many resources there are.
pub const STORAGES: usize = 3;
/// How many objects each of them can have.
pub const KEYS: usize = 8;
/// The field by which the first resource's watchers are indexed.
pub const NODE_FIELD: &str = "spec.nodeName";

/// In the order of bytes, which is not the order of namespaces.
const NAMESPACED: [&str; KEYS] = ["a-b/1", "a-b/2", "a/1", "a/2", "ab/1", "b/1", "b/2", "c/3"];
const CLUSTER: [&str; KEYS] = ["1", "m", "n1", "n1-x", "n2", "n3", "o", "p"];
const PREFIXES: [&str; STORAGES] = [
    "/registry/pods/",
    "/registry/configmaps/",
    "/registry/nodes/",
];
type Pairs = &'static [(&'static str, &'static str)];
const LABELS: [Pairs; 6] = [
    &[],
    &[("app", "x")],
    &[("app", "y")],
    &[("app", "x"), ("tier", "z")],
    &[("tier", "7")],
    &[("app", "y"), ("tier", "12")],
];
const NODES: [&str; 3] = ["", "n1", "n2"];
/// Where the version goes in [`Content::encode`]'s JSON.
const SPLICE_AT: usize = 13;

/// How many sets of labels an object can have.
pub(crate) const LABELS_LEN: u8 = LABELS.len() as u8;
/// How many nodes an object can be on.
pub(crate) const NODES_LEN: u8 = NODES.len() as u8;

/// One object's place: which resource, which of its keys. The order of keys is the order of lists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Which resource.
    pub storage: u8,
    /// Which of its keys.
    pub key: u8,
}

impl Place {
    /// `namespace/name`, or `name` in the last resource.
    pub fn text(self) -> &'static str {
        let keys = if usize::from(self.storage) + 1 == STORAGES {
            CLUSTER
        } else {
            NAMESPACED
        };
        keys.get(usize::from(self.key)).copied().unwrap_or_default()
    }

    /// The key within the resource.
    pub fn key(self) -> Key {
        Key::from_text(self.text())
    }

    /// The key in the store.
    pub fn store_key(self) -> Bytes {
        format!("{}{}", prefix(self.storage), self.text()).into()
    }

    /// The place with this text in `storage`.
    pub fn of_text(storage: u8, text: &str) -> Option<Self> {
        (0..KEYS as u8)
            .map(|key| Self { storage, key })
            .find(|place| place.text() == text)
    }

    /// The place with this key in the store.
    pub fn of_store_key(key: &[u8]) -> Option<Self> {
        let key = std::str::from_utf8(key).ok()?;
        (0..STORAGES as u8)
            .find_map(|storage| Self::of_text(storage, key.strip_prefix(prefix(storage))?))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.storage, self.text())
    }
}

/// What every key of `storage` in the store begins with.
pub fn prefix(storage: u8) -> &'static str {
    PREFIXES
        .get(usize::from(storage))
        .copied()
        .unwrap_or_default()
}

/// What one write stores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// Which labels.
    pub labels: u8,
    /// Which node.
    pub node: u8,
    /// Which write of the world.
    pub serial: u32,
}

impl Content {
    /// The labels.
    pub fn labels(self) -> Pairs {
        LABELS
            .get(usize::from(self.labels))
            .copied()
            .unwrap_or_default()
    }

    /// The value of a label.
    pub fn label(self, key: &str) -> Option<&'static str> {
        self.labels()
            .iter()
            .find_map(|(k, value)| (*k == key).then_some(*value))
    }

    /// The node.
    pub fn node(self) -> &'static str {
        NODES
            .get(usize::from(self.node))
            .copied()
            .unwrap_or_default()
    }

    /// As it is stored.
    pub fn encode(self) -> Encoded {
        let Self {
            labels,
            node,
            serial,
        } = self;
        Encoded {
            json: format!(r#"{{"metadata":{{}},"c":"{labels}.{node}.{serial}"}}"#).into(),
            splice: Splice {
                at: SPLICE_AT,
                comma: Comma::None,
            },
            item_at: 1,
            labels: self.labels().iter().copied().collect(),
            fields: Fields(Box::new([(NODE_FIELD, self.node().into())])),
        }
    }

    /// What stands in stored or sent JSON.
    pub fn decode(json: &[u8]) -> Option<Self> {
        let text = between(json, r#""c":""#)?;
        let mut numbers = text.split('.');
        Some(Self {
            labels: number(numbers.next())?,
            node: number(numbers.next())?,
            serial: number(numbers.next())?,
        })
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.serial)?;
        for (key, value) in self.labels() {
            write!(f, " {key}={value}")?;
        }
        if !self.node().is_empty() {
            write!(f, " on {}", self.node())?;
        }
        Ok(())
    }
}

fn number<N: FromStr>(text: Option<&str>) -> Option<N> {
    text?.parse().ok()
}

/// The text after `mark` until the next quote.
fn between<'a>(json: &'a [u8], mark: &str) -> Option<&'a str> {
    let text = std::str::from_utf8(json).ok()?;
    let (_, rest) = text.split_once(mark)?;
    rest.split_once('"').map(|(text, _)| text)
}

/// One version of one object, as a client sees it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// Its `resourceVersion`.
    pub revision: u64,
    /// Its content.
    pub content: Content,
}

impl Version {
    /// What these bytes say, which are an object's JSON or a frame.
    pub fn read(json: &[u8]) -> Option<Self> {
        Some(Self {
            revision: number(between(json, r#""resourceVersion":""#))?,
            content: Content::decode(json)?,
        })
    }

    /// What an object says.
    pub fn of(object: &Object) -> Option<Self> {
        Self::read(object.json())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} @{}", self.content, self.revision)
    }
}

/// All objects of one resource, by key.
pub type State = [Option<Version>; KEYS];

#[cfg(test)]
mod tests {
    use masthead_api::{Revision, WatchEventType};

    use super::*;

    #[test]
    fn keys_stand_in_the_order_of_lists_and_are_found_again() {
        for storage in 0..STORAGES as u8 {
            for key in 0..KEYS as u8 {
                let place = Place { storage, key };
                assert_eq!(Place::of_store_key(&place.store_key()), Some(place));
                let next = Place {
                    storage,
                    key: key + 1,
                };
                assert!(next.text().is_empty() || place.key() < next.key());
            }
        }
    }

    #[test]
    fn content_comes_back_from_the_bytes_of_an_object() {
        let content = Content {
            labels: 5,
            node: 2,
            serial: 77,
        };
        let object = Object::commit(
            Key::from_text("a/1"),
            &content.encode(),
            Revision::new(12).unwrap(),
            WatchEventType::Added,
        );
        let version = Version {
            revision: 12,
            content,
        };
        assert_eq!(Version::of(&object), Some(version));
        assert_eq!(Content::decode(&content.encode().json), Some(content));
        assert_eq!(object.fields.get(NODE_FIELD), "n2");
    }
}
