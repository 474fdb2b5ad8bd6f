//! `masthead serve`: a server until a signal ends it.

use std::io::{self, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use masthead::{Builder, Config, RunningServer, StartError, Storage, Transport};
use serde_json::json;
use tokio::runtime::Runtime;
use tracing::{info, warn};

use crate::cli::LogFormat;
use crate::open_files;
use crate::signals::Signals;

/// More worker threads than this do not help: the committing thread is one.
const WORKERS_MAX: usize = 8;
/// Threads for work that blocks: closing the store and the like.
const BLOCKING_THREADS_MAX: usize = 16;

/// Why `masthead serve` ended with a failure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("cannot start threads: {0}")]
    Runtime(io::Error),
    #[error("cannot wait for signals: {0}")]
    Signals(io::Error),
    #[error("stopped at once, without waiting for requests in flight")]
    Impatient,
}

/// Runs a server with `config` until SIGINT or SIGTERM; a second one ends at once.
pub(crate) fn run(config: Config, format: LogFormat) -> Result<(), ServeError> {
    let began = Instant::now();
    raise_file_limit();
    let runtime = runtime().map_err(ServeError::Runtime)?;
    let ended = runtime.block_on(serve(config, format, began));
    // What is left are tasks of connections that were cut; nothing waits for them.
    runtime.shutdown_background();
    ended
}

fn runtime() -> io::Result<Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.min(WORKERS_MAX))
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .thread_name("masthead")
        .enable_all()
        .build()
}

async fn serve(config: Config, format: LogFormat, began: Instant) -> Result<(), ServeError> {
    let mut signals = Signals::catch().map_err(ServeError::Signals)?;
    let plain = config.transport == Transport::InsecureHttp;
    if plain && !config.listen.ip().is_loopback() {
        warn!("plain HTTP beyond this machine: tokens and objects are readable on the way");
    }
    let storage = config.storage.clone();
    let server = Builder::from(config).start().await?;
    if let Err(error) = announce(&server, &storage, format, began.elapsed()) {
        warn!(%error, "nobody reads the standard output");
    }
    // Outside the macro: what a log line is made of is not evaluated where nobody wants the line.
    let signal = signals.next().await;
    info!(signal, "stopping; a second signal stops at once");
    tokio::select! {
        () = server.shutdown() => {
            info!("stopped");
            Ok(())
        }
        _ = signals.next() => Err(ServeError::Impatient),
    }
}

/// What a person or a script needs next, on the standard output.
fn announce(
    server: &RunningServer,
    storage: &Storage,
    format: LogFormat,
    took: Duration,
) -> io::Result<()> {
    let kubeconfig = server
        .kubeconfig_file()
        .map(Path::display)
        .map(|path| path.to_string());
    let text = match format {
        LogFormat::Text => {
            let kept = match storage {
                Storage::DataDir(dir) => format!("objects are kept in {}", dir.display()),
                Storage::Ephemeral => "objects are in memory and end with it".to_owned(),
            };
            let file = kubeconfig.unwrap_or_default();
            format!(
                "Masthead {} on {}; {kept}\nkubeconfig: {file}\nnext: kubectl --kubeconfig {file} \
                 get ns\n",
                env!("CARGO_PKG_VERSION"),
                server.url(),
            )
        }
        LogFormat::Json => {
            let dir = match storage {
                Storage::DataDir(dir) => Some(dir.display().to_string()),
                Storage::Ephemeral => None,
            };
            let line = json!({
                "url": server.url(),
                "kubeconfig": kubeconfig,
                "dataDir": dir,
                "version": masthead::git_version(),
                "startMillis": took.as_millis() as u64,
            });
            format!("{line}\n")
        }
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// More connections at once than the system gives at first.
fn raise_file_limit() {
    if let Err(error) = open_files::raise() {
        let current = open_files::allowed();
        warn!(%error, "the limit of open files stays at {current:?}");
    }
}
