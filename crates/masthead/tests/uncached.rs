//! Resources without a watch cache, as Events are: they follow the rules of the store.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failure here is a test's"
)]

mod support;

use std::time::Duration;

use masthead::{RunningServer, Server};
use serde_json::{Value, json};
use support::{CONFIG_MAPS, Client, Event, Watch, config_map, version};

const EVENTS: &str = "/api/v1/namespaces/default/events";
const TOO_OLD: &str = "The resourceVersion for the provided watch is too old.";
/// How long to look, in real time, at a stream from which nothing is expected.
const QUIET: Duration = Duration::from_millis(50);

async fn start() -> (RunningServer, Client) {
    let server = Server::builder().virtual_clock(true).start().await.unwrap();
    let client = Client::of(&server);
    (server, client)
}

fn event(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name}, "type": "Normal",
        "reason": "R", "message": "0",
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
    })
}

async fn watch(client: &Client, parameters: &str) -> Watch {
    client
        .watch(&format!("{EVENTS}?watch=true&{parameters}"))
        .await
}

/// Creates `e` and changes it so many times; the version of its creation.
async fn busy(client: &Client, times: usize) -> u64 {
    let created = version(&client.post(EVENTS, &event("e")).await.ok());
    for n in 1..=times {
        let change =
            json!({"message": n.to_string(), "metadata": {"labels": {"odd": (n % 2).to_string()}}});
        client.merge(&format!("{EVENTS}/e"), &change).await.ok();
    }
    created
}

fn messages(events: &[Event]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event.object["message"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_watch_reaches_back_as_far_as_the_store() {
    let (server, client) = start().await;
    let created = busy(&client, 99).await;
    server.advance(Duration::from_secs(200)).await.unwrap();
    // Each of these pushes one event out of the cache's history.
    client.post(EVENTS, &event("f")).await.ok();
    client.delete(&format!("{EVENTS}/f")).await.ok();
    let mut all = watch(&client, &format!("resourceVersion={}", created - 1)).await;
    let events = all.events(102).await;
    let wanted: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    assert_eq!(messages(&events[..100]), wanted);
    let last: Vec<String> = events[99..].iter().map(Event::brief).collect();
    assert_eq!(last, ["MODIFIED e", "ADDED f", "DELETED f"]);
    assert!(
        events
            .windows(2)
            .all(|pair| pair[0].version() < pair[1].version())
    );
    client.post(EVENTS, &event("g")).await.ok();
    assert_eq!(all.event().await.brief(), "ADDED g");
    server.shutdown().await;
}

#[tokio::test]
async fn a_selector_sees_objects_come_and_go_in_the_past_too() {
    let (server, client) = start().await;
    let created = busy(&client, 100).await;
    server.advance(Duration::from_secs(200)).await.unwrap();
    client.post(EVENTS, &event("f")).await.ok();
    let parameters = format!("labelSelector=odd%3D1&resourceVersion={}", created - 1);
    let events = watch(&client, &parameters).await.events(4).await;
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["ADDED", "DELETED", "ADDED", "DELETED"]);
    assert_eq!(messages(&events), ["1", "1", "3", "3"]);
    server.shutdown().await;
}

#[tokio::test]
async fn compaction_ends_the_past_even_where_the_history_has_it() {
    let (server, client) = start().await;
    let created = busy(&client, 2).await;
    let last = created + 2;
    server.advance(Duration::from_mins(10)).await.unwrap();
    for parameters in [
        format!("resourceVersion={}", last - 1),
        format!("resourceVersion={created}&allowWatchBookmarks=true"),
        format!("resourceVersion={}", i64::MAX),
        format!("resourceVersion={}", u64::MAX),
    ] {
        let refused = watch(&client, &parameters).await.event().await;
        assert_eq!(refused.object["code"], 410, "{parameters} {refused:?}");
        assert_eq!(refused.object["message"], TOO_OLD);
    }
    let exact = format!("{EVENTS}?resourceVersion={created}&resourceVersionMatch=Exact");
    let gone = client.get(&exact).await.json();
    assert_eq!(gone["code"], 410, "{gone}");
    let mut live = watch(&client, &format!("resourceVersion={last}")).await;
    client.post(EVENTS, &event("f")).await.ok();
    assert_eq!(live.event().await.brief(), "ADDED f");
    server.shutdown().await;
}

#[tokio::test]
async fn there_is_no_bookmark_but_the_one_behind_the_initial_events() {
    let (server, client) = start().await;
    busy(&client, 0).await;
    let parameters = "allowWatchBookmarks=true&timeoutSeconds=300";
    let mut stream = watch(&client, parameters).await;
    let events = stream.events(2).await;
    assert_eq!(events[0].brief(), "ADDED e");
    assert_eq!(
        events[1].object["metadata"]["annotations"]["k8s.io/initial-events-end"],
        "true"
    );
    client.post(CONFIG_MAPS, &config_map("a", "1")).await.ok();
    server.advance(Duration::from_secs(299)).await.unwrap();
    stream.stays_quiet(QUIET).await;
    server.advance(Duration::from_secs(1)).await.unwrap();
    assert_eq!(stream.until_end(support::PATIENCE).await, []);
    server.shutdown().await;
}

#[tokio::test]
async fn a_version_of_the_future_is_refused_at_once() {
    let (server, client) = start().await;
    let future = "resourceVersion=900000000000000";
    for path in [format!("{EVENTS}?{future}"), format!("{EVENTS}/e?{future}")] {
        let refused = client.get(&path).await;
        assert_eq!(refused.status, 504);
        assert!(!refused.headers.contains_key("retry-after"));
        assert!(refused.json()["details"].get("retryAfterSeconds").is_none());
    }
    let initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let refused = watch(&client, &format!("{future}&{initial}"))
        .await
        .event()
        .await;
    assert_eq!(refused.object["code"], 504, "{refused:?}");
    let seconds = refused.object["details"]["retryAfterSeconds"]
        .as_u64()
        .unwrap();
    assert!((1..=3).contains(&seconds), "{seconds}");
    watch(&client, future).await.stays_quiet(QUIET).await;
    server.shutdown().await;
}

#[tokio::test]
async fn the_limit_counts_beside_version_zero() {
    let (server, client) = start().await;
    for name in ["a", "b", "c"] {
        client.post(EVENTS, &event(name)).await.ok();
        client.post(CONFIG_MAPS, &config_map(name, "1")).await.ok();
    }
    let page = client
        .get(&format!("{EVENTS}?limit=2&resourceVersion=0"))
        .await
        .ok();
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    assert_eq!(page["metadata"]["remainingItemCount"], 1);
    let token = page["metadata"]["continue"].as_str().unwrap();
    let rest = client
        .get(&format!("{EVENTS}?limit=2&continue={token}"))
        .await
        .ok();
    assert_eq!(rest["items"][0]["metadata"]["name"], "c");
    let cached = client
        .get(&format!("{CONFIG_MAPS}?limit=2&resourceVersion=0"))
        .await
        .ok();
    assert!(cached["items"].as_array().unwrap().len() >= 3);
    server.shutdown().await;
}

#[tokio::test]
async fn without_caches_every_resource_follows_the_store() {
    let server = Server::builder()
        .watch_cache(false, "events#5".parse().unwrap())
        .start()
        .await
        .unwrap();
    let client = Client::of(&server);
    for collection in [EVENTS, CONFIG_MAPS] {
        let refused = client
            .get(&format!("{collection}?resourceVersion=900000000000000"))
            .await;
        assert_eq!(refused.status, 504);
        assert!(!refused.headers.contains_key("retry-after"), "{collection}");
    }
    server.shutdown().await;
}
