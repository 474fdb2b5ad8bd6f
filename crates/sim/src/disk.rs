//! [`Disk`]: a log that keeps two images, what was written and what is safe.
//!
//! ```text
//! append ──▶ live ── sync ──▶ durable        a crash keeps the durable image, or the live one where
//!                                            the machine happened to write it in time
//! ```
//! A batch is in an image wholly or not at all. An append can be told to fail before it writes, or
//! between writing and syncing, when nobody knows what a crash would leave.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use masthead_store::{AppendError, Log, LogBatch, LogError, LogView, Position, Visit};

/// How the next append fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendFault {
    /// Before anything is written.
    Untouched,
    /// Written, not synced: the outcome is unknown until the next start.
    Unknown,
}

/// Which image a crash leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// Only what was synced.
    Durable,
    /// What was written and not synced as well.
    Live,
}

/// Whether appends wait for the sync, as they must.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syncing {
    /// They do.
    Always,
    /// They do not: a fault to be found.
    Never,
}

#[derive(Clone, Debug, Default)]
struct Image {
    records: BTreeMap<Position, Bytes>,
    facts: BTreeMap<Bytes, Bytes>,
}

#[derive(Debug)]
struct Platter {
    live: Image,
    durable: Image,
    fault: Option<AppendFault>,
    syncing: Syncing,
}

/// A simulated disk with one log on it.
#[derive(Debug)]
pub struct Disk(Mutex<Platter>);

impl Disk {
    /// An empty disk.
    pub fn new(syncing: Syncing) -> Self {
        Self(Mutex::new(Platter {
            live: Image::default(),
            durable: Image::default(),
            fault: None,
            syncing,
        }))
    }

    /// The next append fails like this.
    pub fn fail_next(&self, fault: AppendFault) {
        self.platter().fault = Some(fault);
    }

    /// The machine stops and starts again.
    pub fn crash(&self, leaves: Leaves) {
        let mut platter = self.platter();
        match leaves {
            Leaves::Durable => platter.live = platter.durable.clone(),
            Leaves::Live => platter.durable = platter.live.clone(),
        }
        platter.fault = None;
    }

    fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn live(&self) -> Image {
        self.platter().live.clone()
    }
}

impl Image {
    fn apply(&mut self, batch: &LogBatch) {
        self.records.extend(batch.records.iter().cloned());
        for at in &batch.removed {
            self.records.remove(at);
        }
        for (name, fact) in &batch.facts {
            match fact {
                Some(fact) => self.facts.insert(name.clone(), fact.clone()),
                None => self.facts.remove(name),
            };
        }
    }

    fn walk(&self, from: Position, visit: Visit<'_>) {
        for (at, bytes) in self.records.range(from..) {
            if visit(*at, bytes.clone()) == ControlFlow::Break(()) {
                return;
            }
        }
    }
}

fn io_error() -> LogError {
    LogError::Io {
        path: PathBuf::from("simulated"),
        source: std::io::Error::other("told to fail"),
    }
}

impl Log for Disk {
    fn append(&self, batch: LogBatch) -> Result<(), AppendError> {
        let mut platter = self.platter();
        let fault = platter.fault.take();
        if fault == Some(AppendFault::Untouched) {
            return Err(AppendError::Untouched(io_error()));
        }
        platter.live.apply(&batch);
        if fault == Some(AppendFault::Unknown) {
            return Err(AppendError::Unknown(io_error()));
        }
        if platter.syncing == Syncing::Always {
            platter.durable.apply(&batch);
        }
        Ok(())
    }

    fn read(&self, at: Position) -> Result<Option<Bytes>, LogError> {
        Ok(self.platter().live.records.get(&at).cloned())
    }

    fn scan(&self, from: Position, visit: Visit<'_>) -> Result<(), LogError> {
        self.live().walk(from, visit);
        Ok(())
    }

    fn view(&self) -> Result<Box<dyn LogView + '_>, LogError> {
        Ok(Box::new(self.live()))
    }
}

impl LogView for Image {
    fn scan(&self, from: Position, visit: Visit<'_>) -> Result<(), LogError> {
        self.walk(from, visit);
        Ok(())
    }

    fn facts(&self, prefix: &[u8]) -> Result<Vec<(Bytes, Bytes)>, LogError> {
        Ok(self
            .facts
            .iter()
            .filter(|(name, _)| name.starts_with(prefix))
            .map(|(name, fact)| (name.clone(), fact.clone()))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use masthead_store::{SpaceGuard, Store, Txn};

    use super::*;

    fn head(disk: &Arc<Disk>) -> u64 {
        store(disk).revision().get()
    }

    fn store(disk: &Arc<Disk>) -> Store {
        let log = Arc::clone(disk) as Arc<dyn Log>;
        Store::open(log, SpaceGuard::off(), Duration::ZERO).unwrap()
    }

    #[test]
    fn a_crash_keeps_what_was_synced_and_perhaps_what_was_written() {
        for (leaves, wanted) in [(Leaves::Durable, 2), (Leaves::Live, 3)] {
            let disk = Arc::new(Disk::new(Syncing::Always));
            let mut store = store(&disk);
            assert!(store.commit(vec![Txn::put("/a", "1")]).is_ok());
            disk.fail_next(AppendFault::Unknown);
            assert!(store.commit(vec![Txn::put("/a", "2")]).is_err());
            disk.crash(leaves);
            assert_eq!(head(&disk), wanted, "{leaves:?}");
        }
    }

    #[test]
    fn an_append_that_fails_untouched_leaves_nothing() {
        let disk = Arc::new(Disk::new(Syncing::Always));
        let mut store = store(&disk);
        disk.fail_next(AppendFault::Untouched);
        assert!(store.commit(vec![Txn::put("/a", "1")]).is_err());
        assert!(store.commit(vec![Txn::put("/a", "2")]).is_ok());
        disk.crash(Leaves::Live);
        assert_eq!(head(&disk), 2);
    }
}
