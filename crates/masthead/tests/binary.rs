//! The binary as a person or a script meets it: what it prints, and how it ends.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are not \"in tests\" for clippy"
)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

fn masthead(dir: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_masthead"));
    command.args(words).current_dir(dir);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(dir: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = masthead(dir, words).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code(), text(&stdout), text(&stderr))
}

/// Starts a server and reads the first `lines` lines that it prints.
fn start(dir: &Path, words: &[&str], lines: usize) -> (Child, Vec<String>) {
    let mut child = masthead(dir, words).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let lines = out.lines().take(lines).map(Result::unwrap).collect();
    (child, lines)
}

fn stop(mut child: Child, signal: Signal) -> Option<i32> {
    let pid = Pid::from_child(&child);
    kill_process(pid, signal).unwrap();
    child.wait().unwrap().code()
}

#[test]
fn three_lines_say_where_how_and_what_next() {
    let dir = tempfile::tempdir().unwrap();
    let words = ["--ephemeral", "--listen", "127.0.0.1:0"];
    let (child, lines) = start(dir.path(), &words, 3);
    assert!(lines[0].contains("https://127.0.0.1:"), "{lines:?}");
    assert_eq!(lines[1], "kubeconfig: masthead.kubeconfig");
    assert_eq!(
        lines[2],
        "next: kubectl --kubeconfig masthead.kubeconfig get ns"
    );
    let written = std::fs::read_to_string(dir.path().join("masthead.kubeconfig")).unwrap();
    assert!(written.contains("current-context: masthead"));
    assert_eq!(stop(child, Signal::INT), Some(0));
}

#[test]
fn a_script_gets_one_line_of_json() {
    let dir = tempfile::tempdir().unwrap();
    let words = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--kubeconfig-out",
        "k/c",
        "--log-format",
        "json",
    ];
    let (child, lines) = start(dir.path(), &words, 1);
    let line: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(line["kubeconfig"], "k/c");
    assert_eq!(line["dataDir"], "masthead-data");
    assert!(line["url"].as_str().unwrap().starts_with("https://"));
    assert_eq!(stop(child, Signal::TERM), Some(0));
    assert!(dir.path().join("masthead-data/pki/ca.crt").exists());
}

#[test]
fn the_exit_code_tells_failure_from_a_wrong_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let (code, out, error) = run(dir.path(), &["--listen", "nowhere"]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{error}");
    let (code, _, error) = run(dir.path(), &["--log-level", "a=b=c"]);
    assert_eq!(code, Some(2), "{error}");
    let (code, out, error) = run(dir.path(), &["--ephemeral", "--event-ttl", "0"]);
    assert_eq!((code, out.as_str()), (Some(1), ""), "{error}");
    assert!(
        error.contains("event-ttl must be more than zero"),
        "{error}"
    );
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, _, error) = run(dir.path(), &["--ephemeral", "--listen", &address]);
    assert_eq!(code, Some(1));
    assert!(
        error.contains(&address) && error.contains("--listen"),
        "{error}"
    );
    let (code, out, _) = run(dir.path(), &["help"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("--data-dir"));
    assert!(out.lines().count() <= 40, "{out}");
}

#[test]
fn a_snapshot_goes_out_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let (code, _, error) = run(dir.path(), &["snapshot", "save", "s"]);
    assert_eq!(code, Some(1));
    assert!(error.contains("no data in masthead-data"), "{error}");
    assert!(!dir.path().join("masthead-data").exists());
    let (child, _) = start(dir.path(), &["--listen", "127.0.0.1:0"], 3);
    let (code, _, error) = run(dir.path(), &["snapshot", "save", "s"]);
    assert_eq!(
        code,
        Some(1),
        "the running server holds the directory: {error}"
    );
    assert_eq!(stop(child, Signal::INT), Some(0));
    let (code, out, error) = run(dir.path(), &["snapshot", "save", "s"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("saved to s"), "{out}");
    let (code, out, error) = run(dir.path(), &["snapshot", "verify", "s"]);
    assert_eq!(code, Some(0), "{out}{error}");
    let words = ["snapshot", "restore", "s", "--data-dir", "back"];
    let (code, out, error) = run(dir.path(), &words);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("restored from s"), "{out}");
    let (code, _, error) = run(dir.path(), &words);
    assert_eq!(code, Some(1), "a directory in use is no target: {error}");
    let again = ["--data-dir", "back", "--listen", "127.0.0.1:0"];
    let (child, _) = start(dir.path(), &again, 3);
    assert_eq!(stop(child, Signal::INT), Some(0));
}

#[test]
fn a_quiet_log_does_not_end_the_server() {
    let dir = tempfile::tempdir().unwrap();
    for level in ["error", "off"] {
        let words = [
            "--ephemeral",
            "--listen",
            "127.0.0.1:0",
            "--log-level",
            level,
        ];
        let (mut child, _) = start(dir.path(), &words, 3);
        // A server that ends by itself does so at once.
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(child.try_wait().unwrap(), None, "{level}");
        assert_eq!(stop(child, Signal::TERM), Some(0), "{level}");
    }
}
