//! A log in memory: for tests and for servers that keep nothing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{PoisonError, RwLock};

use bytes::Bytes;

use super::{AppendError, Log, LogBatch, LogError, LogView, Visit};
use crate::Position;

/// Keeps everything in two maps. Durable as long as the value lives.
#[derive(Debug, Default)]
pub struct MemoryLog {
    state: RwLock<State>,
}

#[derive(Debug, Default, Clone)]
struct State {
    records: BTreeMap<Position, Bytes>,
    facts: BTreeMap<Bytes, Bytes>,
}

impl MemoryLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Log for MemoryLog {
    fn append(&self, batch: LogBatch) -> Result<(), AppendError> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.records.extend(batch.records);
        for at in batch.removed {
            state.records.remove(&at);
        }
        for (name, fact) in batch.facts {
            match fact {
                Some(fact) => state.facts.insert(name, fact),
                None => state.facts.remove(&name),
            };
        }
        Ok(())
    }

    fn read(&self, at: Position) -> Result<Option<Bytes>, LogError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        Ok(state.records.get(&at).cloned())
    }

    /// Reads in steps, so that the writer never waits for a long scan.
    fn scan(&self, mut from: Position, visit: Visit<'_>) -> Result<(), LogError> {
        loop {
            let step: Vec<_> = {
                let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
                let rest = state.records.range(from..).take(STEP_RECORDS);
                rest.map(|(at, bytes)| (*at, bytes.clone())).collect()
            };
            let Some((last, _)) = step.last() else {
                return Ok(());
            };
            let Some(sub) = last.sub.checked_add(1) else {
                return Ok(());
            };
            from = Position {
                revision: last.revision,
                sub,
            };
            for (at, bytes) in step {
                if let ControlFlow::Break(()) = visit(at, bytes) {
                    return Ok(());
                }
            }
        }
    }

    fn view(&self) -> Result<Box<dyn LogView + '_>, LogError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        Ok(Box::new(state.clone()))
    }
}

const STEP_RECORDS: usize = 256;

impl LogView for State {
    fn scan(&self, from: Position, visit: Visit<'_>) -> Result<(), LogError> {
        for (at, bytes) in self.records.range(from..) {
            if let ControlFlow::Break(()) = visit(*at, bytes.clone()) {
                break;
            }
        }
        Ok(())
    }

    fn facts(&self, prefix: &[u8]) -> Result<Vec<(Bytes, Bytes)>, LogError> {
        let facts = self.facts.range(Bytes::copy_from_slice(prefix)..);
        let own = facts.take_while(|(name, _)| name.starts_with(prefix));
        Ok(own
            .map(|(name, fact)| (name.clone(), fact.clone()))
            .collect())
    }
}
