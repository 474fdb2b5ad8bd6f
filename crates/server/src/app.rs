//! [`App`]: what stands behind the listener: store, caches, catalog, and the work that goes on
//! without a request.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::JoinHandle;

use masthead_api::{Object, Status, StatusCause};
use masthead_objects::discovery::Discovery;
use masthead_objects::openapi::OpenApi;
use masthead_objects::write::{self, Expected, WriteContext};
use masthead_objects::{Catalog, Resource, SharedResource, StorageId, convert};
use masthead_store::{DataDir, FjallLog, Reader, SpaceGuard, Store, StoreId};
use masthead_watch::EndReason;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::background::{bootstrap, compaction, namespaces};
use crate::clock::{Clock, Driven};
use crate::config::{Config, Storage};
use crate::door::Door;
use crate::health::{Endpoint, Health};
use crate::hub::Hub;
use crate::listen::Shutdown;
use crate::load;
use crate::metrics::{Metrics, ResourceMetrics};
use crate::stream::websocket::Sockets;
use crate::uncached::Caching;

/// Everything that answers requests.
pub struct App {
    pub(crate) catalog: &'static Catalog,
    pub(crate) hub: Arc<Hub>,
    pub(crate) door: Door,
    /// Reads the past; gone once the server has stopped, so that the data is closed.
    reader: Mutex<Option<Reader>>,
    pub(crate) config: Config,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) discovery: Discovery,
    openapi: LazyLock<OpenApi>,
    pub(crate) health: Health,
    /// The numbers of each storage, in the order of their ids.
    resource_metrics: Vec<Arc<ResourceMetrics>>,
    namespaces: SharedResource,
    /// Watches that go over WebSockets.
    pub(crate) sockets: Sockets,
    tasks: Mutex<JoinSet<()>>,
    committer: Mutex<Option<JoinHandle<()>>>,
}

