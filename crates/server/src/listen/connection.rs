//! One connection, from the accept to its end: handshake, protocol, requests.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tracing::{debug, error};

use super::gather::{Flushing, Gathered, Outlet, Pause, TurnError, Turns, gather};
use super::{Handler, Peer, ResponseBody, Shutdown, tls};
use crate::auth::User;
use crate::config::Limits;

/// What a request gets whose handler panicked.
const PANICKED: &str = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal error occurred: this request hit a bug in the server, whose log says more","reason":"InternalError","code":500}
"#;
/// The answer to plain HTTP on the HTTPS port; HTTP/1.0, so that anything understands it.
const WANTS_TLS: &[u8] =
    b"HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain\r\n\r\nThis port speaks HTTPS.\n";
/// The first byte of every TLS connection.
const TLS_HANDSHAKE: [u8; 1] = [0x16];
/// How long an idle connection may take to end at a stop.
const GOODBYE_MAX: Duration = Duration::from_secs(1);
/// How far the read buffer of an HTTP/1.1 connection may grow for a large upload.
const READ_BUFFER_BYTES_MAX: usize = 256 << 10;
/// Uploads in flight for one stream; objects are small, so this seldom fills.
const STREAM_WINDOW_BYTES: u32 = 256 << 10;
/// Uploads in flight for one connection.
const CONNECTION_WINDOW_BYTES: u32 = 1 << 20;

/// What all connections share.
pub(super) struct Connections<H> {
    tls: Option<TlsAcceptor>,
    limits: Limits,
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
    handler: Arc<H>,
    shutdown: Shutdown,
}

