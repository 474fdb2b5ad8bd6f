//! Writes as functions: what was stored and what was asked for give what is to be stored.
//!
//! ```text
//! bytes ─ body::parse ─▶ Value ─▶ create ─────────────▶ new object
//!                          └────▶ update (old, new) ──▶ unchanged | write | remove
//! bytes, query ─ DeleteOptions ─▶ delete (old) ───────▶ remove | mark | both | unchanged
//! ```
//!
//! Pure: the time, the uid and the random end of a generated name come in a [`WriteContext`].
//! Objects that go in as `old` carry the `metadata.resourceVersion` at which they were read;
//! objects that come out to be stored may carry it too, storing replaces it.

mod base64;
mod binding;
pub mod body;
mod checks;
mod create;
mod decode;
pub mod defaults;
mod delete;
mod delete_options;
mod depth;
mod disruption;
mod facts;
mod options;
mod prepare;
mod quantity;
mod scale;
#[cfg(test)]
mod tests;
mod tidy;
mod types;
mod update;

pub use binding::{bind, evict};
pub use create::create;
pub(crate) use decode::decode_patched;
pub use decode::{DecodeError, Expected, decode};
pub use delete::{DeleteOutcome, delete, delete_warning};
pub use delete_options::{DeleteOptions, Propagation};
pub use depth::{DEPTH_MAX, depth_of};
pub use disruption::check_disruption;
pub use options::{FieldValidation, OptionsOf, WriteOptions};
pub use scale::{scale_of, with_scale};
pub use types::WrongType;
pub use update::{UpdateOf, UpdateOutcome, Verb, check_address, update};

/// What a write takes from the world.
#[derive(Clone, Debug)]
pub struct WriteContext {
    /// Now, as `2024-01-01T00:00:00Z`.
    pub now: String,
    /// A fresh uid.
    pub uid: String,
    /// The end of a generated name: five characters.
    pub suffix: String,
}
