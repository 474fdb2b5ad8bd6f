//! [`Load`]: so many clients, each with a connection, share a number of calls; each client makes
//! one call after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::client::{Call, Client, ClientError};
use super::connection::Connection;
use super::faults::Faults;
use super::objects::Objects;
use super::progress::Counter;
use super::stats::Latencies;
use super::wire::ListReader;

/// With more faults than this a load ends: what it would measure is refusals.
const FAULTS_MAX: u64 = 100;
/// A list of more pages than this does not end.
const PAGES_MAX: u32 = 1_000_000;

/// What each call is.
#[derive(Clone, Debug)]
pub(super) enum Job {
    /// Makes the objects with the numbers 0, `stride`, 2 · `stride` and so on.
    Create { objects: Objects, stride: u64 },
    /// Reads one object.
    Get { path: String },
    /// Reads all objects of which there must be `objects`, `limit` a page if that is not 0.
    List {
        path: String,
        objects: u64,
        limit: u32,
    },
}

/// A list that is not whole, or a call that failed.
#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("a list has {seen} objects of the load, not {wanted}")]
    Count { seen: u64, wanted: u64 },
}

/// A number of calls for a number of clients.
pub(super) struct Load {
    pub(super) job: Job,
    pub(super) calls: u64,
    pub(super) clients: u32,
    pub(super) done: Counter,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    /// Calls that were answered well.
    pub(super) good: u64,
    /// Bytes in the bodies of the answers.
    pub(super) bytes: u64,
    pub(super) elapsed: Duration,
    pub(super) latencies: Latencies,
    pub(super) faults: Arc<Faults>,
}

/// What the clients share.
struct Shared {
    job: Job,
    calls: u64,
    next: AtomicU64,
    done: Counter,
    faults: Arc<Faults>,
}

/// What one client did.
#[derive(Default)]
struct Share {
    good: u64,
    bytes: u64,
    latencies: Latencies,
}

/// Clients that are connected.
pub(super) struct Ready {
    shared: Arc<Shared>,
    connections: Vec<Connection>,
}

impl Load {
    /// Connects the clients, so that the connecting is not measured.
    pub(super) async fn connect(self, client: &Client) -> Result<Ready, ClientError> {
        let clients = u64::from(self.clients).min(self.calls);
        let mut connections = Vec::with_capacity(clients as usize);
        for _ in 0..clients {
            connections.push(client.connect().await?);
        }
        let shared = Shared {
            job: self.job,
            calls: self.calls,
            next: AtomicU64::new(0),
            done: self.done,
            faults: Arc::default(),
        };
        Ok(Ready {
            shared: Arc::new(shared),
            connections,
        })
    }
}

impl Ready {
    /// Makes the calls.
    pub(super) async fn run(self) -> Loaded {
        let began = Instant::now();
        let mut clients = JoinSet::new();
        for connection in self.connections {
            clients.spawn(work(Arc::clone(&self.shared), connection));
        }
        let mut loaded = Loaded {
            faults: Arc::clone(&self.shared.faults),
            ..Loaded::default()
        };
        while let Some(ended) = clients.join_next().await {
            match ended {
                Ok(share) => {
                    loaded.good += share.good;
                    loaded.bytes += share.bytes;
                    loaded.latencies.add(&share.latencies);
                }
                Err(error) => loaded.faults.add(&error),
            }
        }
        loaded.elapsed = began.elapsed();
        loaded
    }
}

async fn work(shared: Arc<Shared>, mut connection: Connection) -> Share {
    let mut share = Share::default();
    while shared.faults.count() <= FAULTS_MAX {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        if number >= shared.calls {
            break;
        }
        let began = Instant::now();
        match shared.job.call(&mut connection, number).await {
            Ok(bytes) => {
                share.latencies.record_duration(began.elapsed());
                share.good += 1;
                share.bytes += bytes;
            }
            Err(error) => shared.faults.add(&error),
        }
        shared.done.fetch_add(1, Ordering::Relaxed);
    }
    share
}

impl Job {
    /// Makes the call of this number; returns the length of the answer.
    async fn call(&self, connection: &mut Connection, number: u64) -> Result<u64, JobError> {
        match self {
            Self::Create { objects, stride } => {
                let call = objects.create(number * stride);
                Ok(connection.stream(&call, |_| {}).await?)
            }
            Self::Get { path } => {
                let call = Call::get(path.clone());
                Ok(connection.stream(&call, |_| {}).await?)
            }
            Self::List {
                path,
                objects,
                limit,
            } => list(connection, path, *limit, *objects).await,
        }
    }
}

/// Reads a whole list, page by page.
async fn list(
    connection: &mut Connection,
    path: &str,
    limit: u32,
    wanted: u64,
) -> Result<u64, JobError> {
    let (mut bytes, mut seen) = (0, 0);
    let mut query = match limit {
        0 => String::new(),
        limit => format!("?limit={limit}"),
    };
    for _ in 0..PAGES_MAX {
        let mut reader = ListReader::default();
        let call = Call::get([path, query.as_str()].concat());
        bytes += connection.stream(&call, |data| reader.push(data)).await?;
        seen += reader.objects();
        let Some(token) = reader.token() else {
            break;
        };
        query = format!("?limit={limit}&continue={token}");
    }
    if seen == wanted {
        Ok(bytes)
    } else {
        Err(JobError::Count { seen, wanted })
    }
}