impl<H: Handler> Connections<H> {
    pub(super) fn new(
        tls: Option<TlsAcceptor>,
        limits: Limits,
        handler: Arc<H>,
        shutdown: Shutdown,
    ) -> Self {
        let mut http1 = http1::Builder::new();
        http1
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header_read_timeout)
            .max_header_size(limits.header_bytes_max)
            .max_buf_size(limits.header_bytes_max.max(READ_BUFFER_BYTES_MAX));
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .timer(TokioTimer::new())
            .max_concurrent_streams(limits.http2_streams_max)
            .max_send_buf_size(limits.http2_send_buffer_bytes_max)
            .max_header_list_size(u32::try_from(limits.header_bytes_max).unwrap_or(u32::MAX))
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .keep_alive_interval(limits.http2_ping_interval)
            .keep_alive_timeout(limits.http2_ping_timeout);
        Self {
            tls,
            limits,
            http1,
            http2,
            handler,
            shutdown,
        }
    }

    /// Serves one connection to its end. Its errors are the client's or the network's, so they
    /// are worth a line only for who looks for them.
    pub(super) async fn run(&self, stream: TcpStream, from: SocketAddr) {
        let ended = match stream.set_nodelay(true) {
            Err(error) => Err(End::Io(error)),
            Ok(()) => match &self.tls {
                Some(acceptor) => self.run_tls(acceptor, stream, from).await,
                None => self.run_plain(stream, from).await,
            },
        };
        if let Err(end) = ended {
            debug!(%from, error = %end, "connection ended");
        }
    }

    async fn run_tls(
        &self,
        acceptor: &TlsAcceptor,
        stream: TcpStream,
        from: SocketAddr,
    ) -> Result<(), End> {
        let limit = self.limits.handshake_timeout;
        let stream = self
            .begin("TLS handshake", limit, handshake(acceptor, stream))
            .await?;
        let Some(stream) = stream else { return Ok(()) };
        let (_, session) = stream.get_ref();
        let http2 = session.alpn_protocol() == Some(tls::HTTP2);
        let user = tls::user_of(session.peer_certificates());
        self.serve(
            TokioIo::new(stream),
            Peer {
                addr: from,
                user,
                http2,
            },
        )
        .await
    }

    async fn run_plain(&self, stream: TcpStream, from: SocketAddr) -> Result<(), End> {
        let limit = self.limits.header_read_timeout;
        let http2 = self
            .begin("first request", limit, speaks_http2(&stream))
            .await?;
        self.serve(
            TokioIo::new(stream),
            Peer {
                addr: from,
                user: None,
                http2,
            },
        )
        .await
    }

    /// What a client must do before its first request, within `limit` and before a stop.
    async fn begin<T>(
        &self,
        what: &'static str,
        limit: Duration,
        work: impl Future<Output = io::Result<T>>,
    ) -> Result<T, End> {
        let mut shutdown = self.shutdown.clone();
        // Where the work is dropped, the connection goes with it.
        tokio::select! {
            () = shutdown.stopping() => Err(End::Stopping),
            done = timeout(limit, work) => Ok(done.map_err(|_| End::Slow(what))??),
        }
    }

    async fn serve<I>(&self, io: I, peer: Peer) -> Result<(), End>
    where
        I: Read + Write + Unpin + Send + 'static,
    {
        let http2 = peer.http2;
        let traffic = Arc::new(Traffic::default());
        let service = Requests {
            handler: Arc::clone(&self.handler),
            peer,
            traffic: Arc::clone(&traffic),
        };
        if http2 {
            let (io, outlet) = gather(io, Flushing::ByTurn);
            let connection = self.http2.serve_connection(io, service);
            self.drive(connection, &outlet, Pause::Due, &traffic).await
        } else {
            let (io, outlet) = gather(io, Flushing::ByProtocol);
            let connection = self.http1.serve_connection(io, service).with_upgrades();
            self.drive(connection, &outlet, Pause::Never, &traffic)
                .await
        }
    }

    /// Drives a connection to its end: cuts it where no request ever comes, and lets it finish
    /// what is in flight at a stop.
    async fn drive<C, I>(
        &self,
        connection: C,
        outlet: &Outlet<I>,
        pause: Pause,
        traffic: &Traffic,
    ) -> Result<(), End>
    where
        C: Graceful,
        I: Write + Unpin,
    {
        let mut connection = pin!(connection);
        let mut shutdown = self.shutdown.clone();
        let first = self
            .limits
            .header_read_timeout
            .saturating_add(Duration::from_secs(1));
        // The connection itself keeps its state over a dropped poll, and so do the others.
        tokio::select! {
            ended = Turns::new(connection.as_mut(), outlet, pause) => return Ok(ended?),
            () = shutdown.stopping() => {
                connection.as_mut().graceful_shutdown();
                return finish(Turns::new(connection, outlet, pause), traffic).await;
            }
            () = sleep(first) => {}
        }
        if !traffic.asked.load(Ordering::Relaxed) {
            return Err(End::Slow("first request"));
        }
        tokio::select! {
            ended = Turns::new(connection.as_mut(), outlet, pause) => Ok(ended?),
            () = shutdown.stopping() => {
                connection.as_mut().graceful_shutdown();
                finish(Turns::new(connection, outlet, pause), traffic).await
            }
        }
    }
}

/// What passes over one connection.
#[derive(Default)]
struct Traffic {
    /// Whether there ever was a request.
    asked: AtomicBool,
    /// Held by each request until the body of its answer is done with.
    busy: Arc<()>,
}

/// Lets a connection end by itself; one on which nothing is under way is not waited for long. An
/// HTTP/2 client that does not read does not say goodbye either.
async fn finish(
    turns: impl Future<Output = Result<(), TurnError>>,
    traffic: &Traffic,
) -> Result<(), End> {
    let mut turns = pin!(turns);
    loop {
        tokio::select! {
            ended = turns.as_mut() => return Ok(ended?),
            () = sleep(GOODBYE_MAX) => {
                if Arc::strong_count(&traffic.busy) == 1 {
                    return Ok(());
                }
            }
        }
    }
}

/// A connection that can be told to end after what is in flight.
trait Graceful: Future<Output = Result<(), hyper::Error>> {
    fn graceful_shutdown(self: Pin<&mut Self>);
}

