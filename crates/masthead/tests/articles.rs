//! The experiments of the articles on List-Watch that this server was built to answer: what
//! a watch sees from a version, from now and from nothing; how a version grows too old; what
//! bookmarks are good for; what a selector makes of a change. With kubectl where one would try it
//! by hand, over HTTP where time or numbers matter.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failure here is a test's"
)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};
use support::{CONFIG_MAPS, Client, Event, Kubectl, Masthead, Next, PATIENCE, Protocol, Watch};
use support::{config_map, version, within};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until};

/// How long to look at a stream from which nothing is expected.
const QUIET: Duration = Duration::from_secs(1);

/// The versions of some writes: a and b created, a modified, b deleted, c created, c modified.
struct Past {
    a: u64,
    b: u64,
    a_modified: u64,
    c: u64,
    c_modified: u64,
}

async fn past(client: &Client) -> Past {
    let of = |name: &str| format!("{CONFIG_MAPS}/{name}");
    let change = json!({"data": {"k": "2"}});
    let a = version(&client.post(CONFIG_MAPS, &config_map("a", "1")).await.ok());
    let b = version(&client.post(CONFIG_MAPS, &config_map("b", "1")).await.ok());
    let a_modified = version(&client.merge(&of("a"), &change).await.ok());
    client.delete(&of("b")).await.ok();
    let c = version(&client.post(CONFIG_MAPS, &config_map("c", "1")).await.ok());
    let c_modified = version(&client.merge(&of("c"), &change).await.ok());
    Past {
        a,
        b,
        a_modified,
        c,
        c_modified,
    }
}

/// The path of a watch over all ConfigMaps of the namespace.
fn watch_path(parameters: &str) -> String {
    format!("{CONFIG_MAPS}?watch=true&{parameters}")
}

/// The events that `kubectl get --raw` prints for a watch of three seconds, and its end.
fn raw_watch(kubectl: &Kubectl, parameters: &str) -> Vec<Event> {
    let path = watch_path(&format!("{parameters}&timeoutSeconds=3"));
    let printed = kubectl.start(&["get", "--raw", &path]).end(PATIENCE);
    assert!(printed.status.success(), "{path}: {}", printed.err);
    printed.out.lines().map(Event::parse).collect()
}

fn brief(events: &[Event]) -> Vec<String> {
    events.iter().map(Event::brief).collect()
}

