//! `masthead bench` against a server in this process: each work, tiny, tells clean results and
//! leaves nothing behind.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests are not \"in tests\" for clippy"
)]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use masthead::{RunningServer, Server};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::Client;

/// A server, and a folder in which its kubeconfig is.
struct World {
    server: RunningServer,
    dir: tempfile::TempDir,
}

impl World {
    async fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let server = Server::builder()
            .kubeconfig_out(dir.path().join("masthead.kubeconfig"))
            .start()
            .await
            .unwrap();
        Self { server, dir }
    }

    fn command(&self, words: &str) -> Command {
        command(self.dir.path(), words)
    }

    /// The results of a run that must be clean.
    async fn bench(&self, words: &str) -> Value {
        let mut command = self.command(words);
        let output = blocking(move || command.output().unwrap()).await;
        let told = told(&output);
        assert_eq!(output.status.code(), Some(0), "{words}: {told}");
        let line: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(line["faults"], 0, "{line}");
        assert_eq!(line["protocol"], "HTTP/2", "{line}");
        assert_eq!(line["loadSharesMachine"], true, "{line}");
        assert_eq!(line["url"], self.server.url(), "{line}");
        line
    }

    /// Nothing may be left of the runs.
    async fn end(self) {
        assert_eq!(self.namespaces_left().await, 0);
        self.server.shutdown().await;
    }

    /// How many namespaces of benches there are.
    async fn namespaces_left(&self) -> usize {
        let client = Client::of(&self.server);
        let list = client
            .get("/api/v1/namespaces?labelSelector=masthead-bench")
            .await
            .ok();
        list["items"].as_array().unwrap().len()
    }
}

fn command(dir: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_masthead"));
    command
        .args(["bench", "--json"])
        .args(words.split_whitespace())
        .current_dir(dir)
        .env_remove("KUBECONFIG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Waits for a process while the server in this one goes on.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

fn told(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn check(line: &Value, wanted: &[(&str, Value)]) {
    for (key, value) in wanted {
        assert_eq!(line[key], *value, "{key}: {line}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn creates_gets_and_lists_are_all_answered() {
    let world = World::start().await;
    let (created, got, listed) = tokio::join!(
        world.bench("create --objects 25 --clients 3 --bytes 100"),
        world.bench("get --requests 30 --clients 2"),
        world.bench("list --objects 23 --times 4 --limit 5"),
    );
    check(
        &created,
        &[("created", json!(25)), ("createdWanted", json!(25))],
    );
    assert_eq!(created["latencyMicros"]["count"], 25);
    assert!(created["perSecond"].as_f64().unwrap() > 0.0, "{created}");
    check(
        &got,
        &[("answered", json!(30)), ("answeredWanted", json!(30))],
    );
    check(&listed, &[("listed", json!(4)), ("limit", json!(5))]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_watcher_gets_every_update_or_those_of_its_own_object() {
    let world = World::start().await;
    let words = "fanout --watchers 5 --writes 10 --rate 200 --streams 2 --bytes 50";
    let run = async |selection: &str, delivered: u64| {
        let line = world.bench(&format!("{words} --match {selection}")).await;
        check(
            &line,
            &[
                ("match", json!(selection)),
                ("written", json!(10)),
                ("delivered", json!(delivered)),
                ("deliveredWanted", json!(delivered)),
                ("watchersWrong", json!(0)),
            ],
        );
        let latency = &line["eventLatencyMicros"];
        assert_eq!(latency["count"], delivered, "{line}");
        assert!(latency["p50"].as_f64() <= latency["max"].as_f64(), "{line}");
    };
    tokio::join!(
        run("all", 50),
        run("label", 10),
        run("name", 10),
        run("node", 10)
    );
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn watchers_idle_and_come_back() {
    let world = World::start().await;
    let (idle, resume) = tokio::join!(
        world.bench("idle --watchers 6 --streams 4 --seconds 1"),
        world.bench("resume --watchers 5 --writes 7 --streams 2"),
    );
    check(&idle, &[("watchersLive", json!(6))]);
    check(
        &resume,
        &[
            ("resumed", json!(5)),
            ("delivered", json!(35)),
            ("deliveredWanted", json!(35)),
            ("watchersWrong", json!(0)),
        ],
    );
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_with_a_token_and_the_cost_of_a_process_are_taken() {
    let world = World::start().await;
    let ca = world.dir.path().join("authority.crt");
    std::fs::write(&ca, world.server.ca_pem().unwrap()).unwrap();
    let (url, token) = (world.server.url(), world.server.token());
    let run = async |trust: String| {
        let own = std::process::id();
        let words = format!("get --requests 5 --url {url} --token {token} {trust} --pids {own}");
        let line = world.bench(&words).await;
        assert!(line["cpuMicrosPerGet"].as_f64().unwrap() > 0.0, "{line}");
        assert!(line["residentBytesAfter"].as_u64().unwrap() > 0, "{line}");
    };
    tokio::join!(
        run(format!("--certificate-authority {}", ca.display())),
        run("--insecure".to_owned()),
    );
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_plain_http_each_watcher_has_a_connection() {
    let server = Server::builder().insecure_http().start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let words = format!(
        "fanout --watchers 4 --writes 6 --rate 0 --url {} --token {}",
        server.url(),
        server.token()
    );
    let mut command = command(dir.path(), &words);
    let output = blocking(move || command.output().unwrap()).await;
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    let line: Value = serde_json::from_slice(&output.stdout).unwrap();
    check(
        &line,
        &[
            ("protocol", json!("HTTP/1.1")),
            ("streams", json!(1)),
            ("delivered", json!(24)),
            ("watchersWrong", json!(0)),
        ],
    );
    server.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_streams_than_the_server_takes_are_refused_with_its_number() {
    let world = World::start().await;
    let mut command = world.command("idle --watchers 10000 --streams 9999");
    let output = blocking(move || command.output().unwrap()).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(
        told(&output).contains("give --streams 250"),
        "{}",
        told(&output)
    );
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_cleans_up_too() {
    let world = World::start().await;
    let child = world
        .command("fanout --watchers 3 --writes 10000 --rate 10")
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while world.namespaces_left().await == 0 {
        assert!(Instant::now() < until, "no namespace was made");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = blocking(move || child.wait_with_output().unwrap()).await;
    let told = told(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("interrupted; the namespace"), "{told}");
    world.end().await;
}

#[test]
fn what_cannot_be_done_is_told_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let missing = PathBuf::from("/nowhere/kubeconfig");
    for (words, wanted) in [
        ("get".to_owned(), "which server?"),
        (
            format!("get --kubeconfig {}", missing.display()),
            "cannot read",
        ),
        (
            "get --url https://127.0.0.1:1 --insecure".to_owned(),
            "cannot reach",
        ),
        (
            "get --url https://127.0.0.1:1".to_owned(),
            "--certificate-authority",
        ),
        ("get --url ftp://x --insecure".to_owned(), "no URL"),
        (
            "get --url http://127.0.0.1:1 --pids 4194304".to_owned(),
            "no process 4194304",
        ),
    ] {
        let output = command(dir.path(), &words).output().unwrap();
        let told = told(&output);
        assert_eq!(output.status.code(), Some(1), "{words}: {told}");
        assert!(told.contains(wanted), "{words}: {told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
}
