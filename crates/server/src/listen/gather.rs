//! [`gather`]: what one connection writes in one turn goes out in one piece.
//!
//! HTTP/2 flushes after every frame that is not tiny, and a flush is a TLS record and a system
//! call. With fifty watches on a connection that would be fifty of each for one event. So the
//! protocol writes into memory, its flushes do nothing, and whoever drives the connection flushes
//! for it when it has nothing more to do for now:
//!
//! ```text
//!  frame ─▶ ┐
//!  frame ─▶ ├─ Gathered (≤ 64 KiB) ── Outlet::poll_flush, once a turn ─▶ TLS records ─▶ socket
//!  frame ─▶ ┘
//! ```
//! The buffer is given back when it is empty: an idle connection has none. The lock is taken by
//! the connection's own task alone.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};

/// What waits for a flush; more is written through.
const GATHERED_BYTES_MAX: usize = 64 << 10;

struct Shared<I> {
    io: I,
    waiting: Vec<u8>,
    sent: usize,
    below: Below,
    flushing: Flushing,
}

/// What is known of the layer below, which has a buffer of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    /// It holds nothing back.
    Flushed,
    /// It was given something since its last flush.
    Written,
}

/// Who decides when what was gathered is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flushing {
    /// Whoever drives the connection, once a turn.
    ByTurn,
    /// The protocol as well: HTTP/1.1, which flushes once a turn by itself, and whose connection
    /// may go on as something that nobody drives.
    ByProtocol,
}

/// The connection as the protocol sees it.
pub(super) struct Gathered<I>(Arc<Mutex<Shared<I>>>);

/// The handle for flushing.
pub(super) struct Outlet<I>(Arc<Mutex<Shared<I>>>);

/// Splits a connection into what the protocol reads and writes, and what flushes it.
pub(super) fn gather<I>(io: I, flushing: Flushing) -> (Gathered<I>, Outlet<I>) {
    let shared = Arc::new(Mutex::new(Shared {
        io,
        waiting: Vec::new(),
        sent: 0,
        below: Below::Flushed,
        flushing,
    }));
    (Gathered(Arc::clone(&shared)), Outlet(shared))
}

fn lock<I>(shared: &Mutex<Shared<I>>) -> MutexGuard<'_, Shared<I>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<I: Write + Unpin> Outlet<I> {
    /// Sends what was gathered. After `Pending` the task is woken when it can go on; call again.
    pub(super) fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut shared = lock(&self.0);
        ready!(shared.poll_drain(cx))?;
        shared.poll_flush(cx)
    }
}

impl<I: Write + Unpin> Shared<I> {
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self
            .waiting
            .get(self.sent..)
            .filter(|rest| !rest.is_empty())
        {
            let sent = ready!(Pin::new(&mut self.io).poll_write(cx, rest))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.below = Below::Written;
            self.sent += sent;
        }
        self.waiting = Vec::new();
        self.sent = 0;
        Poll::Ready(Ok(()))
    }

    /// Flushes the layer below, after a drain. It may take bytes and yet hold them back, so this
    /// is asked again until it is done, whether or not there is more to write.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.below == Below::Written {
            ready!(Pin::new(&mut self.io).poll_flush(cx))?;
            self.below = Below::Flushed;
        }
        Poll::Ready(Ok(()))
    }

    /// Makes room for more.
    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.waiting.len() < GATHERED_BYTES_MAX {
            return Poll::Ready(Ok(()));
        }
        self.poll_drain(cx)
    }
}

impl<I: Read + Unpin> Read for Gathered<I> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut lock(&self.0).io).poll_read(cx, buffer)
    }
}

impl<I: Write + Unpin> Write for Gathered<I> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut shared = lock(&self.0);
        ready!(shared.poll_room(cx))?;
        let taken = bytes.len().min(GATHERED_BYTES_MAX);
        shared
            .waiting
            .extend_from_slice(bytes.get(..taken).unwrap_or_default());
        Poll::Ready(Ok(taken))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut shared = lock(&self.0);
        ready!(shared.poll_room(cx))?;
        let mut taken = 0;
        for slice in slices {
            let room = GATHERED_BYTES_MAX - taken;
            let part = slice.get(..slice.len().min(room)).unwrap_or_default();
            shared.waiting.extend_from_slice(part);
            taken += part.len();
        }
        Poll::Ready(Ok(taken))
    }

    /// Nothing, where that is the driver's: see the head of this module.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut shared = lock(&self.0);
        if shared.flushing == Flushing::ByTurn {
            return Poll::Ready(Ok(()));
        }
        ready!(shared.poll_drain(cx))?;
        shared.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut shared = lock(&self.0);
        ready!(shared.poll_drain(cx))?;
        ready!(shared.poll_flush(cx))?;
        Pin::new(&mut shared.io).poll_shutdown(cx)
    }
}

