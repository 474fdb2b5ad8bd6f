//! [`Kubectl`]: the real kubectl, with a home of its own.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long one command may take.
const COMMAND_BOUND: Duration = Duration::from_mins(1);

/// kubectl for one server.
#[derive(Clone, Debug)]
pub(crate) struct Kubectl {
    program: OsString,
    kubeconfig: PathBuf,
    home: PathBuf,
}

/// What a command printed, and how it ended.
#[derive(Clone, Debug)]
pub(crate) struct Printed {
    /// Its standard output.
    pub(crate) out: String,
    /// Its standard error.
    pub(crate) err: String,
    /// How it ended.
    pub(crate) status: ExitStatus,
}

impl Kubectl {
    /// kubectl with that kubeconfig; caches and the like go into `home`.
    pub(crate) fn new(kubeconfig: &Path, home: &Path) -> Self {
        std::fs::create_dir_all(home).unwrap();
        Self {
            program: program(),
            kubeconfig: kubeconfig.to_owned(),
            home: home.to_owned(),
        }
    }

    /// Runs one command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Printed {
        self.feed(arguments, "")
    }

    /// Runs one command to its end, with `input` as its standard input.
    pub(crate) fn feed(&self, arguments: &[&str], input: &str) -> Printed {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A command that takes no input may have closed it.
        drop(stdin.write_all(input.as_bytes()));
        drop(stdin);
        let out = read_all(child.stdout.take().unwrap());
        let err = read_all(child.stderr.take().unwrap());
        let status = wait(&mut child, COMMAND_BOUND);
        let (out, err) = (out.join().unwrap(), err.join().unwrap());
        let Some(status) = status else {
            panic!("kubectl {arguments:?} took over {COMMAND_BOUND:?}: {out}{err}");
        };
        Printed { out, err, status }
    }

    /// What one command printed, which must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        self.ok_fed(arguments, "")
    }

    /// What one command printed, which must succeed with `input` as its standard input.
    pub(crate) fn ok_fed(&self, arguments: &[&str], input: &str) -> String {
        let printed = self.feed(arguments, input);
        assert!(
            printed.status.success(),
            "kubectl {arguments:?}: {}{}",
            printed.err,
            printed.out
        );
        printed.out
    }

    /// Starts a line of shell in which `kubectl` is this one and `masthead.kubeconfig` is where a
    /// server writes it; the two outputs are one.
    pub(crate) fn start_shell(&self, line: &str) -> Child {
        let bin = self.home.join("bin");
        if !bin.exists() {
            std::fs::create_dir(&bin).unwrap();
            symlink(&self.program, bin.join("kubectl")).unwrap();
            symlink(&self.kubeconfig, self.home.join("masthead.kubeconfig")).unwrap();
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let mut shell = self.prepared(Command::new("bash"));
        shell
            .env("PATH", format!("{}:{path}", bin.display()))
            .args(["-c", &format!("exec 2>&1; {line}")]);
        Child::of(shell)
    }

    /// Starts a command that goes on, such as a watch.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        Child::of(self.command(arguments))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.prepared(Command::new(&self.program));
        command.args(arguments);
        command
    }

    fn prepared(&self, mut command: Command) -> Command {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home)
            .env("KUBECONFIG", &self.kubeconfig)
            .current_dir(&self.home)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// A command that goes on; killed when dropped.
#[derive(Debug)]
pub(crate) struct Child {
    process: process::Child,
    lines: Receiver<String>,
    err: Option<JoinHandle<String>>,
}

impl Child {
    fn of(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::null()).spawn().unwrap();
        let lines = read_lines(process.stdout.take().unwrap());
        let err = Some(read_all(process.stderr.take().unwrap()));
        Self {
            process,
            lines,
            err,
        }
    }

    /// The next line of its standard output, if one comes within `bound`.
    pub(crate) fn next_line(&self, bound: Duration) -> Option<String> {
        self.lines.recv_timeout(bound).ok()
    }

    /// The next `count` lines, which must come within `bound` each.
    pub(crate) fn lines(&mut self, count: usize, bound: Duration) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.len() < count {
            let Some(line) = self.next_line(bound) else {
                let err = self.kill();
                panic!(
                    "line {} of {count} did not come after {lines:?}; {err}",
                    lines.len()
                );
            };
            lines.push(line);
        }
        lines
    }

    /// Waits for its own end, which must come within `bound`; the lines not yet read, what it
    /// wrote to its standard error, and how it ended.
    pub(crate) fn end(mut self, bound: Duration) -> Printed {
        let status = wait(&mut self.process, bound);
        let err = self.kill();
        let out = self.lines.iter().map(|line| line + "\n").collect();
        let Some(status) = status else {
            panic!("kubectl did not end within {bound:?}: {out}{err}");
        };
        Printed { out, err, status }
    }

    /// Ends it, if it has not ended; what it wrote to its standard error.
    fn kill(&mut self) -> String {
        drop(self.process.kill());
        drop(self.process.wait());
        self.err
            .take()
            .map(|err| err.join().unwrap())
            .unwrap_or_default()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// `$MASTHEAD_TEST_KUBECTL`, else the one that `scripts/test.sh` fetches, else the one on `$PATH`.
fn program() -> OsString {
    if let Some(program) = std::env::var_os("MASTHEAD_TEST_KUBECTL") {
        return program;
    }
    let fetched = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/tools/bin/kubectl"
    );
    if Path::new(fetched).is_file() {
        return fetched.into();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|dir| dir.join("kubectl"))
        .find(|file| file.is_file())
        .unwrap_or_else(|| {
            panic!(
                "this test needs kubectl: run the tests with scripts/test.sh, which fetches it, or \
                 set MASTHEAD_TEST_KUBECTL"
            )
        })
        .into()
}

/// The exit status, if it comes within `bound`; otherwise the child is killed.
fn wait(child: &mut process::Child, bound: Duration) -> Option<ExitStatus> {
    let until = Instant::now() + bound;
    while Instant::now() < until {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(5));
    }
    drop(child.kill());
    drop(child.wait());
    None
}

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        drop(from.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn read_lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
