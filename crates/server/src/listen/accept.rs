//! The accept loop: takes connections, gives each a task, and ends them all at a stop.
//!
//! ```text
//! serving ── stop ──▶ draining: no new connections; each is told to finish (GOAWAY,
//!    │                Connection: close) and may until the grace is over
//!    │                    │
//!    └── an accept error  └── all ended, or grace over ──▶ the rest is cut ──▶ Handler::close
//!        backs off, never
//!        ends the loop
//! ```

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

use super::connection::Connections;
use super::{Handler, Shutdown};
use crate::config::Limits;

/// The pause after the first accept that failed for want of files or memory; it doubles up to
/// [`BACKOFF_MAX`].
const BACKOFF_MIN: Duration = Duration::from_millis(5);
/// The longest pause, as Go's HTTP server has it.
const BACKOFF_MAX: Duration = Duration::from_secs(1);

/// Everything that [`serve`] needs.
pub struct Listener<H> {
    /// The listening socket.
    pub socket: TcpListener,
    /// `None` speaks plain HTTP.
    pub tls: Option<Arc<ServerConfig>>,
    /// What a client may take.
    pub limits: Limits,
    /// How long requests in flight may still take after a stop.
    pub shutdown_grace: Duration,
    /// Answers the requests.
    pub handler: Arc<H>,
    /// Ends it all.
    pub shutdown: Shutdown,
}

/// Opens the listening socket.
///
/// # Errors
/// As the system says, e.g. that the address is in use.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = std::net::TcpListener::bind(address)?;
    socket.set_nonblocking(true)?;
    TcpListener::from_std(socket)
}

/// Serves until stop is said and the last connection has ended.
pub async fn serve<H: Handler>(listener: Listener<H>) {
    let Listener {
        socket,
        tls,
        limits,
        shutdown_grace,
        handler,
        mut shutdown,
    } = listener;
    let places = Arc::new(Semaphore::new(limits.connections_max));
    let connections = Arc::new(Connections::new(
        tls.map(TlsAcceptor::from),
        limits,
        Arc::clone(&handler),
        shutdown.clone(),
    ));
    let mut tasks = JoinSet::new();
    let mut acceptor = Acceptor {
        socket,
        places,
        pause: BACKOFF_MIN,
    };
    loop {
        // All three arms are cancel-safe: nothing is lost when another one is faster.
        tokio::select! {
            () = shutdown.stopping() => break,
            (stream, from, place) = acceptor.next() => {
                let connections = Arc::clone(&connections);
                tasks.spawn(async move {
                    connections.run(stream, from).await;
                    drop(place);
                });
            }
            Some(ended) = tasks.join_next() => report(ended),
        }
    }
    drop(acceptor);
    drain(&mut tasks, shutdown_grace).await;
    handler.close().await;
}

async fn drain(tasks: &mut JoinSet<()>, grace: Duration) {
    let deadline = Instant::now() + grace;
    loop {
        match timeout_at(deadline, tasks.join_next()).await {
            Ok(Some(ended)) => report(ended),
            Ok(None) => return,
            Err(_) => {
                warn!(
                    connections = tasks.len(),
                    "cutting connections: the grace is over"
                );
                tasks.shutdown().await;
                return;
            }
        }
    }
}

fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection ended by a panic");
    }
}

struct Acceptor {
    socket: TcpListener,
    places: Arc<Semaphore>,
    pause: Duration,
}

impl Acceptor {
    /// The next connection and its place among the allowed ones. Cancel-safe: a connection is
    /// taken only after everything that waits.
    async fn next(&mut self) -> (TcpStream, SocketAddr, Option<OwnedSemaphorePermit>) {
        loop {
            // The semaphore is never closed, so there always is a place at last.
            let place = Arc::clone(&self.places).acquire_owned().await.ok();
            match self.socket.accept().await {
                Ok((stream, from)) => {
                    self.pause = BACKOFF_MIN;
                    return (stream, from, place);
                }
                Err(error) if is_of_the_client(&error) => debug!(%error, "accept"),
                Err(error) => {
                    warn!(%error, pause = ?self.pause, "accept failed, trying again");
                    let pause = self.pause;
                    self.pause = (pause * 2).min(BACKOFF_MAX);
                    sleep(pause).await;
                }
            }
        }
    }
}

/// Errors of a connection that broke before it was taken; the next one may be fine.
fn is_of_the_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}