/// Why a server could not open its store.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The data directory.
    #[error(transparent)]
    Directory(#[from] masthead_store::DirError),
    /// The log in it.
    #[error(transparent)]
    Open(#[from] masthead_store::OpenError),
    /// What is stored could not be read.
    #[error(transparent)]
    Load(#[from] load::LoadError),
    /// The committing thread could not be started.
    #[error("the committing thread could not be started")]
    Thread(#[source] std::io::Error),
    /// The table of resources is broken.
    #[error("the table of resources has no namespaces")]
    Catalog,
    /// The first objects could not be written.
    #[error("the initial objects could not be written: {0}")]
    Bootstrap(String),
}

impl App {
    /// Opens the store, fills the caches and starts what runs by itself.
    ///
    /// # Errors
    /// The store cannot be opened or read; the message says what to do.
    pub async fn open(
        config: Config,
        metrics: Arc<Metrics>,
        shutdown: Shutdown,
        address: SocketAddr,
    ) -> Result<Arc<Self>, AppError> {
        let catalog = Catalog::builtin();
        let namespaces = catalog
            .resource("", "v1", "namespaces")
            .ok_or(AppError::Catalog)?;
        let clock = Clock::start(config.virtual_clock.as_ref());
        let store = open_store(&config, &clock)?;
        let reader = store.reader();
        let caches = load::caches(&reader, catalog, &config)?;
        let hub = Arc::new(Hub::new(caches, reader.revision(), clock));
        let (door, committer) =
            Door::open(store, Arc::clone(&hub), catalog).map_err(AppError::Thread)?;
        let health = health(&shutdown, &door);
        let app = Arc::new(Self {
            catalog,
            hub,
            door,
            reader: Mutex::new(Some(reader)),
            discovery: Discovery::new(catalog, &address.to_string()),
            openapi: LazyLock::new(|| {
                OpenApi::new(Catalog::builtin(), &crate::version::git_version())
            }),
            health,
            resource_metrics: resource_metrics(catalog, &metrics),
            config,
            metrics,
            namespaces: Arc::clone(namespaces),

            sockets: Sockets::default(),
            tasks: Mutex::default(),
            committer: Mutex::new(Some(committer)),
        });
        bootstrap::run(&app, address)
            .await
            .map_err(|s| AppError::Bootstrap(s.message))?;
        app.start_tasks(shutdown);
        Ok(app)
    }

    fn start_tasks(self: &Arc<Self>, mut shutdown: Shutdown) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let clock = self.hub.clock();
        let hub = Arc::clone(&self.hub);
        if let Some(by_hand) = clock.by_hand() {
            let hub: Arc<dyn Driven> = hub;
            by_hand.drive(Arc::downgrade(&hub));
        } else {
            tasks.spawn(async move { hub.run_timer().await });
        }
        let (hub, door, timer) = (Arc::clone(&self.hub), self.door.clone(), clock.timer());
        let interval = self.config.compaction_interval;
        tasks.spawn(compaction::run(hub, door, interval, timer));
        let (door, ttl) = (self.door.clone(), self.config.event_ttl);
        tasks.spawn(compaction::tidy(door, ttl, clock.timer()));
        tasks.spawn(namespaces::run(Arc::downgrade(self), clock.follower()));
        let hub = Arc::clone(&self.hub);
        tasks.spawn(async move {
            shutdown.stopping().await;
            hub.end_all(EndReason::Shutdown);
        });
    }

    /// Stops what runs by itself and waits until everything that was accepted is durable.
    pub(crate) async fn stop(&self) {
        let mut tasks =
            std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        tasks.shutdown().await;
        // Where no connection was left to wait for, the task that says so may not have had its turn.
        self.hub.end_all(EndReason::Shutdown);
        self.sockets.close().await;
        self.door.stop().await;
        self.reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let committer = self
            .committer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(committer) = committer {
            let joined = tokio::task::spawn_blocking(move || committer.join()).await;
            if !matches!(joined, Ok(Ok(()))) {
                tracing::error!("the committing thread ended with a panic");
            }
        }
    }

    /// A handle for reading the past.
    pub(crate) fn reader(&self) -> Result<Reader, Status> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader
            .clone()
            .ok_or_else(|| Status::service_unavailable("apiserver is shutting down"))
    }

    /// By which rules `resource` is served.
    pub(crate) fn caching(&self, resource: &Resource) -> Caching {
        Caching::of(&self.config, resource)
    }

    /// The resource of namespaces.
    pub(crate) fn namespaces(&self) -> &SharedResource {
        &self.namespaces
    }

    /// Time and chance for one write.
    pub(crate) fn write_context(&self) -> WriteContext {
        let uid = uuid::Uuid::new_v4();
        WriteContext {
            now: self.hub.clock().timestamp(),
            uid: uid.to_string(),
            suffix: suffix(uuid::Uuid::new_v4().as_u128()),
        }
    }

    /// The resource in whose version objects of `resource` are stored.
    pub(crate) fn stored<'a>(&'a self, resource: &'a SharedResource) -> &'a SharedResource {
        if resource.is_stored_version {
            return resource;
        }
        resource
            .storage
            .and_then(|id| self.catalog.stored(id))
            .unwrap_or(resource)
    }

    /// The OpenAPI documents, made when they are first asked for.
    pub(crate) fn openapi(&self) -> &OpenApi {
        &self.openapi
    }

    /// The numbers of a resource.
    pub(crate) fn resource_metrics(&self, storage: StorageId) -> Arc<ResourceMetrics> {
        self.resource_metrics
            .get(usize::from(storage.0))
            .cloned()
            .unwrap_or_else(|| Arc::new(self.metrics.resource("", "", "")))
    }

    /// Brings the numbers up to date that are read off the caches.
    pub(crate) fn refresh_metrics(&self) {
        for storage in self.hub.storages() {
            let metrics = self.resource_metrics(storage);
            self.hub.inspect(storage, |cache| {
                let stats = cache.stats();
                metrics.cache_totals(stats.received, stats.dispatched, stats.terminated);
                metrics.objects(cache.len());
                metrics.cache_capacity(cache.capacity());
                metrics.cache_at(cache.revision(self.hub.head()).get());
            });
        }
    }

    /// Refuses new objects in a namespace that is missing or on its way out.
    pub(crate) fn check_namespace(
        &self,
        resource: &SharedResource,
        namespace: &str,
        name: &str,
    ) -> Result<(), Status> {
        if !resource.is_namespaced() {
            return Ok(());
        }
        let storage = storage_of(&self.namespaces)?;
        match self.hub.get(storage, namespace) {
            None => Err(Status::not_found("", "namespaces", namespace)),
            Some(found) if found.fields.get("status.phase") == "Terminating" => {
                Err(terminating(resource, name, namespace))
            }
            Some(_) => Ok(()),
        }
    }
}

/// Where objects of `resource` are.
pub(crate) fn storage_of(resource: &Resource) -> Result<StorageId, Status> {
    resource.storage.ok_or_else(Status::method_not_allowed)
}

/// An object as a tree, in the version of `resource`.
pub(crate) fn value_of(resource: &Resource, object: &Object) -> Result<Value, Status> {
    let value = serde_json::from_slice(object.json())
        .map_err(|error| Status::internal_error(&format!("{}: {error}", object.key)))?;
    Ok(if resource.is_stored_version {
        value
    } else {
        convert::from_stored(resource, value)
    })
}

fn open_store(config: &Config, clock: &Clock) -> Result<Store, AppError> {
    let Storage::DataDir(path) = &config.storage else {
        return Ok(Store::in_memory());
    };
    let (id, _) = uuid::Uuid::new_v4().as_u64_pair();
    let directory = DataDir::open(path, StoreId(id))?;
    let log = Arc::new(FjallLog::open(directory)?);
    let space = SpaceGuard::filesystem(path, SpaceGuard::RESERVE_BYTES);
    Ok(Store::open(log, space, clock.mono().since_start())?)
}

fn health(shutdown: &Shutdown, door: &Door) -> Health {
    let stopping = shutdown.clone();
    let writable = |door: Door| {
        move || {
            if door.is_open() {
                Ok(())
            } else {
                Err("no writes are possible".into())
            }
        }
    };
    let on = |is_stopping: bool| {
        if is_stopping {
            Err("process is shutting down".into())
        } else {
            Ok(())
        }
    };
    Health::default()
        .with(
            "etcd",
            &[Endpoint::Healthz, Endpoint::Livez],
            writable(door.clone()),
        )
        .with(
            "storage-writable",
            &[Endpoint::Readyz],
            writable(door.clone()),
        )
        .with("shutdown", &[Endpoint::Readyz], move || {
            on(stopping.is_stopping())
        })
}

fn resource_metrics(catalog: &Catalog, metrics: &Metrics) -> Vec<Arc<ResourceMetrics>> {
    let of = |resource: &SharedResource| {
        let numbers = metrics.resource(&resource.group, &resource.version, &resource.plural);
        numbers.cache_initialized();
        Arc::new(numbers)
    };
    catalog.storages().map(of).collect()
}

/// `body`, an object in the version of `resource`, in the version that is stored.
pub(crate) fn to_stored(resource: &SharedResource, body: Value) -> Result<Value, Status> {
    if resource.is_stored_version {
        return Ok(body);
    }
    let object = write::decode(resource, body.clone())
        .map_err(|error| Expected::of(resource).refuse(&body, &error))?;
    Ok(convert::to_stored(resource, object))
}

/// 403: nothing new goes into a namespace that is being deleted.
fn terminating(resource: &SharedResource, name: &str, namespace: &str) -> Status {
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    Status::forbidden(&resource.group, &resource.plural, name, &why).with_cause(StatusCause {
        reason: "NamespaceTerminating".into(),
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".into(),
    })
}

/// Five characters for the end of a generated name, as upstream draws them: no vowels and nothing
/// that is easily misread.
fn suffix(random: u128) -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut random = random;
    (0..5)
        .map(|_| {
            let at = usize::try_from(random % ALPHABET.len() as u128).unwrap_or(0);
            random /= ALPHABET.len() as u128;
            char::from(ALPHABET.get(at).copied().unwrap_or(b'x'))
        })
        .collect()
}
