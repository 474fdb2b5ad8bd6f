//! The first quarter of an hour with the server: the commands that the README shows, with the real
//! kubectl; stopping and starting again; mistakes on the command line.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failure here is a test's"
)]

mod support;
#[path = "quickstart/transcript.rs"]
mod transcript;

use std::fs;
use std::process::{Command, Output};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use support::{CONFIG_MAPS, Child, Event, Masthead, Next, Options, PATIENCE};
use support::{config_map, version};

/// How long a clean stop may take.
const STOP: Duration = Duration::from_secs(15);

/// What a newcomer tries first.
const TRANSCRIPT: &str = include_str!("quickstart/transcript.md");

const CONFIG_MAP: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  k: v
";

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx:1.29
";

/// The columns of the line that starts with `name`.
fn row<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let rows = || {
        table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>())
    };
    rows()
        .find(|columns| columns.first() == Some(&name))
        .unwrap_or_else(|| panic!("no {name} in\n{table}"))
}

/// The next row that a `kubectl get -w` prints.
fn next_row(watch: &mut Child) -> Vec<String> {
    watch.lines(1, PATIENCE)[0]
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn config_maps_are_created_labelled_watched_and_deleted() {
    let server = Masthead::ephemeral();
    let kubectl = server.kubectl();
    let file = server.scratch().join("cm.yaml");
    fs::write(&file, CONFIG_MAP).unwrap();
    let file = file.to_str().unwrap();

    let namespaces = kubectl.ok(&["get", "ns"]);
    assert_eq!(row(&namespaces, "NAME"), ["NAME", "STATUS", "AGE"]);
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        assert_eq!(row(&namespaces, name)[1], "Active");
    }
    assert_eq!(kubectl.ok(&["create", "-f", file]), "configmap/a created\n");
    let again = kubectl.run(&["create", "-f", file]);
    assert!(again.err.contains("(AlreadyExists)"), "{}", again.err);
    assert!(!again.status.success());

    let mut watch = kubectl.start(&["get", "cm", "-w"]);
    assert_eq!(next_row(&mut watch), ["NAME", "DATA", "AGE"]);
    assert_eq!(next_row(&mut watch)[..2], ["a", "1"]);
    assert_eq!(
        kubectl.ok(&["label", "cm", "a", "app=x"]),
        "configmap/a labeled\n"
    );
    assert_eq!(next_row(&mut watch)[..2], ["a", "1"]);
    kubectl.ok(&[
        "patch",
        "cm",
        "a",
        "--type=merge",
        "-p",
        r#"{"data":{"more":"v"}}"#,
    ]);
    assert_eq!(next_row(&mut watch)[..2], ["a", "2"]);

    assert_eq!(
        row(&kubectl.ok(&["get", "cm", "-l", "app=x"]), "a")[..2],
        ["a", "2"]
    );
    assert_eq!(kubectl.ok(&["get", "cm", "-l", "app=y"]), "");
    assert!(
        kubectl
            .ok(&["get", "cm", "a", "-o", "yaml"])
            .contains("more: v")
    );

    let waiting = kubectl.start(&["wait", "--for=delete", "cm/a", "--timeout=30s"]);
    let deleted = kubectl.ok(&["delete", "cm", "a"]);
    assert!(deleted.starts_with("configmap \"a\" deleted"), "{deleted}");
    assert_eq!(next_row(&mut watch)[..2], ["a", "2"]);
    let waited = waiting.end(PATIENCE);
    assert!(waited.status.success(), "{}", waited.err);
    let gone = kubectl.run(&["get", "cm", "a"]);
    assert_eq!(
        gone.err,
        "Error from server (NotFound): configmaps \"a\" not found\n"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deployment_is_applied_shown_scaled_and_deleted() {
    let server = Masthead::ephemeral();
    let kubectl = server.kubectl();
    let apply = |text: &str| kubectl.ok_fed(&["apply", "-f", "-"], text);
    assert_eq!(apply(DEPLOYMENT), "deployment.apps/web created\n");
    assert_eq!(apply(DEPLOYMENT), "deployment.apps/web unchanged\n");
    let newer = DEPLOYMENT.replace("nginx:1.29", "nginx:1.30");
    assert_eq!(apply(&newer), "deployment.apps/web configured\n");

    let shown = kubectl.ok(&["get", "deploy", "web", "-o", "yaml"]);
    for line in [
        "apiVersion: apps/v1",
        "  replicas: 2",
        "  progressDeadlineSeconds: 600",
        "      - image: nginx:1.30",
        "  generation: 2",
    ] {
        assert!(shown.lines().any(|l| l == line), "no {line:?} in\n{shown}");
    }
    let scaled = kubectl.ok(&["scale", "deploy", "web", "--replicas=3"]);
    assert_eq!(scaled, "deployment.apps/web scaled\n");
    let table = kubectl.ok(&["get", "deploy"]);
    assert_eq!(
        row(&table, "NAME"),
        ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    );
    assert_eq!(row(&table, "web")[1], "0/3");

    let server_side = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
    let applied = kubectl.ok_fed(&server_side, &newer);
    assert_eq!(applied, "deployment.apps/web serverside-applied\n");
    assert_eq!(row(&kubectl.ok(&["get", "deploy"]), "web")[1], "0/2");

    let deleted = kubectl.ok(&["delete", "deploy", "web"]);
    assert!(
        deleted.starts_with("deployment.apps \"web\" deleted"),
        "{deleted}"
    );
    assert_eq!(kubectl.ok(&["get", "deploy"]), "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_finds_its_way_around() {
    let server = Masthead::ephemeral();
    let kubectl = server.kubectl();
    let resources = kubectl.ok(&["api-resources"]);
    assert_eq!(
        row(&resources, "NAME"),
        ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]
    );
    assert_eq!(
        row(&resources, "configmaps"),
        ["configmaps", "cm", "v1", "true", "ConfigMap"]
    );
    assert_eq!(
        row(&resources, "deployments"),
        ["deployments", "deploy", "apps/v1", "true", "Deployment"]
    );
    assert!(
        kubectl
            .ok(&["api-versions"])
            .lines()
            .any(|line| line == "apps/v1")
    );
    assert!(kubectl.ok(&["version"]).contains("Server Version: v1.3"));

    kubectl.ok_fed(&["create", "-f", "-"], CONFIG_MAP);
    let list = "/api/v1/namespaces/default/configmaps?watch=true&timeoutSeconds=2";
    let events = kubectl.ok(&["get", "--raw", list]);
    let events: Vec<Event> = events.lines().map(Event::parse).collect();
    assert_eq!(
        events.iter().map(Event::brief).collect::<Vec<_>>(),
        ["ADDED a"]
    );

    let namespace = r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}"#;
    kubectl.ok_fed(&["create", "-f", "-"], namespace);
    kubectl.ok_fed(&["create", "-n", "other", "-f", "-"], CONFIG_MAP);
    let everywhere = kubectl.ok(&["get", "cm", "-A"]);
    assert_eq!(row(&everywhere, "other")[1], "a");
    assert!(
        kubectl
            .ok(&["delete", "ns", "other"])
            .contains("\"other\" deleted")
    );
    let missing = kubectl.run(&["get", "cm", "a", "-n", "other"]);
    assert!(missing.err.contains("not found"), "{}", missing.err);
}

fn on_data(dir: &tempfile::TempDir) -> Options {
    Options {
        data_dir: Some(dir.path().join("data")),
        ..Options::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_keeps_objects_versions_and_the_past() {
    let dir = tempfile::tempdir().unwrap();
    let server = Masthead::start(&on_data(&dir));
    let client = server.client();
    let first = client.post(CONFIG_MAPS, &config_map("a", "1")).await.ok();
    let changed = client
        .merge(&format!("{CONFIG_MAPS}/a"), &json!({"data": {"k": "2"}}))
        .await;
    let changed = changed.ok();
    let mut watch = client
        .watch(&format!(
            "{CONFIG_MAPS}?watch=true&resourceVersion={}",
            version(&first)
        ))
        .await;
    assert_eq!(watch.event().await.version(), version(&changed));
    let last = client.post(CONFIG_MAPS, &config_map("b", "1")).await.ok();
    assert_eq!(server.terminate(STOP).code(), Some(0));

    let server = Masthead::start(&on_data(&dir));
    let client = server.client();
    assert_eq!(client.get(&format!("{CONFIG_MAPS}/a")).await.ok(), changed);
    let path = format!(
        "{CONFIG_MAPS}?watch=true&resourceVersion={}",
        version(&changed)
    );
    let mut watch = client.watch(&path).await;
    let missed = watch.event().await;
    assert_eq!((missed.kind.as_str(), &missed.object), ("ADDED", &last));
    watch.stays_quiet(Duration::from_millis(500)).await;
    let later = client.post(CONFIG_MAPS, &config_map("c", "1")).await.ok();
    assert!(version(&later) > version(&last));
    assert_eq!(watch.event().await.object, later);
    assert_eq!(server.terminate(STOP).code(), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_is_a_clean_stop_that_ends_watches() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = Masthead::ephemeral();
        let path = format!("{CONFIG_MAPS}?watch=true");
        let client = server.client();
        let mut watches = vec![
            client.watch(&path).await,
            client.over_http1().watch(&path).await,
            client.watch(&format!("{path}&resourceVersion=1")).await,
        ];
        let printed = server.kubectl().start(&["get", "--raw", &path]);
        client.post(CONFIG_MAPS, &config_map("a", "1")).await.ok();
        for watch in &mut watches {
            assert_eq!(watch.event().await.brief(), "ADDED a");
        }
        let line = printed.next_line(PATIENCE).unwrap();
        assert_eq!(Event::parse(&line).brief(), "ADDED a");

        server.signal(signal);
        for watch in &mut watches {
            assert_eq!(watch.next(STOP).await, Next::End);
        }
        assert_eq!(server.wait(STOP).code(), Some(0), "{}", server.log());
        let ended = printed.end(PATIENCE);
        assert!(ended.status.success(), "{}", ended.err);
    }
}

#[tokio::test]
async fn a_second_server_on_the_same_data_is_told_who_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let server = Masthead::start(&on_data(&dir));
    let refusal = Masthead::try_start(&on_data(&dir)).unwrap_err();
    assert_eq!(refusal.code, Some(1));
    let data = dir.path().join("data");
    for part in [data.to_str().unwrap(), "in use", &server.pid().to_string()] {
        assert!(
            refusal.message.contains(part),
            "no {part:?} in {}",
            refusal.message
        );
    }
    assert_eq!(server.client().get(CONFIG_MAPS).await.status, 200);
}

#[tokio::test]
async fn a_directory_of_something_else_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("letter"), "dear").unwrap();
    let options = Options {
        data_dir: Some(dir.path().to_owned()),
        ..Options::default()
    };
    let refusal = Masthead::try_start(&options).unwrap_err();
    assert_eq!(refusal.code, Some(1));
    assert!(
        refusal.message.contains("not a Masthead data directory"),
        "{}",
        refusal.message
    );
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

fn masthead(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_masthead"))
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn help_fits_on_one_screen() {
    for arguments in [&["--help"][..], &["-h"], &["help"], &["serve", "--help"]] {
        let output = masthead(arguments);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(
            text.lines().count() <= 40,
            "{arguments:?}: {}",
            text.lines().count()
        );
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
    }
}

#[test]
fn a_mistake_on_the_command_line_is_named_and_nothing_starts() {
    for (arguments, part) in [
        (&["--no-such-flag"][..], "--no-such-flag"),
        (&["serve", "--listen", "nowhere"], "nowhere"),
        (&["--ephemeral", "--data-dir", "x"], "--data-dir"),
        (&["sevre"], "sevre"),
    ] {
        let output = masthead(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(part), "{message}");
        assert!(output.stdout.is_empty());
    }
}

/// The README's transcripts and the one beside this file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transcripts_come_true_word_by_word() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    for document in [
        TRANSCRIPT.to_owned(),
        fs::read_to_string(readme).unwrap_or_default(),
    ] {
        let server = Masthead::ephemeral();
        transcript::run(&server.kubectl(), &transcript::steps(&document));
    }
}

