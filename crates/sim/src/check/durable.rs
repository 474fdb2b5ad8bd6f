//! Durable: the store is what its acknowledged writes say.

use crate::evidence::Evidence;

pub(super) fn check(evidence: &Evidence) -> Result<(), String> {
    if let Some(contradiction) = evidence.timeline.contradictions().first() {
        return Err(contradiction.clone());
    }
    match evidence.false_answers.first() {
        Some(write) => Err(format!("the answer to write {write} was not the store's")),
        None => Ok(()),
    }
}
