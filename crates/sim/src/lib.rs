//! Seeded worlds around the store and the watch cache, and one checker for each guarantee.
//!
//! ```text
//!  seed ──▶ Plan ──▶ world (the real core, one thread, virtual time, simulated disk)
//!                      │
//!                      ▼
//!                   History ──▶ Evidence ──▶ Ordered, Unique, Reliable, … ──▶ Violation
//!                   (values)    (timeline from the writes alone)                 │
//!                                                    shortened plan ◀── shrink ──┘
//! ```
//! - M1: the same plan makes the same history, on any machine.
//! - M2: a checker sees only the history, and each only its own guarantee.
//! - M3: what is expected comes from the writes, never from the core that is tested.
//! - M4: each checker can fail: for every [`Fault`] a test shows that its guarantee is found broken.

pub mod check;
pub mod disk;
pub mod evidence;
mod failure;
pub mod fault;
pub mod history;
pub mod object;
pub mod pick;
mod plan;
pub mod rng;
mod shrink;
pub mod step;
pub mod timeline;
mod world;

pub use check::{Guarantee, Violation, violations};
pub use failure::{Facts, Failure, SeedError, check_seed};
pub use fault::Fault;
pub use plan::Plan;
pub use shrink::shrink;
pub use world::{WorldError, run};
