//! The words and the wire of List-Watch: revisions, keys, objects, events and their frames,
//! selectors, list options, continue tokens, Status. Pure: no I/O, no clock, no randomness.

mod continue_token;
mod event;
mod key;
mod list_options;
mod media;
mod names;
mod object;
mod query;
mod request;
mod resource_version;
mod revision;
mod selector;
mod status;
mod text;

pub use continue_token::ContinueToken;
pub use event::{Event, Form, WatchEventType};
pub use key::Key;
pub use list_options::ListOptions;
pub use media::{
    Accept, AggregatedDiscovery, Answer, BodyFormat, Format, MediaType, MetaVersion, PatchType,
    Route, Transform, find_error_format, negotiate, parse_body_format, parse_patch_type,
    wants_aggregated_discovery,
};
pub use names::{label_value_errors, qualified_name_errors, subdomain_errors};
pub use object::{Comma, Encoded, Fields, Labels, Object, Splice};
pub use query::Query;
pub use request::{Path, PathError, ResourcePath};
pub use resource_version::parse_resource_version;
pub use revision::Revision;
pub use selector::{FieldRequirement, FieldSelector, LabelRequirement, LabelSelector, Selector};
pub use status::{
    FieldError, FieldErrorKind, Reason, Status, StatusCause, StatusDetails, StatusOutcome,
};
pub use text::{go_quote, json_string, json_text, json_type};
