//! [`Faults`]: what went wrong in a run, counted, with the first few in words.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// So many are told in words.
const TOLD_MAX: usize = 5;

/// What went wrong.
#[derive(Debug, Default)]
pub(super) struct Faults {
    count: AtomicU64,
    told: Mutex<Vec<String>>,
}

impl Faults {
    /// Adds one.
    pub(super) fn add(&self, fault: &impl ToString) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() < TOLD_MAX {
            told.push(fault.to_string());
        }
    }

    /// How many.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The first few.
    pub(super) fn told(&self) -> Vec<String> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.clone()
    }

    /// The first.
    pub(super) fn first(&self) -> String {
        let first = self.told().into_iter().next();
        first.unwrap_or_else(|| "no answer came".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_first_few_told() {
        let faults = Faults::default();
        assert_eq!(faults.first(), "no answer came");
        for number in 0..100 {
            faults.add(&number);
        }
        assert_eq!(faults.count(), 100);
        assert_eq!(faults.told(), ["0", "1", "2", "3", "4"]);
        assert_eq!(faults.first(), "0");
    }
}
