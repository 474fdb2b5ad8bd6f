//! Time by hand: what takes minutes and hours elsewhere, in milliseconds and to the second.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failure here is a test's"
)]

mod support;

use std::process::Command;
use std::time::Duration;

use http::Method;
use masthead::{RunningServer, Server};
use serde_json::{Value, json};
use support::{CONFIG_MAPS, Client, Event, Masthead, Next, Options, Watch};
use support::{config_map, version};

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const EVENTS: &str = "/api/v1/namespaces/default/events";
/// How long to look, in real time, at a stream from which nothing is expected.
const QUIET: Duration = Duration::from_millis(50);
/// Events that a quiet history holds.
const HISTORY_EVENTS: u64 = 100;

async fn start() -> (RunningServer, Client) {
    let server = Server::builder().virtual_clock(true).start().await.unwrap();
    let client = Client::of(&server);
    (server, client)
}

async fn advance(server: &RunningServer, millis: u64) {
    let by = Duration::from_millis(millis);
    assert_eq!(server.advance(by).await.unwrap().by, by);
}

fn secret(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}})
}

/// Changes the secret so many times.
async fn change(client: &Client, name: &str, times: u64) {
    for n in 0..times {
        let change = json!({"stringData": {"n": n.to_string()}});
        client
            .merge(&format!("{SECRETS}/{name}"), &change)
            .await
            .ok();
    }
}

/// A secret whose creation and changes fill the history; its first version.
async fn full_history(client: &Client) -> u64 {
    let created = version(&client.post(SECRETS, &secret("s")).await.ok());
    change(client, "s", HISTORY_EVENTS - 1).await;
    created
}

async fn watch_after(client: &Client, collection: &str, version: u64) -> Watch {
    client
        .watch(&format!(
            "{collection}?watch=true&resourceVersion={version}"
        ))
        .await
}

fn status(event: &Event) -> (u64, &str) {
    assert_eq!(event.kind, "ERROR", "{event:?}");
    let message = event.object["message"].as_str().unwrap();
    (event.object["code"].as_u64().unwrap(), message)
}

