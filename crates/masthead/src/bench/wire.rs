//! What the load reads of watch streams and lists, by looking for bytes: no tree is built, so that
//! many events cost little. What it looks for cannot be in managedFields, where names begin with
//! `f:`.

use std::fmt;
use std::time::Instant;

use memchr::memchr;
use memchr::memmem::Finder;
use serde_json::Value;

/// The annotation that says which write an event is of, and when it was sent.
pub(super) const SENT: &str = "masthead-bench.sent";
/// The label that each object of the load has.
pub(super) const SUBJECT: &str = "masthead-bench.subject";
/// A frame longer than this is none.
const FRAME_BYTES_MAX: usize = 8 << 20;
/// A list says its continue token before its items.
const TOKEN_WITHIN_BYTES: usize = 8 << 10;

/// The time of the load: nanoseconds from its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(Instant);

impl Clock {
    /// Starts at 0.
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    /// Now.
    pub(super) fn nanos(self) -> u64 {
        self.0.elapsed().as_nanos().try_into().unwrap_or(u64::MAX)
    }
}

/// Which write it is, and when it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) number: u64,
    pub(super) sent_nanos: u64,
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08}.{:015}", self.number, self.sent_nanos)
    }
}

impl Marker {
    fn parse(text: &[u8]) -> Option<Self> {
        let (number, sent) = std::str::from_utf8(text).ok()?.split_once('.')?;
        Some(Self {
            number: number.parse().ok()?,
            sent_nanos: sent.parse().ok()?,
        })
    }
}

/// One frame of a watch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// An object changed; its version, and the marker if the change is one of the load's.
    Change {
        version: u64,
        marker: Option<Marker>,
    },
    Bookmark,
    /// The server ends the stream for this reason.
    Error(String),
    /// Not a frame.
    Unknown,
}

/// Looks for what a frame says.
pub(super) struct Reader {
    sent: Finder<'static>,
    version: Finder<'static>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            sent: Finder::new(br#""masthead-bench.sent":""#),
            version: Finder::new(br#""resourceVersion":""#),
        }
    }
}

impl Reader {
    /// What `line` says.
    pub(super) fn frame(&self, line: &[u8]) -> Frame {
        let Some(rest) = line.strip_prefix(br#"{"type":""#) else {
            return Frame::Unknown;
        };
        match rest.first() {
            Some(b'B') => Frame::Bookmark,
            Some(b'E') => Frame::Error(told(line)),
            Some(b'A' | b'M' | b'D') => {
                let version = text(rest, &self.version).and_then(number);
                let marker = text(rest, &self.sent).and_then(Marker::parse);
                version.map_or(Frame::Unknown, |version| Frame::Change { version, marker })
            }
            _ => Frame::Unknown,
        }
    }
}

/// The text between what `finder` finds and the next quote.
fn text<'a>(bytes: &'a [u8], finder: &Finder<'_>) -> Option<&'a [u8]> {
    let rest = bytes.get(finder.find(bytes)? + finder.needle().len()..)?;
    rest.get(..memchr(b'"', rest)?)
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn told(line: &[u8]) -> String {
    let frame: Value = serde_json::from_slice(line).unwrap_or_default();
    let message = frame.pointer("/object/message").and_then(Value::as_str);
    message.unwrap_or("an error without a message").to_owned()
}

/// Cuts a stream into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
}

/// A line that does not end.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a frame is longer than {FRAME_BYTES_MAX} bytes")]
pub(super) struct EndlessLine;

impl Lines {
    /// Takes the next bytes, and hands each line that is now whole to `each`.
    pub(super) fn push(
        &mut self,
        mut data: &[u8],
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), EndlessLine> {
        while let Some(end) = memchr(b'\n', data) {
            let (line, after) = data.split_at(end);
            if self.rest.is_empty() {
                each(line);
            } else {
                self.rest.extend_from_slice(line);
                each(&self.rest);
                self.rest.clear();
            }
            data = after.get(1..).unwrap_or_default();
        }
        if self.rest.len() + data.len() > FRAME_BYTES_MAX {
            return Err(EndlessLine);
        }
        self.rest.extend_from_slice(data);
        if self.rest.is_empty() {
            // An idle watcher keeps nothing.
            self.rest = Vec::new();
        }
        Ok(())
    }
}

/// Counts the objects of the load in a list, and finds its continue token.
pub(super) struct ListReader {
    subject: Finder<'static>,
    /// The last bytes, for an object whose label lies across two parts.
    tail: Vec<u8>,
    head: Vec<u8>,
    objects: u64,
}

impl Default for ListReader {
    fn default() -> Self {
        Self {
            subject: Finder::new(br#""masthead-bench.subject":""#),
            tail: Vec::new(),
            head: Vec::new(),
            objects: 0,
        }
    }
}

impl ListReader {
    /// Takes the next bytes of the list.
    pub(super) fn push(&mut self, data: &[u8]) {
        let room = TOKEN_WITHIN_BYTES.saturating_sub(self.head.len());
        self.head
            .extend_from_slice(data.get(..room).unwrap_or(data));
        // A label can begin in the tail, but no whole one is in it.
        let overlap = self.subject.needle().len() - 1;
        let kept = self.tail.len();
        let begin = data.get(..overlap).unwrap_or(data);
        self.tail.extend_from_slice(begin);
        self.objects += self.subject.find_iter(&self.tail).count() as u64;
        self.objects += self.subject.find_iter(data).count() as u64;
        // What was found both in the seam and in the data lies in neither whole.
        if data.len() >= overlap {
            self.tail.clear();
            let from = data.len() - overlap;
            self.tail
                .extend_from_slice(data.get(from..).unwrap_or_default());
        } else {
            let from = (kept + data.len()).saturating_sub(overlap);
            self.tail.drain(..from);
        }
    }

    /// Objects so far.
    pub(super) const fn objects(&self) -> u64 {
        self.objects
    }

    /// The token for the next page, ready for a query; `None` on the last page.
    pub(super) fn token(&self) -> Option<String> {
        let token = text(&self.head, &Finder::new(br#""continue":""#))?;
        (!token.is_empty()).then(|| escape(token))
    }
}

/// Percent-encoding of all but letters, digits, `-`, `_`, `.` and `~`.
fn escape(text: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(byte) {
            escaped.push(char::from(*byte));
        } else {
            let digits = [byte >> 4, byte & 15].map(|half| char::from_digit(half.into(), 16));
            escaped.push('%');
            escaped.extend(digits.into_iter().flatten().map(|c| c.to_ascii_uppercase()));
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
