//! [`Metrics`]: the numbers of one server, under the names that upstream gave them.
//!
//! The hot path never looks a label up: a resource asks once for its [`ResourceMetrics`] and a
//! route for its [`RouteMetrics`], and both keep their counters at hand. There is no global: two
//! servers in one process count apart.

mod histogram;
mod labels;
mod process;
mod resource;
mod route;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::{Metric, Registry};

pub use prometheus_text::CONTENT_TYPE;
pub use resource::{ResourceMetrics, WatchGauge};
pub use route::{Route, RouteMetrics};

use histogram::Histogram;
use labels::{GroupResource, GroupVersionResource};
use resource::Number;

type Histograms<L> = Family<L, Histogram, fn() -> Histogram>;

/// The numbers of one server.
pub struct Metrics {
    registry: Registry,
    requests: Family<labels::Request, Counter>,
    request_durations: Histograms<labels::Duration>,
    longrunning: Family<labels::Kind, Number>,
    watch_events: Family<GroupVersionResource, Counter>,
    watch_event_bytes: Histograms<GroupVersionResource>,
    cache: CacheFamilies,
    routes: RwLock<HashMap<Route, RouteMetrics>>,
}

/// The families whose labels are group and resource.
#[derive(Default)]
struct CacheFamilies {
    init_events: Family<GroupResource, Counter>,
    events_received: Family<GroupResource, Counter>,
    events_dispatched: Family<GroupResource, Counter>,
    initializations: Family<GroupResource, Counter>,
    revision: Family<GroupResource, Number>,
    terminated_watchers: Family<GroupResource, Counter>,
    capacity: Family<GroupResource, Number>,
    capacity_increases: Family<GroupResource, Counter>,
    capacity_decreases: Family<GroupResource, Counter>,
    objects: Family<GroupResource, Number>,
    storage_objects: Family<labels::Resource, Number>,
}

