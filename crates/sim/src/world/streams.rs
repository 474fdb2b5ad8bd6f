//! Streams: their tasks read when they are woken, at their clients' pace, and let go in the end.

use masthead_api::{Form, Object, WatchEventType};
use masthead_watch::{Delivery, EndReason, Polled, WatcherId};

use super::clients::around;
use super::{POLLS_MAX, World};
use crate::history::{Kind, Record, Seen};
use crate::object::{Place, Version};
use crate::step::Pace;

/// One watch.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) storage: u8,
    pub(super) id: WatcherId,
    pub(super) client: usize,
    pub(super) open: bool,
}

/// What came of asking a stream.
enum Asked {
    Nothing,
    Something,
}

impl World {
    pub(super) fn poll_one(&mut self, which: u8, max: u8, luck: u8) {
        let Some(stream) = around(self.ready.iter().copied(), which) else {
            return;
        };
        let pace = self
            .streams
            .get(stream)
            .and_then(|stream| self.clients.get(stream.client))
            .map(|client| client.taste.pace);
        if pace == Some(Pace::Fast) || luck == 0 {
            self.poll(stream, usize::from(max));
        }
    }

    /// A stream's task runs once.
    fn poll(&mut self, at: usize, max: usize) -> Asked {
        self.ready.remove(&at);
        let Some(stream) = self.streams.get(at).filter(|stream| stream.open) else {
            return Asked::Nothing;
        };
        let (storage, id) = (stream.storage, stream.id);
        let Some(cache) = self.hub.cache(storage) else {
            return Asked::Nothing;
        };
        let mut out = Vec::new();
        let polled = cache.poll(id, max, &mut out);
        let mut seen: Vec<Seen> = out.iter().map(|delivery| read(storage, delivery)).collect();
        let head = self.hub.head.get();
        let more = polled == Polled::More;
        let held = self.saboteur.batch(at, head, more, &mut seen);
        let ended = match polled {
            Polled::Pending if !held => {
                self.hub.sleep(storage, id, at);
                None
            }
            Polled::Pending | Polled::More => {
                self.ready.insert(at);
                None
            }
            Polled::Ended(reason) => Some(reason),
        };
        self.got(at, seen, ended)
    }

    fn got(&mut self, at: usize, seen: Vec<Seen>, ended: Option<EndReason>) -> Asked {
        let last = seen.iter().rev().find_map(|seen| match seen {
            Seen::Event { revision, .. }
            | Seen::Bookmark(revision)
            | Seen::InitialEnd(revision) => Some(*revision),
            Seen::Initial { .. } | Seen::Garbage => None,
        });
        let client = self.streams.get(at).map(|stream| stream.client);
        if let Some(client) = client.and_then(|client| self.clients.get_mut(client))
            && let Some(last) = last
        {
            client.last = Some((last, Some(at)));
        }
        if seen.is_empty() && ended.is_none() {
            return Asked::Nothing;
        }
        self.records.push(Record::Got {
            stream: at,
            seen,
            ended,
        });
        if ended.is_some() {
            self.forget(at);
        }
        Asked::Something
    }

    /// A client leaves its stream.
    pub(super) fn cut(&mut self, which: u8) {
        if let Some(stream) = around(self.open_streams(), which) {
            self.close(stream);
        }
    }

    /// The server ends a stream.
    pub(super) fn end(&mut self, which: u8) {
        let Some(stream) = around(self.open_streams(), which) else {
            return;
        };
        let Some(stream) = self.streams.get(stream) else {
            return;
        };
        let (storage, id) = (stream.storage, stream.id);
        let mut ids = Vec::new();
        if let Some(cache) = self.hub.cache(storage) {
            cache.end_one(id, EndReason::Cut, &mut ids);
        }
        let woken = self.take_wakers(storage, ids);
        self.ready.extend(woken);
    }

    fn open_streams(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let streams = self.streams.iter().enumerate();
        streams.filter_map(|(at, stream)| stream.open.then_some(at))
    }

    pub(super) fn close(&mut self, stream: usize) {
        if self.forget(stream) {
            self.records.push(Record::Closed { stream });
        }
    }

    /// Lets go of a stream; whether it was open.
    fn forget(&mut self, at: usize) -> bool {
        self.ready.remove(&at);
        let Some(stream) = self.streams.get_mut(at) else {
            return false;
        };
        let open = std::mem::replace(&mut stream.open, false);
        if open {
            self.hub.cancel(stream.storage, stream.id);
            if let Some(client) = self.clients.get_mut(stream.client) {
                client.stream = None;
            }
        }
        open
    }

    /// Everybody who is ready reads.
    pub(super) fn read_all(&mut self) {
        for _ in 0..POLLS_MAX {
            let Some(stream) = self.ready.first().copied() else {
                return;
            };
            self.poll(stream, 3);
        }
        if let Some(stream) = self.ready.first().copied() {
            self.records.push(Record::Stuck { stream });
        }
    }

    /// Whoever has not been woken must have nothing.
    pub(super) fn ask_sleepers(&mut self) {
        let open: Vec<usize> = self.open_streams().collect();
        for stream in open {
            let before = self.records.len();
            let asked = self.poll(stream, 3);
            if matches!(asked, Asked::Something) || self.ready.contains(&stream) {
                self.records.insert(before, Record::Overslept { stream });
            }
            self.read_all();
        }
    }
}

/// What a client makes of a delivery: it reads the bytes.
fn read(storage: u8, delivery: &Delivery) -> Seen {
    let key = |text: &str| Place::of_text(storage, text).map(|place| place.key);
    let seen = match delivery {
        Delivery::Initial(object) => {
            let key = key(object.key.as_str()).zip(Version::of(object));
            key.map(|(key, version)| Seen::Initial { key, version })
        }
        Delivery::InitialEventsEnd(revision) => Some(Seen::InitialEnd(revision.get())),
        Delivery::Bookmark(revision) => Some(Seen::Bookmark(revision.get())),
        Delivery::Event { event, seen } => event
            .frame(Form::JSON, *seen, Object::json_bytes)
            .and_then(|frame| {
                Some(Seen::Event {
                    kind: kind(&frame)?,
                    key: key(event.key.as_str())?,
                    revision: event.revision.get(),
                    version: Version::read(&frame)?,
                })
            }),
    };
    seen.unwrap_or(Seen::Garbage)
}

fn kind(frame: &[u8]) -> Option<Kind> {
    [
        (WatchEventType::Added, Kind::Added),
        (WatchEventType::Modified, Kind::Modified),
        (WatchEventType::Deleted, Kind::Deleted),
    ]
    .into_iter()
    .find_map(|(event, kind)| frame.starts_with(event.head()).then_some(kind))
}
