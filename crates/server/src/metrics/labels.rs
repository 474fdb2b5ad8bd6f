//! Label sets. Their members are shared text, so that a copy costs a count and no bytes.

use std::sync::Arc;

use prometheus_client::encoding::EncodeLabelSet;

/// A resource without its version.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct GroupResource {
    pub(super) group: Arc<str>,
    pub(super) resource: Arc<str>,
}

/// A resource in one version.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct GroupVersionResource {
    pub(super) group: Arc<str>,
    pub(super) version: Arc<str>,
    pub(super) resource: Arc<str>,
}

/// The old way to name a resource: `deployments.apps`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Resource {
    pub(super) resource: Arc<str>,
}

/// One kind of request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Kind {
    pub(super) verb: &'static str,
    pub(super) group: Arc<str>,
    pub(super) version: Arc<str>,
    pub(super) resource: Arc<str>,
    pub(super) subresource: Arc<str>,
    pub(super) scope: &'static str,
    pub(super) component: &'static str,
}

/// One kind of request and whether it was a dry run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Duration {
    #[prometheus(flatten)]
    pub(super) kind: Kind,
    pub(super) dry_run: &'static str,
}

/// One kind of request and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Request {
    #[prometheus(flatten)]
    pub(super) kind: Kind,
    pub(super) code: u16,
    pub(super) dry_run: &'static str,
}
