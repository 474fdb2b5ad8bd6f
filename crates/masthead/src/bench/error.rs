//! Why a bench did not come to its end.

use std::io;

use super::access::AccessError;
use super::client::ClientError;
use super::processes::ProcessError;

/// Why there is no result, or not a clean one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot reach the server at {url}: {source}")]
    Reach { url: String, source: ClientError },
    #[error("cannot {what}: {source}")]
    Setup {
        what: &'static str,
        source: ClientError,
    },
    #[error("cannot {what}: {first}")]
    SetupFaults { what: &'static str, first: String },
    #[error("only {live} of {wanted} watchers came up; the first that did not: {first}")]
    Watchers {
        live: u64,
        wanted: u64,
        first: String,
    },
    #[error(
        "the server takes {offered} streams a connection, not {wanted}: give --streams {offered}"
    )]
    Streams { offered: usize, wanted: usize },
    #[error("{bytes} bytes are too many for a pod's annotations; at most {max} with --match node")]
    PodBytes { bytes: u32, max: u32 },
    #[error("{wanted} files must be open at a time, but only {allowed} may be: raise `ulimit -n`")]
    OpenFiles { wanted: u64, allowed: u64 },
    #[error("the run was not clean, see the faults above")]
    Unclean,
    #[error("interrupted before anything was made")]
    Early,
    #[error("interrupted; the namespace {namespace} is deleted")]
    Interrupted { namespace: String },
    #[error("interrupted; the namespace {namespace} is left behind")]
    Abandoned { namespace: String },
    #[error("cannot delete the namespace {namespace}: {source}")]
    Cleanup {
        namespace: String,
        source: ClientError,
    },
    #[error("{error}; and {left}")]
    Both { error: Box<Self>, left: Box<Self> },
    #[error("cannot start threads: {0}")]
    Runtime(io::Error),
    #[error("cannot wait for signals: {0}")]
    Signals(io::Error),
    #[error("cannot write to the standard output: {0}")]
    Output(io::Error),
}