#[tokio::test]
async fn a_full_history_lets_go_of_what_is_75_seconds_old() {
    let (server, client) = start().await;
    let created = full_history(&client).await;
    advance(&server, 75_000).await;
    change(&client, "s", 1).await;
    let before = created - 1;
    let refused = watch_after(&client, SECRETS, before).await.event().await;
    let wanted = format!("too old resource version: {before} ({created})");
    assert_eq!(status(&refused), (410, wanted.as_str()));
    let next = watch_after(&client, SECRETS, created).await.event().await;
    assert_eq!(
        (next.brief().as_str(), next.version()),
        ("MODIFIED s", created + 1)
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_full_history_grows_while_it_is_younger_than_75_seconds() {
    let (server, client) = start().await;
    let created = full_history(&client).await;
    advance(&server, 74_999).await;
    change(&client, "s", 1).await;
    let first = watch_after(&client, SECRETS, created - 1)
        .await
        .event()
        .await;
    assert_eq!(
        (first.brief().as_str(), first.version()),
        ("ADDED s", created)
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_bookmark_comes_after_a_minute_with_the_newest_version() {
    let (server, client) = start().await;
    let now = version(&client.get(SECRETS).await.ok());
    let path = format!("{SECRETS}?watch=true&allowWatchBookmarks=true&resourceVersion={now}");
    let mut watch = client.watch(&path).await;
    let elsewhere = client.post(CONFIG_MAPS, &config_map("a", "1")).await.ok();
    advance(&server, 59_000).await;
    watch.stays_quiet(QUIET).await;
    advance(&server, 2_300).await;
    let bookmark = watch.event().await;
    assert_eq!(bookmark.kind, "BOOKMARK");
    assert_eq!(bookmark.version(), version(&elsewhere));
    server.shutdown().await;
}

#[tokio::test]
async fn the_last_bookmark_comes_two_seconds_before_the_end() {
    let (server, client) = start().await;
    let now = version(&client.get(SECRETS).await.ok());
    let path = format!(
        "{SECRETS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=30&resourceVersion={now}"
    );
    let mut watch = client.watch(&path).await;
    client.post(CONFIG_MAPS, &config_map("a", "1")).await.ok();
    advance(&server, 27_999).await;
    watch.stays_quiet(QUIET).await;
    advance(&server, 1).await;
    assert_eq!(watch.event().await.kind, "BOOKMARK");
    advance(&server, 1_999).await;
    watch.stays_quiet(QUIET).await;
    advance(&server, 1).await;
    assert_eq!(watch.next(support::PATIENCE).await, Next::End);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_long_step_is_the_sum_of_its_moments() {
    let (server, client) = start().await;
    let now = version(&client.get(SECRETS).await.ok());
    let path = format!(
        "{SECRETS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=90&resourceVersion={now}"
    );
    let mut watch = client.watch(&path).await;
    client.post(CONFIG_MAPS, &config_map("a", "1")).await.ok();
    advance(&server, 3_600_000).await;
    let events = watch.until_end(support::PATIENCE).await;
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["BOOKMARK", "BOOKMARK"]);
    server.shutdown().await;
}

#[tokio::test]
async fn old_versions_are_compacted_after_five_to_ten_minutes() {
    let (server, client) = start().await;
    let created = version(&client.post(SECRETS, &secret("s")).await.ok());
    client.post(SECRETS, &secret("t")).await.ok();
    let page = client.get(&format!("{SECRETS}?limit=1")).await.ok();
    let token = page["metadata"]["continue"].as_str().unwrap().to_owned();
    let exact = format!("{SECRETS}?resourceVersion={created}&resourceVersionMatch=Exact");
    let next = format!("{SECRETS}?limit=1&continue={token}");
    change(&client, "s", HISTORY_EVENTS - 2).await;
    advance(&server, 300_000).await;
    // What the history had is too old to stay.
    change(&client, "t", 10).await;
    assert_eq!(
        client.get(&exact).await.ok()["items"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(client.get(&next).await.status, 200);
    advance(&server, 300_000).await;
    let gone = client.get(&exact).await;
    assert_eq!(gone.status, 410, "{}", gone.json());
    let text = "The resourceVersion for the provided list is too old.";
    assert_eq!(gone.json()["message"], text);
    let gone = client.get(&next).await.json();
    assert_eq!(gone["reason"], "Expired", "{gone}");
    let onward = gone["metadata"]["continue"].as_str().unwrap();
    let rest = client
        .get(&format!("{SECRETS}?continue={onward}"))
        .await
        .ok();
    assert_eq!(rest["items"][0]["metadata"]["name"], "t");
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_is_gone_an_hour_later() {
    let (server, client) = start().await;
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "type": "Normal",
        "reason": "R", "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
    });
    let created = version(&client.post(EVENTS, &event).await.ok());
    let path = format!("{EVENTS}?watch=true&timeoutSeconds=7200&resourceVersion={created}");
    let mut watch = client.watch(&path).await;
    advance(&server, 3_600_000).await;
    watch.stays_quiet(QUIET).await;
    // Objects share leases, so one may live up to a minute longer.
    advance(&server, 60_000).await;
    assert_eq!(watch.event().await.brief(), "DELETED e");
    assert_eq!(client.get(&format!("{EVENTS}/e")).await.status, 404);
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_namespace_ends_five_seconds_after_its_deletion() {
    let (server, client) = start().await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}});
    client.post("/api/v1/namespaces", &namespace).await.ok();
    client
        .post("/api/v1/namespaces/n/secrets", &secret("s"))
        .await
        .ok();
    client.delete("/api/v1/namespaces/n").await.ok();
    advance(&server, 4_999).await;
    let there = client.get("/api/v1/namespaces/n").await.ok();
    assert_eq!(there["status"]["phase"], "Terminating");
    advance(&server, 1).await;
    assert_eq!(client.get("/api/v1/namespaces/n").await.status, 404);
    server.shutdown().await;
}

#[tokio::test]
async fn a_version_of_the_future_is_waited_for_three_seconds() {
    let (server, client) = start().await;
    let waiting = client.clone();
    let path = format!("{SECRETS}?resourceVersion=900000000000000");
    let answer = tokio::spawn(async move { waiting.get(&path).await });
    tokio::time::sleep(QUIET).await;
    advance(&server, 2_900).await;
    tokio::time::sleep(QUIET).await;
    assert!(!answer.is_finished());
    advance(&server, 100).await;
    assert_eq!(answer.await.unwrap().status, 504);
    server.shutdown().await;
}

#[tokio::test]
async fn the_clock_is_advanced_over_the_api() {
    let (server, client) = start().await;
    let at = |answer: &Value| answer["now"].as_str().unwrap().to_owned();
    let before = client.get("/masthead/clock").await.ok();
    assert_eq!(before["sinceStart"], "0s");
    let path = "/masthead/clock/advance?by=1m15s";
    let after = client.call(Method::POST, path, None).await.ok();
    assert_eq!(after["advanced"], "75s");
    assert!(at(&after) > at(&before), "{before} {after}");
    let stamped = client.post(SECRETS, &secret("s")).await.ok();
    assert_eq!(stamped["metadata"]["creationTimestamp"], after["now"]);
    for (by, code) in [("", 400), ("soon", 400), ("721h", 400)] {
        let path = format!("/masthead/clock/advance?by={by}");
        assert_eq!(
            client.call(Method::POST, &path, None).await.status,
            code,
            "{by}"
        );
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_server_that_goes_by_real_time_refuses_to_jump() {
    let server = Server::builder().start().await.unwrap();
    let client = Client::of(&server);
    let path = "/masthead/clock/advance?by=1s";
    let refused = client.call(Method::POST, path, None).await;
    assert_eq!(refused.status, 403);
    assert!(
        refused.json()["message"]
            .as_str()
            .unwrap()
            .contains("--virtual-clock")
    );
    assert!(server.advance(Duration::from_secs(1)).await.is_err());
    server.shutdown().await;
}

#[test]
fn the_command_advances_the_clock_of_a_running_server() {
    let server = Masthead::start(&Options {
        arguments: vec!["--virtual-clock".to_owned()],
        ..Options::default()
    });
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_masthead"));
        command
            .arg("clock")
            .args(words)
            .arg("--kubeconfig")
            .arg(server.kubeconfig());
        let output = command.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{error}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(run(&["show"])["sinceStart"], "0s");
    assert_eq!(run(&["advance", "75s"])["advanced"], "75s");
    assert_eq!(run(&["show"])["sinceStart"], "75s");
}
