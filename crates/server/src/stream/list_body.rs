//! [`ListBody`]: a list that is written while it is read from its snapshot, in constant extra
//! memory and without a lock.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::{Body, Frame};
use masthead_api::Object;
use masthead_api::Revision;
use masthead_watch::SnapshotCursor;

use super::GZIP_FROM_BYTES;
use crate::rendering::Rendering;

/// Chunks are about this long.
const CHUNK_BYTES: usize = 64 * 1024;
/// Objects taken from the snapshot at once.
const BATCH_OBJECTS: usize = 128;

/// What a list says of itself before its items.
#[derive(Debug, Clone)]
pub(crate) struct ListHead {
    /// The revision that the list represents, in decimal.
    pub(crate) revision: String,
    /// The token for the next page.
    pub(crate) continue_token: Option<String>,
    /// How many items are left after this page.
    pub(crate) remaining: Option<u64>,
}

impl ListHead {
    /// A whole list at `revision`.
    pub(crate) fn at(revision: Revision) -> Self {
        Self {
            revision: revision.to_string(),
            continue_token: None,
            remaining: None,
        }
    }
}

/// Where the items come from.
pub(crate) enum Items {
    /// A whole snapshot.
    Cursor(SnapshotCursor),
    /// One page.
    Page(std::vec::IntoIter<Arc<Object>>),
}

enum Phase {
    Items,
    Done,
}

/// The body of an answer to a list.
pub(crate) struct ListBody {
    items: Items,
    rendering: Rendering,
    phase: Phase,
    first: bool,
    buffer: BytesMut,
    batch: Vec<Arc<Object>>,
    gzip: Option<GzEncoder<Vec<u8>>>,
}

impl ListBody {
    /// A list of `items` under `head`.
    pub(crate) fn new(head: &ListHead, items: Items, mut rendering: Rendering) -> Self {
        let mut buffer = BytesMut::with_capacity(4096);
        rendering.list_head(head, &mut buffer);
        Self {
            items,
            rendering,
            phase: Phase::Items,
            first: true,
            buffer,
            batch: Vec::new(),
            gzip: None,
        }
    }

    /// Writes items until `bytes` are in the buffer or the list is complete.
    fn fill(&mut self, bytes: usize) {
        while self.buffer.len() < bytes && matches!(self.phase, Phase::Items) {
            self.batch.clear();
            match &mut self.items {
                Items::Cursor(cursor) => {
                    let batch = &mut self.batch;
                    let take = |object: &Arc<Object>| batch.push(Arc::clone(object));
                    cursor.advance(BATCH_OBJECTS, usize::MAX, take);
                }
                Items::Page(page) => self.batch.extend(page.by_ref().take(BATCH_OBJECTS)),
            }
            if self.batch.is_empty() {
                Rendering::list_tail(&mut self.buffer);
                self.phase = Phase::Done;
                self.batch = Vec::new();
                return;
            }
            for object in &self.batch {
                if !self.first {
                    self.buffer.put_u8(b',');
                }
                self.first = false;
                self.rendering.list_item(object, &mut self.buffer);
            }
        }
    }

    /// The whole list where it is short: then its length can be told.
    pub(crate) fn whole(&mut self, bytes_max: usize) -> Option<Bytes> {
        self.fill(bytes_max);
        matches!(self.phase, Phase::Done).then(|| self.buffer.split().freeze())
    }

    /// Compresses the rest, if the list is long enough for that. Answers whether it will be.
    pub(crate) fn compress(&mut self) -> bool {
        self.fill(GZIP_FROM_BYTES);
        let long = self.buffer.len() >= GZIP_FROM_BYTES;
        if long {
            self.gzip = Some(GzEncoder::new(Vec::new(), Compression::fast()));
        }
        long
    }

    fn next_chunk(&mut self) -> std::io::Result<Option<Bytes>> {
        self.fill(CHUNK_BYTES);
        let plain = self.buffer.split().freeze();
        let Some(gzip) = &mut self.gzip else {
            return Ok((!plain.is_empty()).then_some(plain));
        };
        std::io::Write::write_all(gzip, &plain)?;
        if matches!(self.phase, Phase::Done) {
            let done = self.gzip.take().map(GzEncoder::finish).transpose()?;
            return Ok(done.map(Bytes::from));
        }
        Ok(Some(Bytes::from(std::mem::take(gzip.get_mut()))))
    }
}

impl Body for ListBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let this = self.get_mut();
        loop {
            match this.next_chunk() {
                // A compressor may hold everything back: then there is more to read.
                Ok(Some(chunk)) if chunk.is_empty() => {}
                Ok(Some(chunk)) => return Poll::Ready(Some(Ok(Frame::data(chunk)))),
                Ok(None) => return Poll::Ready(None),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }
}
