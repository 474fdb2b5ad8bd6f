//! [`Signals`]: how the system or a person says stop.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that mean stop.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// From here on they do not end the process. Within a runtime only.
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The next one, by name. Cancel-safe, as both of its halves are.
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}
