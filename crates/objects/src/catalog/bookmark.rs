//! What a BOOKMARK frame carries: an empty object of the watched kind at a revision.

use bytes::Bytes;
use masthead_api::Revision;

use super::resource::{Resource, Wire};

/// Whether a bookmark says that all initial events have been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookmarkKind {
    /// The one after the initial events, with the annotation `k8s.io/initial-events-end`.
    InitialEventsEnd,
    /// Any other.
    Progress,
}

/// A bookmark's `metadata` at `revision`.
fn bookmark_metadata(revision: Revision, kind: BookmarkKind) -> String {
    match kind {
        BookmarkKind::InitialEventsEnd => format!(
            r#"{{"resourceVersion":"{revision}","annotations":{{"k8s.io/initial-events-end":"true"}}}}"#
        ),
        BookmarkKind::Progress => format!(r#"{{"resourceVersion":"{revision}"}}"#),
    }
}

/// The object of a bookmark of `resource`.
pub fn bookmark_json(resource: &Resource, revision: Revision, kind: BookmarkKind) -> Bytes {
    let (api_version, name) = (&resource.api_version, &resource.kind);
    let json = match resource.wire {
        Wire::Builtin => {
            let metadata = bookmark_metadata(revision, kind);
            let head =
                format!(r#"{{"kind":"{name}","apiVersion":"{api_version}","metadata":{metadata}"#);
            match resource.empty.strip_prefix('{') {
                Some(rest) if rest != "}" => format!("{head},{rest}"),
                _ => format!("{head}}}"),
            }
        }
        Wire::Custom => {
            let annotations = match kind {
                BookmarkKind::InitialEventsEnd => {
                    r#""annotations":{"k8s.io/initial-events-end":"true"},"#
                }
                BookmarkKind::Progress => "",
            };
            format!(
                r#"{{"apiVersion":"{api_version}","kind":"{name}","metadata":{{{annotations}"resourceVersion":"{revision}"}}}}"#
            )
        }
    };
    Bytes::from(json)
}
