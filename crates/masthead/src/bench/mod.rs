//! `masthead bench`: load for any Kubernetes API server, and what it costs there.
//!
//! ```text
//! args ─▶ access, tls ─▶ client, connection ─┬▶ load      creates, gets, lists
//!                                            ├▶ fleet     watchers
//!                                            └▶ writing   updates ─▶ wire (found again in the events)
//! processes (the server's cost), stats ─▶ report
//! ```
//! All of it is one process with one clock, so that the time from a write to its event needs no
//! agreement of clocks. The server is another process: what the load uses is never counted.

mod access;
mod args;
mod client;
mod connection;
mod error;
mod faults;
mod fleet;
mod kubeconfig;
mod layout;
mod load;
mod namespace;
mod objects;
mod processes;
mod progress;
mod report;
mod stats;
mod tls;
mod watcher;
mod wire;
mod work;
mod writing;

use std::ffi::OsStr;
use std::io::{self, Write as _};

use serde_json::Value;

use access::Access;
pub(crate) use args::BenchArgs;
use args::{Common, Work};
use client::{Call, Client, ClientError};
pub(crate) use error::BenchError;
use namespace::Namespace;
use processes::Processes;
use progress::Progress;
use report::{Place, Report, Subject};
use wire::Clock;
use work::Bench;

use crate::open_files;
use crate::signals::Signals;

/// More threads than this the load does not need.
const WORKERS_MAX: usize = 8;
/// Open files besides the connections.
const FILES_SPARE: u64 = 64;

/// Measures, and tells the results; `environment` is the value of `$KUBECONFIG`.
pub(crate) fn run(args: &BenchArgs, environment: Option<&OsStr>) -> Result<(), BenchError> {
    let client = Client::new(Access::of(&args.common, environment)?);
    let processes = match args.common.pids.as_slice() {
        [] => None,
        pids => Some(Processes::new(pids)?),
    };
    // Where the system does not give them, the check that follows says so.
    open_files::raise().ok();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.min(WORKERS_MAX))
        .thread_name("bench")
        .enable_all()
        .build()
        .map_err(BenchError::Runtime)?;
    let ended = runtime.block_on(bench(args, client, processes));
    // Tasks of connections that are cut; nothing waits for them.
    runtime.shutdown_background();
    let (report, subject) = ended?;
    tell(&report, &subject, &args.common)?;
    if report.is_clean() {
        Ok(())
    } else {
        Err(BenchError::Unclean)
    }
}

/// Everything between the command line and the results.
async fn bench(
    args: &BenchArgs,
    client: Client,
    processes: Option<Processes>,
) -> Result<(Report, Subject), BenchError> {
    let mut signals = Signals::catch().map_err(BenchError::Signals)?;
    let (subject, streams_max) = tokio::select! {
        reached = reach(&client, processes.as_ref()) => reached?,
        _ = signals.next() => return Err(BenchError::Early),
    };
    check_files(&args.work, streams_max)?;
    let suffix = uuid::Uuid::new_v4().simple().to_string();
    let bench = Bench {
        namespace: Namespace::new(suffix.get(..8).unwrap_or(&suffix)),
        clock: Clock::start(),
        progress: Progress::start(args.common.progress),
        client,
        processes,
        streams_max,
    };
    let report = clean_run(&bench, &args.work, &mut signals).await?;
    Ok((report, subject))
}

/// Does the work, and deletes the namespace whatever became of it.
async fn clean_run(
    bench: &Bench,
    work: &Work,
    signals: &mut Signals,
) -> Result<Report, BenchError> {
    let namespace = || bench.namespace.name().to_owned();
    let ended = tokio::select! {
        ended = measure(bench, work) => ended,
        _ = signals.next() => Err(BenchError::Interrupted { namespace: namespace() }),
    };
    bench.progress.phase("cleaning up", 0);
    let cleaned = tokio::select! {
        cleaned = bench.namespace.delete(&bench.client) => cleaned,
        _ = signals.next() => return Err(BenchError::Abandoned { namespace: namespace() }),
    };
    let cleaned = cleaned.map_err(|source| BenchError::Cleanup {
        namespace: namespace(),
        source,
    });
    match (ended, cleaned) {
        (Ok(report), Ok(())) => Ok(report),
        (Ok(_) | Err(BenchError::Interrupted { .. }), Err(error)) | (Err(error), Ok(())) => {
            Err(error)
        }
        (Err(error), Err(left)) => Err(BenchError::Both {
            error: Box::new(error),
            left: Box::new(left),
        }),
    }
}

async fn measure(bench: &Bench, work: &Work) -> Result<Report, BenchError> {
    let told = |source| BenchError::Setup {
        what: "make a namespace",
        source,
    };
    let mut connection = bench.client.connect().await.map_err(told)?;
    bench
        .namespace
        .create(&mut connection)
        .await
        .map_err(told)?;
    bench.run(work).await
}

/// Asks the server who it is, and how many streams it takes on a connection.
async fn reach(
    client: &Client,
    processes: Option<&Processes>,
) -> Result<(Subject, Option<usize>), BenchError> {
    let url = client.access().url.clone();
    let ask = async {
        let mut connection = client.connect().await?;
        let version = connection.json(&Call::get("/version")).await?;
        let version = version.get("gitVersion").and_then(Value::as_str);
        let version = version.ok_or(ClientError::Answer { what: "gitVersion" })?;
        Ok((
            connection.protocol(),
            connection.streams_max().await,
            version.to_owned(),
        ))
    };
    let (protocol, streams_max, version) = match ask.await {
        Ok(answer) => answer,
        Err(source) => return Err(BenchError::Reach { url, source }),
    };
    let place = match processes {
        Some(processes) if processes.share_processors() => Place::Shared,
        Some(_) => Place::Beside,
        None if client.access().is_loopback() => Place::Shared,
        None => Place::Elsewhere,
    };
    let subject = Subject {
        url,
        version,
        protocol: protocol.as_str(),
        place,
    };
    Ok((subject, streams_max))
}

/// Refuses work for which this process may not open enough connections.
fn check_files(work: &Work, streams_max: Option<usize>) -> Result<(), BenchError> {
    let watchers = |watchers: u32, streams: u32| match streams_max {
        Some(_) => watchers.div_ceil(streams),
        None => watchers,
    };
    let connections = match work {
        Work::Create(args) => args.clients,
        Work::Get(args) => args.clients,
        Work::List(args) => args.clients,
        Work::Fanout(args) => args.writers + watchers(args.watchers, args.streams),
        Work::Idle(args) => watchers(args.watchers, args.streams),
        // Those that were cut may still be open for a moment.
        Work::Resume(args) => 2 * watchers(args.watchers, args.streams),
    };
    let wanted = u64::from(connections) + FILES_SPARE;
    match open_files::allowed() {
        Some(allowed) if allowed < wanted => Err(BenchError::OpenFiles { wanted, allowed }),
        _ => Ok(()),
    }
}

fn tell(report: &Report, subject: &Subject, common: &Common) -> Result<(), BenchError> {
    let text = if common.json {
        report.json(subject)
    } else {
        report.text(subject)
    };
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes());
    written
        .and_then(|()| out.flush())
        .map_err(BenchError::Output)
}