impl<I, H> Graceful for http1::UpgradeableConnection<Gathered<I>, Requests<H>>
where
    I: Read + Write + Unpin + Send + 'static,
    H: Handler,
{
    fn graceful_shutdown(self: Pin<&mut Self>) {
        Self::graceful_shutdown(self);
    }
}

impl<I, H> Graceful for http2::Connection<Gathered<I>, Requests<H>, TokioExecutor>
where
    I: Read + Write + Unpin + Send + 'static,
    H: Handler,
{
    fn graceful_shutdown(self: Pin<&mut Self>) {
        Self::graceful_shutdown(self);
    }
}

/// Why a connection ended early.
#[derive(Debug, thiserror::Error)]
enum End {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Turn(#[from] TurnError),
    #[error("the client was too slow: {0}")]
    Slow(&'static str),
    #[error("the server stops")]
    Stopping,
}

/// The TLS stream; `None` where the client speaks no TLS, which it was told.
async fn handshake(
    acceptor: &TlsAcceptor,
    mut stream: TcpStream,
) -> io::Result<Option<TlsStream<TcpStream>>> {
    let mut first = [0];
    if stream.peek(&mut first).await? == 1 && first != TLS_HANDSHAKE {
        stream.write_all(WANTS_TLS).await?;
        stream.shutdown().await?;
        // The request is read, or the system would throw the answer away with a reset.
        let mut rest = [0; 4096];
        while stream.read(&mut rest).await? > 0 {}
        return Ok(None);
    }
    acceptor.accept(stream).await.map(Some)
}

/// Whether the client starts with the HTTP/2 preface. Its first letters, `PRI`, begin no method
/// of HTTP/1.1. The caller bounds the time.
async fn speaks_http2(stream: &TcpStream) -> io::Result<bool> {
    let mut start = [0; 3];
    loop {
        let got = stream.peek(&mut start).await?;
        let seen = start.get(..got).unwrap_or_default();
        if got == 0 || !b"PRI".starts_with(seen) {
            return Ok(false);
        }
        if got == start.len() {
            return Ok(true);
        }
        // One or two letters wait in the socket, which stays readable: look again a bit later.
        sleep(Duration::from_millis(10)).await;
    }
}

/// The requests of one connection.
struct Requests<H> {
    handler: Arc<H>,
    peer: Peer,
    traffic: Arc<Traffic>,
}

impl<H: Handler> Service<Request<Incoming>> for Requests<H> {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    // Boxed, so that a long-running response does not keep the place that its handler needed.
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.traffic.asked.store(true, Ordering::Relaxed);
        let busy = Arc::clone(&self.traffic.busy);
        let answer = answer(Arc::clone(&self.handler), request, self.peer.clone());
        Box::pin(async move {
            let response = answer.await?;
            Ok(response.map(|body| body.holding(busy)))
        })
    }
}

async fn answer<H: Handler>(
    handler: Arc<H>,
    request: Request<Incoming>,
    peer: Peer,
) -> Result<Response<ResponseBody>, Infallible> {
    let user = peer.user.clone();
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let mut answer = pin!(handler.handle(request, peer));
    let caught = poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(response)) => Poll::Ready(Some(response)),
            Err(_) => Poll::Ready(None),
        },
    )
    .await;
    let response = caught.unwrap_or_else(|| {
        let user = user.as_deref().map(User::name);
        error!(%method, path = uri.path(), user, "a request's handler panicked");
        panicked()
    });
    Ok(if method == Method::HEAD {
        without_body(response)
    } else {
        response
    })
}

/// The answer to a HEAD: the length of its body, but not the body. Over HTTP/1.1 the protocol's
/// library sees to that; over HTTP/2 it would send the body, which breaks the stream.
fn without_body(response: Response<ResponseBody>) -> Response<ResponseBody> {
    let (mut head, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        head.headers.entry(CONTENT_LENGTH).or_insert(length.into());
    }
    Response::from_parts(head, ResponseBody::empty())
}

fn panicked() -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::full(PANICKED));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}
