//! [`ResponseBody`]: what a handler answers with: nothing, bytes, or a stream.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// The body of one response. Bytes need no allocation of their own; a stream is boxed.
pub struct ResponseBody {
    kind: Kind,
    _held: Option<Arc<()>>,
}

enum Kind {
    Full(Bytes),
    Stream(Pin<Box<dyn Body<Data = Bytes, Error = io::Error> + Send>>),
}

impl ResponseBody {
    /// Nothing.
    pub const fn empty() -> Self {
        Self {
            kind: Kind::Full(Bytes::new()),
            _held: None,
        }
    }

    /// These bytes, with their length announced.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        Self {
            kind: Kind::Full(bytes.into()),
            _held: None,
        }
    }

    /// What `body` gives, frame by frame. An error ends the connection's stream without its
    /// proper end, so that the client does not take a part for the whole.
    pub fn stream(body: impl Body<Data = Bytes, Error = io::Error> + Send + 'static) -> Self {
        Self {
            kind: Kind::Stream(Box::pin(body)),
            _held: None,
        }
    }
}

impl ResponseBody {
    /// This body, which keeps `held` until it is dropped: who gave it sees how many there are.
    pub(super) fn holding(self, held: Arc<()>) -> Self {
        Self {
            _held: Some(held),
            ..self
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match &mut self.kind {
            Kind::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Kind::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Kind::Stream(body) => body.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Full(bytes) => bytes.is_empty(),
            Kind::Stream(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Stream(body) => body.size_hint(),
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Full(bytes) => write!(f, "ResponseBody({} bytes)", bytes.len()),
            Kind::Stream(_) => f.write_str("ResponseBody(stream)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_announced_where_known() {
        assert_eq!(ResponseBody::full("abc").size_hint().exact(), Some(3));
        assert!(ResponseBody::empty().is_end_stream());
        let stream = ResponseBody::stream(ResponseBody::full("abc"));
        assert_eq!(stream.size_hint().exact(), Some(3));
    }
}
