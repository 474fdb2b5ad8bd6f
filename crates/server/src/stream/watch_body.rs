//! [`WatchBody`]: one watcher's stream of frames.
//!
//! A lone event is the shared frame itself, not copied; what has piled up is joined into chunks of
//! up to 16 KiB, so that a burst costs few writes. Buffers are given back when they are drained.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};
use http_body::{Body, Frame};
use masthead_api::{Status, WatchEventType};
use masthead_watch::{Delivery, Polled};

use crate::hub::Subscription;
use crate::metrics::WatchGauge;
use crate::rendering::Rendering;

/// Deliveries taken from the cache at once.
const POLL_EVENTS_MAX: usize = 64;
/// Chunks of joined frames are about this long.
const CHUNK_BYTES: usize = 16 * 1024;

type Wait = Pin<Box<dyn Future<Output = Result<Subscription, Status>> + Send>>;

/// How a stream begins.
pub(crate) enum Opening {
    /// At once.
    Now(Subscription),
    /// Not: the stream is one ERROR event.
    Refused(Box<Status>),
    /// After a wait, in the stream: the response's head is sent before.
    Later(Wait),
}

impl Opening {
    /// What became of an attempt to open a watch.
    pub(crate) fn of(opened: Result<Subscription, Status>) -> Self {
        opened.map_or_else(|status| Self::Refused(Box::new(status)), Self::Now)
    }
}

enum Source {
    Waiting(Wait),
    Events(Subscription),
    Ended,
}

/// The body of an answer to a watch.
pub(crate) struct WatchBody {
    source: Source,
    rendering: Rendering,
    ready: Vec<Bytes>,
    metrics: WatchGauge,
}

impl WatchBody {
    /// A stream that begins with `opening`.
    pub(crate) fn new(opening: Opening, rendering: Rendering, metrics: WatchGauge) -> Self {
        let mut body = Self {
            source: Source::Ended,
            rendering,
            ready: Vec::new(),
            metrics,
        };
        body.open(opening);
        body
    }

    fn open(&mut self, opening: Opening) {
        self.source = match opening {
            Opening::Now(events) => Source::Events(events),
            Opening::Later(wait) => Source::Waiting(wait),
            Opening::Refused(status) => {
                self.push(WatchEventType::Error.frame(&status.to_json()));
                Source::Ended
            }
        };
    }

    fn push(&mut self, frame: Bytes) {
        self.metrics.event(frame.len());
        self.ready.push(frame);
    }

    fn render(&mut self, delivery: &Delivery) {
        let frame = match delivery {
            Delivery::Initial(object) => {
                self.metrics.initial(1);
                Some(self.rendering.initial(object))
            }
            Delivery::Event { event, seen } => self.rendering.event(event, *seen),
            Delivery::InitialEventsEnd(revision) => Some(self.rendering.bookmark(*revision, true)),
            Delivery::Bookmark(revision) => Some(self.rendering.bookmark(*revision, false)),
        };
        if let Some(frame) = frame {
            self.push(frame);
        }
    }

    /// The next chunk: one frame as it is, or several joined.
    fn chunk(&mut self) -> Option<Bytes> {
        let total: usize = self.ready.iter().map(Bytes::len).sum();
        if self.ready.len() <= 1 {
            return self.ready.pop();
        }
        let mut chunk = BytesMut::with_capacity(total.min(CHUNK_BYTES * 2));
        let mut taken = 0;
        for frame in &self.ready {
            if taken > 0 && chunk.len() + frame.len() > CHUNK_BYTES {
                break;
            }
            chunk.put_slice(frame);
            taken += 1;
        }
        self.ready.drain(..taken);
        if self.ready.is_empty() {
            self.ready = Vec::new();
        }
        Some(chunk.freeze())
    }
}

impl Body for WatchBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let this = self.get_mut();
        if let Some(chunk) = this.chunk() {
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        loop {
            let polled = match &mut this.source {
                Source::Ended => return Poll::Ready(None),
                Source::Waiting(wait) => {
                    let opened = std::task::ready!(wait.as_mut().poll(context));
                    this.open(Opening::of(opened));
                    Polled::More
                }
                Source::Events(events) => {
                    let mut deliveries = Vec::new();
                    let polled = events.poll(context, POLL_EVENTS_MAX, &mut deliveries);
                    for delivery in &deliveries {
                        this.render(delivery);
                    }
                    polled
                }
            };
            if let Polled::Ended(_) = polled {
                this.source = Source::Ended;
            }
            if let Some(chunk) = this.chunk() {
                return Poll::Ready(Some(Ok(Frame::data(chunk))));
            }
            if polled == Polled::Pending {
                return Poll::Pending;
            }
        }
    }
}
