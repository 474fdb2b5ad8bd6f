//! [`Watch`]: the events of one watch, read one by one.

use std::time::Duration;

use http::{HeaderMap, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{PATIENCE, version};

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.
    pub(crate) kind: String,
    /// What it is about.
    pub(crate) object: Value,
}

impl Event {
    /// The event that a line of a stream says.
    pub(crate) fn parse(line: &str) -> Self {
        let mut event: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"));
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        Self {
            kind,
            object: event["object"].take(),
        }
    }

    /// The name of its object.
    pub(crate) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// The version of its object.
    pub(crate) fn version(&self) -> u64 {
        version(&self.object)
    }

    /// Its kind and its object's name, `ADDED a`.
    pub(crate) fn brief(&self) -> String {
        format!("{} {}", self.kind, self.name())
    }
}

/// What comes next in a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Next {
    /// An event.
    Event(Event),
    /// Nothing in the time given.
    Quiet,
    /// The clean end.
    End,
    /// The connection broke.
    Broken(String),
}

/// A watch that was answered.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The code of the answer.
    pub(crate) status: u16,
    /// Its headers.
    pub(crate) headers: HeaderMap,
    body: Incoming,
    buffer: Vec<u8>,
    /// How much of `buffer` was given out.
    taken: usize,
}

impl Watch {
    /// The watch that `response` is.
    pub(crate) fn new(response: Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        let status = head.status.as_u16();
        Self {
            status,
            headers: head.headers,
            body,
            buffer: Vec::new(),
            taken: 0,
        }
    }

    /// What comes next, waiting no longer than `bound`. Nothing is lost by a bound too short.
    pub(crate) async fn next(&mut self, bound: Duration) -> Next {
        let until = Instant::now() + bound;
        loop {
            if let Some(line) = self.line() {
                return Next::Event(Event::parse(&line));
            }
            match timeout_at(until, self.body.frame()).await {
                Err(_) => return Next::Quiet,
                Ok(None) if self.taken == self.buffer.len() => return Next::End,
                Ok(None) => return Next::Broken("the last line is not whole".to_owned()),
                Ok(Some(Err(error))) => return Next::Broken(format!("{error:?}")),
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
            }
        }
    }

    fn line(&mut self) -> Option<String> {
        let rest = &self.buffer[self.taken..];
        if let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line = std::str::from_utf8(&rest[..end]).unwrap().to_owned();
            self.taken += end + 1;
            return Some(line);
        }
        self.buffer.drain(..self.taken);
        self.taken = 0;
        None
    }

    /// The next event, which must come.
    pub(crate) async fn event(&mut self) -> Event {
        match self.next(PATIENCE).await {
            Next::Event(event) => event,
            other => panic!("waited {PATIENCE:?} for an event: {other:?}"),
        }
    }

    /// The next `count` events, which must come.
    pub(crate) async fn events(&mut self, count: usize) -> Vec<Event> {
        let mut events = Vec::new();
        while events.len() < count {
            match self.next(PATIENCE).await {
                Next::Event(event) => events.push(event),
                other => panic!(
                    "event {} of {count}: {other:?} after {events:?}",
                    events.len()
                ),
            }
        }
        events
    }

    /// All events to the end, which must be clean and come within `bound`.
    pub(crate) async fn until_end(&mut self, bound: Duration) -> Vec<Event> {
        let until = Instant::now() + bound;
        let mut events = Vec::new();
        loop {
            match self
                .next(until.saturating_duration_since(Instant::now()))
                .await
            {
                Next::Event(event) => events.push(event),
                Next::End => return events,
                other => panic!("no clean end within {bound:?}: {other:?} after {events:?}"),
            }
        }
    }

    /// Nothing may come for as long as `time`, and no end either.
    pub(crate) async fn stays_quiet(&mut self, time: Duration) {
        let next = self.next(time).await;
        assert_eq!(next, Next::Quiet);
    }
}
