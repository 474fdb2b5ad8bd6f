//! The benches themselves, one file each; what they have in common is here.

pub(super) mod fanout;
pub(super) mod idle;
pub(super) mod resume;
pub(super) mod single;

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};

use super::args::{Match, Work};
use super::client::{Call, Client, ClientError};
use super::error::BenchError;
use super::fleet::{Fleet, Start};
use super::layout::Layout;
use super::load::{Job, Load};
use super::namespace::Namespace;
use super::objects::{Kind, Objects};
use super::processes::Processes;
use super::progress::{Counter, Progress};
use super::report::Report;
use super::wire::Clock;
use super::writing::{Writers, Writing};

/// Watches that are opened at a time, where it is not the opening that is measured.
const OPENINGS: usize = 64;
/// Clients that make the objects before a measure begins.
const PREPARING_CLIENTS: u32 = 16;

/// What a bench works with.
pub(super) struct Bench {
    pub(super) client: Client,
    pub(super) clock: Clock,
    pub(super) processes: Option<Processes>,
    pub(super) progress: Progress,
    pub(super) namespace: Namespace,
    /// How many streams the server takes on a connection; `None` with HTTP/1.1.
    pub(super) streams_max: Option<usize>,
}

impl Bench {
    /// Does the work.
    pub(super) async fn run(&self, work: &Work) -> Result<Report, BenchError> {
        match work {
            Work::Create(args) => single::create(self, args).await,
            Work::Get(args) => single::get(self, args).await,
            Work::List(args) => single::list(self, args).await,
            Work::Fanout(args) => fanout::run(self, args).await,
            Work::Idle(args) => idle::run(self, args).await,
            Work::Resume(args) => resume::run(self, args).await,
        }
    }

    /// Makes the objects with the numbers 0, `stride`, 2 · `stride` and so on.
    async fn prepare(&self, objects: &Objects, count: u64, stride: u64) -> Result<(), BenchError> {
        let load = Load {
            job: Job::Create {
                objects: objects.clone(),
                stride,
            },
            calls: count,
            clients: PREPARING_CLIENTS,
            done: self.progress.phase("making objects", count),
        };
        let what = "make the objects";
        let told = |source| BenchError::Setup { what, source };
        let loaded = load.connect(&self.client).await.map_err(told)?.run().await;
        if loaded.faults.count() == 0 {
            return Ok(());
        }
        let first = loaded.faults.first();
        Err(BenchError::SetupFaults { what, first })
    }

    /// Makes the objects of `layout`, and what pods need where no controller makes it.
    async fn prepare_for(&self, objects: &Objects, layout: &Layout) -> Result<(), BenchError> {
        if layout.kind() == Kind::Pod {
            self.make_service_account().await?;
        }
        self.prepare(objects, layout.objects, layout.subject(1))
            .await
    }

    /// The account without which upstream admits no pod.
    async fn make_service_account(&self) -> Result<(), BenchError> {
        let told = |source| BenchError::Setup {
            what: "make the service account for the pods",
            source,
        };
        let mut connection = self.client.connect().await.map_err(told)?;
        let body = json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default"},
        });
        let path = self.namespace.path("serviceaccounts");
        let call = Call::new(Method::POST, path).body(body.to_string());
        match connection.json(&call).await {
            // A controller was faster.
            Err(error) if error.is_conflict() => Ok(()),
            done => done.map(drop).map_err(told),
        }
    }

    /// The version of the objects at this path, from which watchers can start.
    async fn version(&self, path: &str) -> Result<String, BenchError> {
        let told = |source| BenchError::Setup {
            what: "read the version to watch from",
            source,
        };
        let mut connection = self.client.connect().await.map_err(told)?;
        let call = Call::get(format!("{path}?limit=1"));
        let list = connection.json(&call).await.map_err(told)?;
        let version = list.pointer("/metadata/resourceVersion");
        let version = version.and_then(Value::as_str).map(str::to_owned);
        version.ok_or_else(|| {
            told(ClientError::Answer {
                what: "resourceVersion",
            })
        })
    }

    /// How a fleet starts that sees what comes after `after`.
    fn start(&self, layout: &Arc<Layout>, path: &str, after: &str, streams: u32) -> Start {
        Start {
            client: self.client.clone(),
            clock: self.clock,
            layout: Arc::clone(layout),
            path: path.to_owned(),
            after: after.to_owned(),
            streams,
            live_after: 0,
            openings: OPENINGS,
            live: self.progress.phase("watchers live", layout.watchers),
        }
    }

    /// Writers that are connected and have not begun.
    async fn writers(
        &self,
        layout: &Arc<Layout>,
        objects: Objects,
        rate: u32,
    ) -> Result<Writers, BenchError> {
        let writing = Writing {
            clock: self.clock,
            layout: Arc::clone(layout),
            objects,
            rate,
            done: self.progress.phase("updates", layout.writes),
            faults: Arc::default(),
        };
        let what = "connect the writers";
        let connected = writing.connect(&self.client).await;
        connected.map_err(|source| BenchError::Setup { what, source })
    }

    /// How many watches go on a connection, if so many are wanted.
    fn streams(&self, wanted: u32) -> Result<u32, BenchError> {
        match self.streams_max {
            None => Ok(1),
            Some(offered) if offered < wanted as usize => Err(BenchError::Streams {
                offered,
                wanted: wanted as usize,
            }),
            Some(_) => Ok(wanted),
        }
    }

    /// Something that moves while a phase goes on.
    fn phase(&self, label: &'static str, total: u64) -> Counter {
        self.progress.phase(label, total)
    }
}

/// Waits until the whole fleet is live.
async fn all_live(fleet: &Fleet) -> Result<(), BenchError> {
    if fleet.live().await {
        return Ok(());
    }
    Err(BenchError::Watchers {
        live: fleet.live_count(),
        wanted: fleet.watchers(),
        first: fleet.faults().first(),
    })
}

/// Watchers of everything, and writers whose updates all of them see.
fn everything(watchers: u32, writes: u64, writers: u32) -> Arc<Layout> {
    let (watchers, writers) = (u64::from(watchers), u64::from(writers));
    Arc::new(Layout::new(Match::All, watchers, writes, writers))
}
