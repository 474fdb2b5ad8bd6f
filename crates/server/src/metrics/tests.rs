//! Names, types and labels are upstream's, and the text is the format's.

use std::time::Duration;

use super::*;

fn route(verb: &'static str) -> Route {
    Route {
        verb,
        group: "apps".into(),
        version: "v1".into(),
        resource: "deployments".into(),
        subresource: "".into(),
        scope: "namespace",
    }
}

#[test]
fn lines_are_as_clients_expect_them() {
    let metrics = Metrics::new();
    let deployments = metrics.resource("apps", "v1", "deployments");
    let watch = deployments.watch_began();
    for _ in 0..3 {
        watch.event(1_500);
    }
    deployments.cache_totals(2, 0, 0);
    deployments.cache_capacity(100);
    deployments.cache_capacity(200);
    deployments.objects(7);
    deployments.cache_at(1_000_000_000_000_042);
    metrics
        .route(&route("LIST"))
        .answered(200, Duration::from_micros(1_500), false);
    metrics
        .route(&route("LIST"))
        .answered(200, Duration::from_micros(500), false);
    metrics
        .route(&route("LIST"))
        .answered(410, Duration::ZERO, true);
    let text = metrics.encode();
    for line in [
        "# TYPE apiserver_watch_events_total counter",
        "# TYPE apiserver_watch_events_sizes histogram",
        "# TYPE apiserver_longrunning_requests gauge",
        "apiserver_watch_events_total{group=\"apps\",version=\"v1\",resource=\"deployments\"} 3",
        "apiserver_watch_events_sizes_bucket{group=\"apps\",version=\"v1\",resource=\"deployments\",le=\"1024\"} 0",
        "apiserver_watch_events_sizes_bucket{group=\"apps\",version=\"v1\",resource=\"deployments\",le=\"2048\"} 3",
        "apiserver_watch_events_sizes_bucket{group=\"apps\",version=\"v1\",resource=\"deployments\",le=\"+Inf\"} 3",
        "apiserver_watch_cache_events_received_total{group=\"apps\",resource=\"deployments\"} 2",
        "watch_cache_capacity{group=\"apps\",resource=\"deployments\"} 200",
        "watch_cache_capacity_increase_total{group=\"apps\",resource=\"deployments\"} 1",
        "watch_cache_capacity_decrease_total{group=\"apps\",resource=\"deployments\"} 0",
        "apiserver_storage_objects{resource=\"deployments.apps\"} 7",
        "apiserver_watch_cache_resource_version{group=\"apps\",resource=\"deployments\"} 42",
        "apiserver_request_total{verb=\"LIST\",group=\"apps\",version=\"v1\",resource=\"deployments\",subresource=\"\",scope=\"namespace\",component=\"apiserver\",code=\"200\",dry_run=\"\"} 2",
        "apiserver_request_total{verb=\"LIST\",group=\"apps\",version=\"v1\",resource=\"deployments\",subresource=\"\",scope=\"namespace\",component=\"apiserver\",code=\"410\",dry_run=\"All\"} 1",
        "# TYPE process_cpu_seconds_total counter",
        "# TYPE process_resident_memory_bytes gauge",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
    assert!(!text.contains("# EOF"));
}

#[test]
fn a_watch_is_counted_while_it_runs() {
    let metrics = Metrics::new();
    let pods = metrics.resource("", "v1", "pods");
    let running = |n: u32| {
        let line = format!(
            "apiserver_longrunning_requests{{verb=\"WATCH\",group=\"\",version=\"v1\",resource=\"pods\",subresource=\"\",scope=\"\",component=\"apiserver\"}} {n}"
        );
        assert!(metrics.encode().contains(&line));
    };
    let watch = pods.watch_began();
    running(1);
    drop(watch);
    running(0);
}

#[test]
fn handles_for_the_same_thing_count_together_and_servers_apart() {
    let (one, other) = (Metrics::new(), Metrics::new());
    one.resource("", "v1", "pods").watch_began().initial(1);
    one.resource("", "v1", "pods").watch_began().initial(2);
    let line = "apiserver_init_events_total{group=\"\",resource=\"pods\"} 3";
    assert!(one.encode().contains(line));
    assert!(!other.encode().contains("pods"));
}
