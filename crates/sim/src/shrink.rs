//! Shrinking: a plan that breaks a guarantee, made as short as simple means allow.

use crate::check::{Guarantee, Violation, violations};
use crate::fault::Fault;
use crate::plan::Plan;
use crate::step::Step;
use crate::world::run;

/// How many worlds are tried at most.
const TRIES_MAX: usize = 600;

/// The violation of `guarantee` in what a plan leads to, if there is one.
pub(crate) fn violation(
    plan: &Plan,
    fault: Option<Fault>,
    guarantee: Guarantee,
) -> Option<Violation> {
    let history = run(plan, fault).ok()?;
    violations(&history)
        .into_iter()
        .find(|violation| violation.guarantee == guarantee)
}

/// Leaves out steps, many at once and then fewer, as long as the guarantee stays broken.
pub fn shrink(plan: &Plan, fault: Option<Fault>, guarantee: Guarantee) -> Plan {
    let mut plan = plan.clone();
    let mut tries = 0;
    let mut chunk = plan.steps.len().div_ceil(2).max(1);
    loop {
        let before = plan.steps.len();
        let mut at = 0;
        while at < plan.steps.len() && tries < TRIES_MAX {
            let shorter = without(&plan.steps, at, chunk);
            let candidate = Plan {
                steps: shorter,
                ..plan.clone()
            };
            tries += 1;
            if violation(&candidate, fault, guarantee).is_some() {
                plan = candidate;
            } else {
                at += chunk;
            }
        }
        if tries >= TRIES_MAX || (chunk == 1 && plan.steps.len() == before) {
            return plan;
        }
        chunk = chunk.div_ceil(2).max(1);
    }
}

fn without(steps: &[Step], from: usize, len: usize) -> Vec<Step> {
    let until = from.saturating_add(len);
    steps
        .iter()
        .enumerate()
        .filter(|(at, _)| *at < from || *at >= until)
        .map(|(_, step)| step.clone())
        .collect()
}