impl Metrics {
    /// All at zero.
    pub fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            requests: Family::default(),
            request_durations: Family::new_with_constructor(|| {
                Histogram::new(&histogram::REQUEST_MICROS)
            }),
            longrunning: Family::default(),
            watch_events: Family::default(),
            watch_event_bytes: Family::new_with_constructor(|| {
                Histogram::new(&histogram::EVENT_BYTES)
            }),
            cache: CacheFamilies::default(),
            routes: RwLock::default(),
        };
        metrics.register();
        metrics
    }

    /// The numbers of `resource` of `group` (empty for core) in `version`. To be kept.
    pub fn resource(&self, group: &str, version: &str, resource: &str) -> ResourceMetrics {
        let (group, version, resource) = (group.into(), version.into(), resource.into());
        let in_group = GroupResource { group, resource };
        let GroupResource { group, resource } = in_group.clone();
        let full = if group.is_empty() {
            Arc::clone(&resource)
        } else {
            format!("{resource}.{group}").into()
        };
        let watch = labels::Kind {
            verb: "WATCH",
            group: Arc::clone(&group),
            version: Arc::clone(&version),
            resource: Arc::clone(&resource),
            subresource: "".into(),
            scope: "",
            component: route::COMPONENT,
        };
        let versioned = GroupVersionResource {
            group,
            version,
            resource,
        };
        let cache = &self.cache;
        ResourceMetrics {
            watch_events: self.watch_events.get_or_create_owned(&versioned),
            watch_event_bytes: self.watch_event_bytes.get_or_create_owned(&versioned),
            watchers: self.longrunning.get_or_create_owned(&watch),
            init_events: cache.init_events.get_or_create_owned(&in_group),
            events_received: cache.events_received.get_or_create_owned(&in_group),
            events_dispatched: cache.events_dispatched.get_or_create_owned(&in_group),
            cache_initializations: cache.initializations.get_or_create_owned(&in_group),
            cache_revision: cache.revision.get_or_create_owned(&in_group),
            terminated_watchers: cache.terminated_watchers.get_or_create_owned(&in_group),
            capacity: cache.capacity.get_or_create_owned(&in_group),
            capacity_increases: cache.capacity_increases.get_or_create_owned(&in_group),
            capacity_decreases: cache.capacity_decreases.get_or_create_owned(&in_group),
            objects: cache.objects.get_or_create_owned(&in_group),
            storage_objects: cache
                .storage_objects
                .get_or_create_owned(&labels::Resource { resource: full }),
        }
    }

    /// The numbers of requests of this kind. To be kept where that is easy; else one lookup.
    pub fn route(&self, route: &Route) -> RouteMetrics {
        let known = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(metrics) = known.get(route) {
            return metrics.clone();
        }
        drop(known);
        let durations = [false, true].map(|dry| {
            self.request_durations
                .get_or_create_owned(&duration(route, dry))
        });
        let metrics = RouteMetrics::new(route.clone(), self.requests.clone(), durations);
        let mut known = self.routes.write().unwrap_or_else(PoisonError::into_inner);
        known.entry(route.clone()).or_insert(metrics).clone()
    }

    /// All numbers, as [`CONTENT_TYPE`] says.
    pub fn encode(&self) -> String {
        let mut text = String::with_capacity(16 << 10);
        if prometheus_text::encode(&mut text, &self.registry).is_err() {
            // Writing to a String cannot fail; a part is better than none.
            tracing::error!("metrics could not be written out");
        }
        text
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        let mut add = Adder(registry);
        add.one("apiserver_request", "Requests answered", &self.requests);
        let help = "Time from a request to its answer";
        add.one(
            "apiserver_request_duration_seconds",
            help,
            &self.request_durations,
        );
        let help = "Watches being served";
        add.one("apiserver_longrunning_requests", help, &self.longrunning);
        add.one(
            "apiserver_watch_events",
            "Events sent to watches",
            &self.watch_events,
        );
        let help = "Bytes of an event sent to a watch";
        add.one(
            "apiserver_watch_events_sizes",
            help,
            &self.watch_event_bytes,
        );
        let cache = &self.cache;
        let help = "Events sent in the initial phase of watches";
        add.one("apiserver_init_events", help, &cache.init_events);
        let help = "Events taken in from the store";
        add.one(
            "apiserver_watch_cache_events_received",
            help,
            &cache.events_received,
        );
        let help = "Events gone through the dispatcher";
        add.one(
            "apiserver_watch_cache_events_dispatched",
            help,
            &cache.events_dispatched,
        );
        let help = "Times that a cache was filled";
        add.one(
            "apiserver_watch_cache_initializations",
            help,
            &cache.initializations,
        );
        let help = "Where a cache stands: the last 15 digits of its resource version";
        add.one(
            "apiserver_watch_cache_resource_version",
            help,
            &cache.revision,
        );
        let help = "Watches ended because they could not keep up";
        add.one(
            "apiserver_terminated_watchers",
            help,
            &cache.terminated_watchers,
        );
        let help = "Events that a history window can hold";
        add.one("watch_cache_capacity", help, &cache.capacity);
        let help = "Times that a history window grew";
        add.one(
            "watch_cache_capacity_increase",
            help,
            &cache.capacity_increases,
        );
        let help = "Times that a history window shrank";
        add.one(
            "watch_cache_capacity_decrease",
            help,
            &cache.capacity_decreases,
        );
        add.one(
            "apiserver_resource_objects",
            "Objects stored",
            &cache.objects,
        );
        add.one(
            "apiserver_storage_objects",
            "Objects stored",
            &cache.storage_objects,
        );
        registry.register_collector(Box::new(process::Process::starting()));
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// Registers families, which are handles: the copy that is registered is the same family.
struct Adder<'a>(&'a mut Registry);

impl Adder<'_> {
    fn one<M: Metric + Clone>(&mut self, name: &str, help: &str, family: &M) {
        self.0.register(name, help, family.clone());
    }
}

fn duration(route: &Route, dry_run: bool) -> labels::Duration {
    labels::Duration {
        kind: route.labels(),
        dry_run: route::dry_run_label(dry_run),
    }
}
