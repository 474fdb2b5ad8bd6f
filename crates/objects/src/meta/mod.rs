//! `metadata`: reading it, and what its names, labels, annotations, owners and finalizers must
//! look like.
//!
//! The checks are made on objects whose metadata has the right types
//! ([`write::decode`](crate::write::decode) sees to that); a member of another type counts as
//! absent.

mod access;
mod check;
mod name;
mod owners;

pub use access::{list, metadata, metadata_mut, number, strings, text};
pub(crate) use check::{check_finalizer_domain, check_finalizers};
pub use check::{check_new, check_update};
pub use name::{NameForm, NameRule};