#[test]
fn a_transcript_is_read_as_it_is_written() {
    let document = "text\n```console\n$ masthead\nready\n$ kubectl apply -f - <<EOF\na: b\nEOF\n\
                    done\n```\n$ kubectl no\n```console\n$ kubectl get ns\n```\n";
    let step = |command: &str, output: &[&str]| transcript::Step {
        command: command.to_owned(),
        output: output.iter().map(|line| (*line).to_owned()).collect(),
    };
    assert_eq!(
        transcript::steps(document),
        [
            step("kubectl apply -f - <<EOF\na: b\nEOF", &["done"]),
            step("kubectl get ns", &[])
        ]
    );
    assert!(!transcript::steps(TRANSCRIPT).is_empty());
}

#[test]
fn a_transcript_that_does_not_come_true_is_noticed() {
    let check = |wanted: &[&str], got: &[&str], matches: bool| {
        let lines = |of: &[&str]| of.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let said = transcript::matches(&lines(wanted), &lines(got));
        assert_eq!(said, matches, "{wanted:?} {got:?}");
    };
    check(&["a   1  5s"], &["a 1 2m10s"], true);
    check(&["a   1  5s"], &["a 2 5s"], false);
    check(&["a"], &["a", "b"], false);
    check(&["a", "b"], &["a"], false);
    check(&["a", "..."], &["a", "b"], true);
    check(&["...", "b", "..."], &["a", "b"], true);
    check(&["...", "c", "..."], &["a", "b"], false);
    check(&[], &[], true);
}
