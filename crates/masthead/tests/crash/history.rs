//! What writers and watchers write down: the history over which the checks run.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

/// Names one write: its round, its writer and its number. No two writes share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    pub(crate) round: u32,
    pub(crate) writer: u32,
    pub(crate) number: u32,
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.round, self.writer, self.number)
    }
}

impl FromStr for Stamp {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split('.').map(|part| part.parse().map_err(|_| ()));
        let mut next = || parts.next().unwrap_or(Err(()));
        let stamp = Self {
            round: next()?,
            writer: next()?,
            number: next()?,
        };
        if stamp.to_string() == text {
            Ok(stamp)
        } else {
            Err(())
        }
    }
}

impl Stamp {
    /// The `data` of the object that this write sends: all of it follows from the stamp.
    pub(crate) fn data(self) -> Value {
        let (stamp, padding) = (self.to_string(), self.padding());
        let sum = sum(&stamp, &padding);
        json!({"stamp": stamp, "padding": padding, "sum": sum})
    }

    /// Up to 3 KB of text, so that a write is more than one small record.
    fn padding(self) -> String {
        let mixed = self.writer.wrapping_mul(2_654_435_761) ^ self.number.wrapping_mul(40_503);
        let length = usize::try_from(mixed % 3000).unwrap_or(0);
        let letters = ('a'..='z')
            .cycle()
            .skip(usize::try_from(mixed % 26).unwrap_or(0));
        letters.take(length).collect()
    }
}

fn sum(stamp: &str, padding: &str) -> String {
    let bytes = stamp.bytes().chain([0]).chain(padding.bytes());
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{sum:016x}")
}

/// One state of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) revision: u64,
    pub(crate) stamp: Stamp,
}

/// An object that no writer has sent like this.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("torn object: {0}")]
pub(crate) struct Torn(pub(crate) String);

/// Name and version of an object; refused unless it is whole.
pub(crate) fn read_object(object: &Value) -> Result<(String, Version), Torn> {
    let torn = || Torn(object.to_string());
    let text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .ok_or_else(torn)
    };
    let name = text("/metadata/name")?.to_owned();
    let revision = text("/metadata/resourceVersion")?
        .parse()
        .map_err(|_| torn())?;
    let (stamp, padding) = (text("/data/stamp")?, text("/data/padding")?);
    if text("/data/sum")? != sum(stamp, padding) {
        return Err(torn());
    }
    let stamp: Stamp = stamp.parse().map_err(|()| torn())?;
    if object.get("data") != Some(&stamp.data()) {
        return Err(torn());
    }
    Ok((name, Version { revision, stamp }))
}

/// All objects at one revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) revision: u64,
    pub(crate) objects: BTreeMap<String, Version>,
}

/// What a writer tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Create,
    Update,
    Patch,
    Delete,
}

/// What it learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Acknowledged, with the object's new version.
    Committed(u64),
    /// An acknowledged deletion, whose version the answer does not tell.
    Deleted,
    /// Not done, said the server: 404 or 409.
    Refused,
    /// The server died before it answered.
    Unknown,
}

/// One write as its writer saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) key: &'static str,
    pub(crate) op: Op,
    pub(crate) stamp: Stamp,
    /// The version that the object had to have for the write to happen.
    pub(crate) of: Option<u64>,
    /// The greatest version acknowledged to anybody before the write was sent.
    pub(crate) floor: u64,
    /// When it was sent and when it was answered, on the history's own clock; never is the maximum.
    pub(crate) sent: u64,
    pub(crate) done: u64,
    pub(crate) outcome: Outcome,
}

/// What a watch event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Added,
    Modified,
    Deleted,
}

/// One watch event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: Kind,
    pub(crate) key: String,
    pub(crate) version: Version,
}

impl Seen {
    /// Reads one event of a watch; `None` for a bookmark.
    pub(crate) fn read(kind: &str, object: &Value) -> Result<Option<Self>, Torn> {
        let kind = match kind {
            "ADDED" => Kind::Added,
            "MODIFIED" => Kind::Modified,
            "DELETED" => Kind::Deleted,
            "BOOKMARK" => return Ok(None),
            _ => return Err(Torn(format!("{kind} {object}"))),
        };
        let (key, version) = read_object(object)?;
        Ok(Some(Self { kind, key, version }))
    }
}

/// The clock of a history: it orders what different writers did.
#[derive(Debug, Default)]
pub(crate) struct HistoryClock {
    tick: AtomicU64,
    acknowledged: AtomicU64,
}

impl HistoryClock {
    /// The next moment.
    pub(crate) fn tick(&self) -> u64 {
        self.tick.fetch_add(1, Ordering::SeqCst)
    }

    /// The greatest version that was acknowledged to anybody.
    pub(crate) fn floor(&self) -> u64 {
        self.acknowledged.load(Ordering::SeqCst)
    }

    /// Notes an acknowledged version.
    pub(crate) fn acknowledge(&self, revision: u64) {
        self.acknowledged.fetch_max(revision, Ordering::SeqCst);
    }
}