/// Whether an event is the bookmark that ends the initial events.
fn ends_initial_events(event: &Event) -> bool {
    let annotations = &event.object["metadata"]["annotations"];
    event.kind == "BOOKMARK" && annotations["k8s.io/initial-events-end"] == "true"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_a_version_comes_exactly_what_came_after_it() {
    let server = Masthead::ephemeral();
    let client = server.client();
    let past = past(&client).await;
    let check = |events: &[Event]| {
        assert_eq!(
            brief(events),
            ["MODIFIED a", "DELETED b", "ADDED c", "MODIFIED c"]
        );
        let versions: Vec<u64> = events.iter().map(Event::version).collect();
        assert_eq!(
            [versions[0], versions[2], versions[3]],
            [past.a_modified, past.c, past.c_modified]
        );
        assert!(
            past.a_modified < versions[1] && versions[1] < past.c,
            "{versions:?}"
        );
        assert_eq!(
            events[1].object["data"],
            json!({"k": "1"}),
            "what was there before"
        );
    };
    let from_b = format!("resourceVersion={}", past.b);
    check(&raw_watch(&server.kubectl(), &from_b));
    for client in [client.clone(), client.over_http1()] {
        let mut watch = client.watch(&watch_path(&from_b)).await;
        check(&watch.events(4).await);
        watch.stays_quiet(QUIET).await;
    }
    let from_a = format!("resourceVersion={}&timeoutSeconds=1", past.a);
    let all = client
        .watch(&watch_path(&from_a))
        .await
        .until_end(PATIENCE)
        .await;
    assert_eq!(brief(&all)[..2], ["ADDED b", "MODIFIED a"]);
    assert_eq!(all.len(), 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_the_current_version_comes_nothing_until_something_happens() {
    let server = Masthead::ephemeral();
    let client = server.client();
    past(&client).await;
    let now = version(&client.get(CONFIG_MAPS).await.ok());
    let path = watch_path(&format!("resourceVersion={now}"));
    let mut kubectl = server.kubectl().start(&["get", "--raw", &path]);
    let mut watch = client.watch(&path).await;
    watch.stays_quiet(QUIET).await;
    assert_eq!(kubectl.next_line(Duration::ZERO), None);

    let live = version(
        &client
            .post(CONFIG_MAPS, &config_map("live", "1"))
            .await
            .ok(),
    );
    client.delete(&format!("{CONFIG_MAPS}/live")).await.ok();
    let events = watch.events(2).await;
    assert_eq!(brief(&events), ["ADDED live", "DELETED live"]);
    assert_eq!(events[0].version(), live);
    assert!(events[1].version() > live);
    let printed: Vec<Event> = kubectl
        .lines(2, PATIENCE)
        .iter()
        .map(|line| Event::parse(line))
        .collect();
    assert_eq!(printed, events);
    watch.stays_quiet(QUIET).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_version_comes_what_is_there_and_nothing_of_what_was_deleted() {
    let server = Masthead::ephemeral();
    let client = server.client();
    let past = past(&client).await;
    for parameters in ["", "resourceVersion=0"] {
        let events = raw_watch(&server.kubectl(), parameters);
        assert_eq!(brief(&events), ["ADDED a", "ADDED c"], "{parameters:?}");
        let versions = [events[0].version(), events[1].version()];
        assert_eq!(
            versions,
            [past.a_modified, past.c_modified],
            "each has its own"
        );

        let mut watch = client.watch(&watch_path(parameters)).await;
        assert_eq!(watch.events(2).await, events);
        watch.stays_quiet(QUIET).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn initial_events_end_with_a_bookmark_that_says_so() {
    let server = Masthead::ephemeral();
    let client = server.client();
    let past = past(&client).await;
    let asked = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let check = |events: &[Event]| {
        assert_eq!(brief(&events[..2]), ["ADDED a", "ADDED c"]);
        assert!(ends_initial_events(&events[2]), "{events:?}");
        assert!(events[2].version() >= past.c_modified, "{events:?}");
    };
    let printed = raw_watch(&server.kubectl(), asked);
    check(&printed);
    assert!(
        printed[3..].iter().all(|event| event.kind == "BOOKMARK"),
        "{printed:?}"
    );

    let mut watch = client.watch(&watch_path(asked)).await;
    check(&watch.events(3).await);
    client.delete(&format!("{CONFIG_MAPS}/a")).await.ok();
    assert_eq!(after_bookmarks(&mut watch).await.brief(), "DELETED a");
}

/// The next event that is no plain bookmark.
async fn after_bookmarks(watch: &mut Watch) -> Event {
    loop {
        let event = watch.event().await;
        if event.kind != "BOOKMARK" {
            return event;
        }
        assert!(!ends_initial_events(&event), "that comes once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_selector_makes_a_change_of_labels_appear_and_vanish() {
    let server = Masthead::ephemeral();
    let (client, kubectl) = (server.client(), server.kubectl());
    let before = version(&client.get(CONFIG_MAPS).await.ok());
    let path = watch_path(&format!("resourceVersion={before}&labelSelector=app%3Dx"));
    let mut printed = kubectl.start(&["get", "--raw", &path]);
    let mut watch = client.watch(&path).await;

    client
        .post(CONFIG_MAPS, &config_map("other", "1"))
        .await
        .ok();
    let mut object = config_map("a", "1");
    object["metadata"]["labels"] = json!({"app": "x"});
    client.post(CONFIG_MAPS, &object).await.ok();
    kubectl.ok(&["label", "cm", "a", "app=y", "--overwrite"]);
    kubectl.ok(&["label", "cm", "a", "more=z"]);
    kubectl.ok(&["label", "cm", "a", "app=x", "--overwrite"]);
    client
        .merge(&format!("{CONFIG_MAPS}/a"), &json!({"data": {"k": "2"}}))
        .await
        .ok();
    kubectl.ok(&["delete", "cm", "a"]);

    let events = watch.events(5).await;
    assert_eq!(
        brief(&events),
        ["ADDED a", "DELETED a", "ADDED a", "MODIFIED a", "DELETED a"]
    );
    let labels: Vec<&Value> = events
        .iter()
        .map(|event| &event.object["metadata"]["labels"]["app"])
        .collect();
    assert!(
        labels.iter().all(|label| **label == "x"),
        "what left is shown as it was: {labels:?}"
    );
    assert!(events.is_sorted_by_key(Event::version));
    watch.stays_quiet(QUIET).await;
    let lines: Vec<Event> = printed
        .lines(5, PATIENCE)
        .iter()
        .map(|line| Event::parse(line))
        .collect();
    assert_eq!(lines, events);
    let replayed = client.watch(&path).await.events(5).await;
    assert_eq!(
        replayed, events,
        "a replay of the past is what was seen live"
    );
}

/// One object in a steady stream of writes, over a few HTTP/2 connections.
struct Load {
    stop: Arc<AtomicBool>,
    made: Arc<AtomicU64>,
    writers: Vec<JoinHandle<()>>,
}

impl Load {
    /// Patches the object at `path` so often a second, never more in any stretch from the start.
    fn start(client: &Client, path: &str, rate: u32) -> Self {
        const CONNECTIONS: u32 = 4;
        let (stop, made) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let began = Instant::now();
        let writer = |number: u32| {
            let (client, path) = (client.clone(), path.to_owned());
            let (stop, made) = (Arc::clone(&stop), Arc::clone(&made));
            tokio::spawn(async move {
                let mut connection = client.connect(Protocol::Http2).await.unwrap();
                let mut due = began + Duration::from_secs(1) * number / rate;
                while !stop.load(Ordering::Relaxed) {
                    sleep_until(due).await;
                    due += Duration::from_secs(1) * CONNECTIONS / rate;
                    let count = made.fetch_add(1, Ordering::Relaxed);
                    let body = json!({"data": {"k": count.to_string()}}).to_string();
                    let body = ("application/merge-patch+json", Bytes::from(body));
                    let request = client.request(Method::PATCH, &path, Some(body));
                    let answer = within(PATIENCE, "a write", connection.call(request)).await;
                    answer.unwrap().ok();
                }
            })
        };
        let writers = (0..CONNECTIONS).map(writer).collect();
        Self {
            stop,
            made,
            writers,
        }
    }

    /// Ends it; all its writes must have succeeded.
    async fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        for writer in self.writers {
            within(PATIENCE, "the end of a writer", writer)
                .await
                .unwrap();
        }
        self.made.load(Ordering::Relaxed)
    }
}

/// The ERROR with which a watch of the quiet object from `version` is answered, if it is.
async fn refusal(client: &Client, version: u64) -> Option<Value> {
    let path = quiet_path(&format!("resourceVersion={version}&timeoutSeconds=1"));
    let events = client.watch(&path).await.until_end(PATIENCE).await;
    events
        .into_iter()
        .find(|event| event.kind == "ERROR")
        .map(|event| event.object)
}

fn quiet_path(parameters: &str) -> String {
    watch_path(&format!("fieldSelector=metadata.name%3Dquiet&{parameters}"))
}

/// The 410 that says how old `version` is: the status, and the oldest version it would take.
fn check_expired(status: &Value, version: u64) {
    assert_eq!(
        (&status["code"], &status["reason"]),
        (&json!(410), &json!("Expired"))
    );
    let message = status["message"].as_str().unwrap();
    let oldest = message
        .strip_prefix(&format!("too old resource version: {version} ("))
        .and_then(|rest| rest.strip_suffix(')'))
        .unwrap_or_else(|| panic!("{message}"));
    assert!(oldest.parse::<u64>().unwrap() > version, "{message}");
}

/// Reads a watch in the background: its events and when each came.
fn follow(mut watch: Watch) -> JoinHandle<(Watch, Vec<(Instant, Event)>)> {
    tokio::spawn(async move {
        let mut seen = Vec::new();
        let until = Instant::now() + Duration::from_secs(70);
        loop {
            match watch
                .next(until.saturating_duration_since(Instant::now()))
                .await
            {
                Next::Event(event) => seen.push((Instant::now(), event)),
                Next::Quiet => return (watch, seen),
                other => panic!("the watch ended early: {other:?}"),
            }
        }
    })
}

/// Both experiments need over a minute of real time, so they share it: a version expires under
/// steady writes of other objects; a watcher with bookmarks has a newer one by then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_version_expires_under_steady_writes_and_a_bookmark_does_not() {
    let server = Masthead::ephemeral();
    let client = server.client();
    let quiet = version(
        &client
            .post(CONFIG_MAPS, &config_map("quiet", "1"))
            .await
            .ok(),
    );
    let began = Instant::now();
    client
        .post(CONFIG_MAPS, &config_map("noise", "1"))
        .await
        .ok();
    let from = format!("resourceVersion={quiet}");
    let mut plain = client.apart().watch(&quiet_path(&from)).await;
    let marked = client
        .apart()
        .watch(&quiet_path(&format!("{from}&allowWatchBookmarks=true")))
        .await;
    let marked = follow(marked);
    let load = Load::start(&client, &format!("{CONFIG_MAPS}/noise"), 85);

    let expired = loop {
        if let Some(status) = refusal(&client, quiet).await {
            break status;
        }
        assert!(
            began.elapsed() < Duration::from_secs(170),
            "{quiet} is still good"
        );
        sleep(Duration::from_millis(200)).await;
    };
    assert!(
        began.elapsed() >= Duration::from_secs(75),
        "good for 75 s: {:?}",
        began.elapsed()
    );
    check_expired(&expired, quiet);
    let printed = raw_watch(&server.kubectl(), &from);
    assert_eq!(
        (printed.len(), printed[0].kind.as_str()),
        (1, "ERROR"),
        "and then the end"
    );
    check_expired(&printed[0].object, quiet);

    let (mut marked, marks) = within(PATIENCE, "the bookmarks", marked).await.unwrap();
    assert!(
        marks.iter().all(|(_, event)| event.kind == "BOOKMARK"),
        "{marks:?}"
    );
    let (first, _) = marks.first().unwrap();
    let first = first.duration_since(began).as_secs();
    assert!(
        (50..70).contains(&first),
        "a bookmark about once a minute, not after {first} s"
    );
    let mark = marks.last().unwrap().1.version();
    assert!(mark > quiet);
    let mut reconnected = client
        .watch(&quiet_path(&format!("resourceVersion={mark}")))
        .await;

    let list = client.get(CONFIG_MAPS).await.ok();
    assert_eq!(list["items"].as_array().map(Vec::len), Some(2));
    let mut fresh = client
        .watch(&quiet_path(&format!("resourceVersion={}", version(&list))))
        .await;
    let moved = client
        .merge(
            &format!("{CONFIG_MAPS}/quiet"),
            &json!({"data": {"k": "2"}}),
        )
        .await;
    let moved = version(&moved.ok());
    for watch in [&mut plain, &mut marked, &mut reconnected, &mut fresh] {
        let event = after_bookmarks(watch).await;
        assert_eq!(
            (event.brief().as_str(), event.version()),
            ("MODIFIED quiet", moved)
        );
    }
    let made = load.end().await;
    assert!(made > 1_500, "a steady load: {made}");
}
