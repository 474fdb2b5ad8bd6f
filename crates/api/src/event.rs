//! [`Event`]: one change of one object, and the frames that tell watchers of it.
//!
//! | change | matched before | matches now | event | object |
//! |---|---|---|---|---|
//! | create, update | no | yes | ADDED | new |
//! | update | yes | yes | MODIFIED | new |
//! | update | yes | no | DELETED | old content at the change's revision |
//! | delete | yes | – | DELETED | old content at the change's revision |
//! | any | no | no | none | |
//!
//! A frame is made at most once for each form and type, whatever the number of watchers.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::{BufMut, Bytes, BytesMut};

use crate::{Key, Object, Revision};

/// The `type` of a watch event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WatchEventType {
    /// The object began to match.
    Added,
    /// A matching object changed.
    Modified,
    /// The object stopped matching or is gone.
    Deleted,
    /// Everything through this revision has been sent.
    Bookmark,
    /// The stream ends with a Status.
    Error,
}

impl WatchEventType {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }

    /// What stands before the object in a frame of this type.
    pub const fn head(self) -> &'static [u8] {
        match self {
            Self::Added => br#"{"type":"ADDED","object":"#,
            Self::Modified => br#"{"type":"MODIFIED","object":"#,
            Self::Deleted => br#"{"type":"DELETED","object":"#,
            Self::Bookmark => br#"{"type":"BOOKMARK","object":"#,
            Self::Error => br#"{"type":"ERROR","object":"#,
        }
    }

    /// One whole frame: head, `json`, closing brace and line feed.
    pub fn frame(self, json: &[u8]) -> Bytes {
        let mut frame = BytesMut::with_capacity(self.head().len() + json.len() + 2);
        frame.put_slice(self.head());
        frame.put_slice(json);
        frame.put_slice(b"}\n");
        frame.freeze()
    }
}

/// How a watcher wants its objects: an opaque number chosen by the server; 0 is the JSON object
/// itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form(pub u16);

impl Form {
    /// The object itself as JSON.
    pub const JSON: Self = Self(0);
}

/// One change of one object at one revision.
#[derive(Debug)]
pub struct Event {
    /// The revision of the commit.
    pub revision: Revision,
    /// Whose change it is.
    pub key: Key,
    /// The object after the change; `None` for a deletion.
    pub new: Option<Arc<Object>>,
    /// The object before the change; `None` for a creation.
    pub old: Option<Arc<Object>>,
    gone: OnceLock<Arc<Object>>,
    frames: Mutex<Vec<((Form, WatchEventType), Bytes)>>,
}

impl Event {
    /// A change from `old` to `new`; at least one of them is there.
    pub fn new(
        revision: Revision,
        key: Key,
        old: Option<Arc<Object>>,
        new: Option<Arc<Object>>,
    ) -> Self {
        Self {
            revision,
            key,
            new,
            old,
            gone: OnceLock::new(),
            frames: Mutex::new(Vec::new()),
        }
    }

    /// What a watcher sees that matched the object `before` and matches it `now`.
    pub const fn seen(before: bool, now: bool) -> Option<WatchEventType> {
        match (before, now) {
            (false, false) => None,
            (false, true) => Some(WatchEventType::Added),
            (true, true) => Some(WatchEventType::Modified),
            (true, false) => Some(WatchEventType::Deleted),
        }
    }

    /// The object that an event of type `seen` carries: for DELETED the old content at this
    /// event's revision (made once), else the new object.
    pub fn object(&self, seen: WatchEventType) -> Option<&Arc<Object>> {
        if seen != WatchEventType::Deleted {
            return self.new.as_ref();
        }
        let old = self.old.as_ref()?;
        Some(
            self.gone
                .get_or_init(|| Arc::new(old.at(self.revision, WatchEventType::Deleted))),
        )
    }

    /// The frame of this event for `form` and `seen`; `render` makes the JSON of another form than
    /// [`Form::JSON`] from the object, and is called at most once for each form and type.
    pub fn frame(
        &self,
        form: Form,
        seen: WatchEventType,
        render: impl FnOnce(&Object) -> Bytes,
    ) -> Option<Bytes> {
        let object = self.object(seen)?;
        if form == Form::JSON && object.frame().starts_with(seen.head()) {
            return Some(object.frame().clone());
        }
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, frame)) = frames.iter().find(|(which, _)| *which == (form, seen)) {
            return Some(frame.clone());
        }
        let frame = if form == Form::JSON {
            seen.frame(object.json())
        } else {
            seen.frame(&render(object))
        };
        frames.push(((form, seen), frame.clone()));
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comma, Encoded, Fields, Labels, Splice};

    fn object(number: u64, seen: WatchEventType) -> Arc<Object> {
        let encoded = Encoded {
            json: Bytes::from_static(br#"{"metadata":{}}"#),
            splice: Splice {
                at: 13,
                comma: Comma::None,
            },
            item_at: 1,
            labels: Labels::default(),
            fields: Fields::default(),
        };
        let revision = Revision::new(number).unwrap();
        Arc::new(Object::commit(Key::new("", "a"), &encoded, revision, seen))
    }

    fn update() -> Event {
        let (old, new) = (
            object(3, WatchEventType::Added),
            object(5, WatchEventType::Modified),
        );
        Event::new(new.revision, new.key.clone(), Some(old), Some(new))
    }

    #[test]
    fn the_event_follows_from_matching_before_and_now() {
        assert_eq!(Event::seen(false, false), None);
        assert_eq!(Event::seen(false, true), Some(WatchEventType::Added));
        assert_eq!(Event::seen(true, true), Some(WatchEventType::Modified));
        assert_eq!(Event::seen(true, false), Some(WatchEventType::Deleted));
    }

    #[test]
    fn frames_carry_the_new_object_or_the_old_one_at_the_new_revision() {
        let event = update();
        for seen in [
            WatchEventType::Added,
            WatchEventType::Modified,
            WatchEventType::Deleted,
        ] {
            let frame = event.frame(Form::JSON, seen, |_| Bytes::new()).unwrap();
            let json = br#"{"metadata":{"resourceVersion":"5"}}"#;
            assert_eq!(frame, seen.frame(json), "{seen:?}");
        }
        let deletion = Event::new(event.revision, event.key.clone(), event.old.clone(), None);
        assert!(deletion.object(WatchEventType::Modified).is_none());
        assert!(deletion.object(WatchEventType::Deleted).is_some());
    }

    #[test]
    fn a_form_is_rendered_once_for_each_type() {
        let event = update();
        let mut renderings = 0;
        for _ in 0..3 {
            for seen in [WatchEventType::Added, WatchEventType::Modified] {
                let frame = event.frame(Form(1), seen, |_| {
                    renderings += 1;
                    Bytes::from_static(b"{}")
                });
                assert_eq!(frame, Some(seen.frame(b"{}")));
            }
        }
        assert_eq!(renderings, 2);
    }
}
