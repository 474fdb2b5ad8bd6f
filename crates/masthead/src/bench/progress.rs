//! [`Progress`]: how far the work is, on the standard error.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;

/// On a terminal, one line is written over again this often.
const TERMINAL_PERIOD: Duration = Duration::from_millis(250);
/// Elsewhere, a line is added this often.
const LINES_PERIOD: Duration = Duration::from_secs(2);

/// What moves while a phase goes on.
pub(super) type Counter = Arc<AtomicU64>;

/// Where progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Hidden,
    Terminal,
    Lines,
}

#[derive(Clone, Default)]
struct Phase {
    label: &'static str,
    total: u64,
    done: Counter,
}

/// Shows how far the work is, until it is dropped.
pub(super) struct Progress {
    phase: Arc<Mutex<Phase>>,
    look: Look,
    ticker: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shown on a terminal, and elsewhere if it is `forced`.
    pub(super) fn start(forced: bool) -> Self {
        let look = match (io::stderr().is_terminal(), forced) {
            (true, _) => Look::Terminal,
            (false, true) => Look::Lines,
            (false, false) => Look::Hidden,
        };
        let phase = Arc::new(Mutex::new(Phase::default()));
        let period = match look {
            Look::Hidden => None,
            Look::Terminal => Some(TERMINAL_PERIOD),
            Look::Lines => Some(LINES_PERIOD),
        };
        let ticker = period.map(|period| tokio::spawn(tick(Arc::clone(&phase), look, period)));
        Self {
            phase,
            look,
            ticker,
        }
    }

    /// Begins a phase that is over when the counter has come to `total`.
    pub(super) fn phase(&self, label: &'static str, total: u64) -> Counter {
        let done = Counter::default();
        let phase = Phase {
            label,
            total,
            done: Arc::clone(&done),
        };
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
        done
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(ticker) = &self.ticker {
            ticker.abort();
        }
        if self.look == Look::Terminal {
            write("\r\x1b[K");
        }
    }
}

async fn tick(phase: Arc<Mutex<Phase>>, look: Look, period: Duration) {
    loop {
        tokio::time::sleep(period).await;
        let phase = phase.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let line = line(&phase);
        match look {
            Look::Terminal => write(&format!("\r\x1b[K{line}")),
            Look::Lines => write(&format!("{line}\n")),
            Look::Hidden => {}
        }
    }
}

fn line(phase: &Phase) -> String {
    let done = phase.done.load(Ordering::Relaxed);
    match phase.total {
        0 => phase.label.to_owned(),
        total => format!("{}: {done} of {total}", phase.label),
    }
}

fn write(text: &str) {
    // Whoever does not look misses nothing.
    drop(io::stderr().write_all(text.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_tells_how_far_it_is() {
        let phase = Phase {
            label: "writes",
            total: 10,
            done: Arc::new(AtomicU64::new(4)),
        };
        assert_eq!(line(&phase), "writes: 4 of 10");
        let endless = Phase { total: 0, ..phase };
        assert_eq!(line(&endless), "writes");
    }
}
