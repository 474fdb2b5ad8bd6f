//! [`Masthead`]: the built binary as a process of its own.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::Value;
use tempfile::TempDir;

use super::{Client, Kubectl, PATIENCE};

/// How a server is started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// Where the objects are kept; in memory, where `None`.
    pub(crate) data_dir: Option<PathBuf>,
    /// More words of the command line.
    pub(crate) arguments: Vec<String>,
}

/// A running server; killed when dropped.
#[derive(Debug)]
pub(crate) struct Masthead {
    child: Child,
    url: String,
    address: SocketAddr,
    token: String,
    authority: CertificateDer<'static>,
    scratch: TempDir,
}

/// What a server said that did not start.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// Its exit code.
    pub(crate) code: Option<i32>,
    /// Its standard error.
    pub(crate) message: String,
}

impl Masthead {
    /// A server that keeps its objects in memory.
    pub(crate) fn ephemeral() -> Self {
        Self::start(&Options::default())
    }

    /// A server that keeps its objects in `dir`.
    pub(crate) fn on(dir: &Path) -> Self {
        Self::start(&Options {
            data_dir: Some(dir.to_owned()),
            ..Options::default()
        })
    }

    /// A server that must start.
    pub(crate) fn start(options: &Options) -> Self {
        Self::try_start(options).unwrap_or_else(|refusal| {
            panic!(
                "the server ended with {:?}: {}",
                refusal.code, refusal.message
            )
        })
    }

    /// A server, ready for requests, or what it said when it ended instead.
    pub(crate) fn try_start(options: &Options) -> Result<Self, Refusal> {
        let scratch = tempfile::tempdir().unwrap();
        let kubeconfig = scratch.path().join("kubeconfig");
        let mut command = Command::new(env!("CARGO_BIN_EXE_masthead"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
        command.arg("--kubeconfig-out").arg(&kubeconfig);
        match &options.data_dir {
            Some(dir) => command.arg("--data-dir").arg(dir),
            None => command.arg("--ephemeral"),
        };
        let log = File::create(scratch.path().join("log")).unwrap();
        let mut child = command
            .args(&options.arguments)
            .current_dir(scratch.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let Some(line) = first_line(&mut child) else {
            drop(child.kill());
            let status = child.wait().unwrap();
            let message = fs::read_to_string(scratch.path().join("log")).unwrap();
            return Err(Refusal {
                code: status.code(),
                message,
            });
        };
        let url = line["url"].as_str().unwrap().to_owned();
        let address = url.trim_start_matches("https://").parse().unwrap();
        let config = fs::read_to_string(&kubeconfig).unwrap();
        let token = member(&config, "token");
        let authority = authority(&config);
        Ok(Self {
            child,
            url,
            address,
            token,
            authority,
            scratch,
        })
    }

    /// The server's URL, without a slash at the end.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The admin's token.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// The certificate of the server's authority.
    pub(crate) const fn authority(&self) -> &CertificateDer<'static> {
        &self.authority
    }

    /// The admin's kubeconfig.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.scratch.path().join("kubeconfig")
    }

    /// A directory for files of the test, gone with the server.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// An HTTP client for the admin.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.address, &self.token, &self.authority)
    }

    /// kubectl for the admin.
    pub(crate) fn kubectl(&self) -> Kubectl {
        Kubectl::new(&self.kubeconfig(), &self.scratch.path().join("home"))
    }

    /// What it wrote to its standard error so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.scratch.path().join("log")).unwrap()
    }

    /// Whether it is still running.
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Memory that the process holds now, in bytes.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap();
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
            * 1024
    }

    /// Sends `signal`.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Sends SIGTERM and waits for the end, which must come within `bound`.
    pub(crate) fn terminate(mut self, bound: Duration) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait(bound)
    }

    /// Waits for the end, which must come within `bound`.
    pub(crate) fn wait(&mut self, bound: Duration) -> ExitStatus {
        let until = Instant::now() + bound;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!(
            "the server did not end within {bound:?}; its log: {}",
            self.log()
        );
    }

    /// Sends SIGKILL and waits for the end.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Masthead {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("log of the server at {}:\n{}", self.url, self.log());
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The line with which the server says that it is ready; `None` if it ended before.
fn first_line(child: &mut Child) -> Option<Value> {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let read = out.read_line(&mut line);
        drop(sender.send(read.map(|_| line)));
        // The rest is read too, so that the server never writes into a closed pipe.
        drop(std::io::copy(&mut out, &mut std::io::sink()));
    });
    let line = receiver
        .recv_timeout(PATIENCE)
        .unwrap_or_else(|_| panic!("the server neither started nor ended within {PATIENCE:?}"))
        .unwrap();
    if line.is_empty() {
        None
    } else {
        Some(serde_json::from_str(&line).unwrap())
    }
}

/// The value of a member of the kubeconfig, which has one a line.
fn member(kubeconfig: &str, name: &str) -> String {
    let head = format!("{name}: ");
    let value = kubeconfig
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(&head))
        .unwrap_or_else(|| panic!("no {name} in the kubeconfig"));
    serde_json::from_str(value).unwrap()
}

/// The authority's certificate: PEM within base64. A reader of PEM undoes both.
fn authority(kubeconfig: &str) -> CertificateDer<'static> {
    let data = member(kubeconfig, "certificate-authority-data");
    let wrapped = format!("-----BEGIN CERTIFICATE-----\n{data}\n-----END CERTIFICATE-----\n");
    let pem = CertificateDer::from_pem_slice(wrapped.as_bytes()).unwrap();
    CertificateDer::from_pem_slice(&pem).unwrap()
}
