//! [`check_seed`]: one seed from its world to the verdict; [`Failure`]: the verdict worth reading.

use std::fmt;

use crate::check::{Violation, violations};
use crate::fault::Fault;
use masthead_watch::EndReason;

use crate::history::{History, Outcome, Record, Seen};
use crate::plan::Plan;
use crate::shrink::{shrink, violation};
use crate::world::{WorldError, run};

/// What a world was like in which nothing went wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Streams opened.
    pub streams: usize,
    /// Streams that go on with another.
    pub resumed: usize,
    /// Deliveries.
    pub deliveries: usize,
    /// Those of them that are bookmarks, at the end of initial states as well.
    pub bookmarks: usize,
    /// Batches that hold several changes of one revision.
    pub joint: usize,
    /// Refusals of old starts.
    pub refusals: usize,
    /// Streams that fell out of the history.
    pub overruns: usize,
    /// Revisions.
    pub revisions: usize,
    /// Lists and pages.
    pub lists: usize,
    /// Starts after a stop or a crash.
    pub starts: usize,
    /// Batches of which nobody knew what became of them.
    pub unknown: usize,
}

impl std::ops::AddAssign for Facts {
    fn add_assign(&mut self, other: Self) {
        self.streams += other.streams;
        self.resumed += other.resumed;
        self.deliveries += other.deliveries;
        self.bookmarks += other.bookmarks;
        self.joint += other.joint;
        self.refusals += other.refusals;
        self.overruns += other.overruns;
        self.revisions += other.revisions;
        self.lists += other.lists;
        self.starts += other.starts;
        self.unknown += other.unknown;
    }
}

impl Facts {
    fn of(history: &History) -> Self {
        let mut facts = Self::default();
        for record in &history.records {
            facts.count(record);
        }
        facts
    }

    fn count(&mut self, record: &Record) {
        match record {
            Record::Opened(opened) => {
                self.streams += 1;
                self.resumed += usize::from(opened.continues.is_some());
            }
            Record::Refused { .. } => self.refusals += 1,
            Record::Got { seen, ended, .. } => {
                self.deliveries += seen.len();
                let bookmarks = seen
                    .iter()
                    .filter(|seen| matches!(seen, Seen::Bookmark(_) | Seen::InitialEnd(_)));
                self.bookmarks += bookmarks.count();
                self.joint += usize::from(is_joint(seen));
                self.overruns += usize::from(*ended == Some(EndReason::Overrun));
            }
            Record::Batch { outcome, .. } => match outcome {
                Outcome::Done(done) => self.revisions += done.iter().flatten().count(),
                Outcome::Unknown => self.unknown += 1,
                Outcome::Refused => {}
            },
            Record::Listed(_) => self.lists += 1,
            Record::Started { .. } => self.starts += 1,
            _ => {}
        }
    }
}

fn is_joint(seen: &[Seen]) -> bool {
    let revision = |seen: &Seen| seen.event().map(|(revision, _)| revision);
    seen.windows(2).any(|pair| match pair {
        [a, b] => revision(a).is_some() && revision(a) == revision(b),
        _ => false,
    })
}

/// A seed in whose world a guarantee did not hold.
#[derive(Debug)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// The fault that was made on purpose, if any.
    pub fault: Option<Fault>,
    /// What did not hold, in the shortened world.
    pub violation: Violation,
    /// The shortened plan.
    pub plan: Plan,
    /// What happened in it.
    pub history: History,
}

/// Why a seed did not pass.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// The world could not begin.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A guarantee did not hold.
    #[error("{0}")]
    Broken(Box<Failure>),
}

/// Makes the world of `seed`, with a fault or without, and checks every guarantee.
///
/// # Errors
/// [`SeedError::Broken`] with a shortened world if one does not hold.
pub fn check_seed(seed: u64, fault: Option<Fault>) -> Result<Facts, SeedError> {
    let plan = Plan::of_seed(seed);
    let history = run(&plan, fault)?;
    let Some(first) = violations(&history).into_iter().next() else {
        return Ok(Facts::of(&history));
    };
    let plan = shrink(&plan, fault, first.guarantee);
    let history = run(&plan, fault)?;
    Err(SeedError::Broken(Box::new(Failure {
        seed,
        fault,
        violation: violation(&plan, fault, first.guarantee).unwrap_or(first),
        plan,
        history,
    })))
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}", self.seed)?;
        if let Some(fault) = self.fault {
            write!(f, " with {fault:?}")?;
        }
        writeln!(f, "\n{}\n\nsteps:", self.violation)?;
        for step in &self.plan.steps {
            writeln!(f, "  {step:?}")?;
        }
        writeln!(f, "\nhistory:")?;
        for record in &self.history.records {
            writeln!(f, "  {record:?}")?;
        }
        Ok(())
    }
}
