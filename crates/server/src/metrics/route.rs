//! [`RouteMetrics`]: the numbers of one kind of request.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::histogram::Histogram;
use super::labels;

/// What a request is about, as its labels say it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// `GET`, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH`, `APPLY`, `DELETE`, `DELETECOLLECTION`, ….
    pub verb: &'static str,
    /// The API group, empty for core.
    pub group: Arc<str>,
    /// The version.
    pub version: Arc<str>,
    /// The resource; the path where a request is about none.
    pub resource: Arc<str>,
    /// The subresource or nothing.
    pub subresource: Arc<str>,
    /// `cluster`, `namespace`, `resource` or nothing.
    pub scope: &'static str,
}

/// The name of this server among the components of a cluster, as clients of metrics know it.
pub(super) const COMPONENT: &str = "apiserver";

impl Route {
    pub(super) fn labels(&self) -> labels::Kind {
        let Self {
            verb,
            group,
            version,
            resource,
            subresource,
            scope,
        } = self.clone();
        labels::Kind {
            verb,
            group,
            version,
            resource,
            subresource,
            scope,
            component: COMPONENT,
        }
    }
}

type Ending = (u16, bool);

/// The numbers of one kind of request, kept at hand for each way to end that was seen. Cheap to
/// clone.
#[derive(Clone, Debug)]
pub struct RouteMetrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    route: Route,
    requests: Family<labels::Request, Counter>,
    durations: [Histogram; 2],
    /// Few: one for each status code that this route ever answered.
    endings: RwLock<Vec<(Ending, Counter)>>,
}

impl RouteMetrics {
    pub(super) fn new(
        route: Route,
        requests: Family<labels::Request, Counter>,
        durations: [Histogram; 2],
    ) -> Self {
        Self(Arc::new(Inner {
            route,
            requests,
            durations,
            endings: RwLock::default(),
        }))
    }

    /// A request was answered with `code` after `elapsed`; `dry_run` if it was to change nothing.
    pub fn answered(&self, code: u16, elapsed: Duration, dry_run: bool) {
        self.counter((code, dry_run)).inc();
        let [wet, dry] = &self.0.durations;
        let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        (if dry_run { dry } else { wet }).observe(micros);
    }

    fn counter(&self, ending: Ending) -> Counter {
        let known = self
            .0
            .endings
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, counter)) = known.iter().find(|(known, _)| *known == ending) {
            return counter.clone();
        }
        drop(known);
        let counter = self.0.requests.get_or_create_owned(&self.labels(ending));
        let mut known = self
            .0
            .endings
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        known.push((ending, counter.clone()));
        counter
    }

    fn labels(&self, (code, dry_run): Ending) -> labels::Request {
        labels::Request {
            kind: self.0.route.labels(),
            code,
            dry_run: dry_run_label(dry_run),
        }
    }
}

/// The only value of the query parameter `dryRun`, or nothing.
pub(super) const fn dry_run_label(dry_run: bool) -> &'static str {
    if dry_run { "All" } else { "" }
}