/// One run of a connection until it ends: polls it, then flushes for it.
pub(super) struct Turns<'a, C, I> {
    connection: Pin<&'a mut C>,
    outlet: &'a Outlet<I>,
    pause: Pause,
}

/// Whether the connection lets others go first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// Not: an HTTP/1.1 connection has nobody who would add to what it writes.
    Never,
    /// Its streams, which were woken with it, write first.
    Due,
    /// They have had their chance.
    Taken,
}

impl<'a, C, I> Turns<'a, C, I> {
    pub(super) const fn new(
        connection: Pin<&'a mut C>,
        outlet: &'a Outlet<I>,
        pause: Pause,
    ) -> Self {
        Self {
            connection,
            outlet,
            pause,
        }
    }
}

impl<C, I> Future for Turns<'_, C, I>
where
    C: Future<Output = Result<(), hyper::Error>>,
    I: Write + Unpin,
{
    type Output = Result<(), TurnError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if this.pause == Pause::Due {
            this.pause = Pause::Taken;
            // To the end of the run queue, behind the streams that are to write.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if this.pause == Pause::Taken {
            this.pause = Pause::Due;
        }
        let ended = this.connection.as_mut().poll(cx).map_err(TurnError::Http);
        if ended.is_pending()
            && let Poll::Ready(Err(error)) = this.outlet.poll_flush(cx)
        {
            return Poll::Ready(Err(TurnError::Io(error)));
        }
        ended
    }
}

/// Why a connection ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum TurnError {
    /// The protocol.
    #[error("{0}")]
    Http(hyper::Error),
    /// What it had written could not be sent.
    #[error("{0}")]
    Io(io::Error),
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    /// A layer that takes everything and passes it on only at the second flush, as TLS does over
    /// a full socket.
    #[derive(Default)]
    struct HoldsBack {
        held: Vec<u8>,
        passed: Vec<u8>,
        flushes: usize,
    }

    impl Write for HoldsBack {
        fn poll_write(
            mut self: Pin<&mut Self>,
            _cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.held.extend_from_slice(bytes);
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.flushes += 1;
            if self.flushes == 1 {
                return Poll::Pending;
            }
            let held = std::mem::take(&mut self.held);
            self.passed.extend_from_slice(&held);
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.poll_flush(cx)
        }
    }

    #[test]
    fn what_the_layer_below_held_back_is_flushed_later() {
        let (mut gathered, outlet) = gather(HoldsBack::default(), Flushing::ByTurn);
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut gathered).poll_write(cx, b"tail").is_ready());
        assert!(outlet.poll_flush(cx).is_pending());
        assert!(outlet.poll_flush(cx).is_ready());
        assert_eq!(lock(&outlet.0).io.passed, b"tail");
        let flushes = lock(&outlet.0).io.flushes;
        assert!(outlet.poll_flush(cx).is_ready());
        assert_eq!(lock(&outlet.0).io.flushes, flushes, "nothing new to flush");
    }

    #[test]
    fn many_writes_go_out_in_one_piece() {
        let (mut gathered, outlet) = gather(HoldsBack::default(), Flushing::ByTurn);
        let cx = &mut Context::from_waker(Waker::noop());
        let slices = [io::IoSlice::new(b"a"), io::IoSlice::new(b"b")];
        assert!(
            Pin::new(&mut gathered)
                .poll_write_vectored(cx, &slices)
                .is_ready()
        );
        assert!(Pin::new(&mut gathered).poll_write(cx, b"c").is_ready());
        assert!(lock(&outlet.0).io.held.is_empty());
        assert!(outlet.poll_flush(cx).is_pending());
        assert_eq!(lock(&outlet.0).io.held, b"abc");
    }
}
