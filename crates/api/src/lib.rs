//! The words and the wire of List-Watch: revisions, keys, objects, events and their frames,
//! selectors, list options, continue tokens, Status. Pure: no I/O, no clock, no randomness.

mod event;
mod key;
mod object;
mod revision;
mod selector;

pub use event::{Event, Form, WatchEventType};
pub use key::Key;
pub use object::{Comma, Encoded, Fields, Labels, Object, Splice};
pub use revision::Revision;
pub use selector::{FieldRequirement, FieldSelector, LabelRequirement, LabelSelector, Selector};
