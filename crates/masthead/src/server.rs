//! [`Server`]: a server within a program.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use masthead_server::start::{Running, start};

use crate::{
    AdvanceError, Advanced, CacheSizes, Cidr, Config, Limits, StartError, Storage, Transport,
    VirtualClock,
};

/// A server that is not running yet; see [`Server::builder`].
#[derive(Debug)]
pub struct Server(());

impl Server {
    /// Settings for a server in memory, with HTTPS on a loopback port of the system's choice.
    pub fn builder() -> Builder {
        Builder {
            config: Config::ephemeral(),
        }
    }
}

/// Settings of a server to be started.
#[derive(Clone, Debug)]
#[must_use = "nothing runs before start"]
pub struct Builder {
    config: Config,
}

impl From<Config> for Builder {
    fn from(config: Config) -> Self {
        Self { config }
    }
}

impl Builder {
    /// Keeps the objects in this directory, durably; it is made if it is not there.
    pub fn data_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.config.storage = Storage::DataDir(dir.into());
        self
    }

    /// Keeps the objects in memory, which is the default.
    pub fn ephemeral(mut self) -> Self {
        self.config.storage = Storage::Ephemeral;
        self
    }

    /// Listens there; with port 0 on a port of the system's choice.
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.config.listen = address;
        self
    }

    /// Speaks plain HTTP.
    pub fn insecure_http(mut self) -> Self {
        self.config.transport = Transport::InsecureHttp;
        self
    }

    /// Has one more DNS name or address in the server's certificate.
    pub fn tls_name(mut self, name: impl Into<String>) -> Self {
        self.config.tls_names.push(name.into());
        self
    }

    /// Writes a kubeconfig for the admin to this file.
    pub fn kubeconfig_out(mut self, file: impl Into<PathBuf>) -> Self {
        self.config.kubeconfig_out = Some(file.into());
        self
    }

    /// Lets Event objects live this long.
    pub fn event_ttl(mut self, ttl: Duration) -> Self {
        self.config.event_ttl = ttl;
        self
    }

    /// Ends watches without a timeout of their own after this much to twice this much.
    pub fn min_request_timeout(mut self, timeout: Duration) -> Self {
        self.config.min_request_timeout = timeout;
        self
    }

    /// Ends requests that are no watch after this long.
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.config.request_timeout = timeout;
        self
    }

    /// Drops old revisions this often; never, where zero.
    pub fn compaction_interval(mut self, interval: Duration) -> Self {
        self.config.compaction_interval = interval;
        self
    }

    /// Lets time stand still but for [`RunningServer::advance`], which see; timeouts that guard
    /// against slow clients go by real time all the same.
    pub fn virtual_clock(mut self, by_hand: bool) -> Self {
        self.config.virtual_clock = by_hand.then(VirtualClock::new);
        self
    }

    /// Serves some resources, or all where `watch_cache` is false, by the rules of the store instead
    /// of those of a watch cache.
    pub fn watch_cache(mut self, watch_cache: bool, sizes: CacheSizes) -> Self {
        self.config.watch_cache = watch_cache;
        self.config.watch_cache_sizes = sizes;
        self
    }

    /// Gives the `kubernetes` Service the first address of this range. Other Services get none yet.
    pub fn service_cidr(mut self, cidr: Cidr) -> Self {
        self.config.service_cidr = cidr;
        self
    }

    /// Bounds what one client may take.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Lets requests in flight take this long after [`RunningServer::shutdown`] was called.
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.config.shutdown_grace = grace;
        self
    }

    /// Starts the server in the current tokio runtime. It answers when this returns.
    ///
    /// # Errors
    /// [`StartError`], whose message says what to do.
    pub async fn start(self) -> Result<RunningServer, StartError> {
        let clock = self.config.virtual_clock.clone();
        let running = start(self.config).await?;
        Ok(RunningServer { running, clock })
    }
}

/// A server that answers requests. Dropped, it stops by itself in the background.
#[derive(Debug)]
pub struct RunningServer {
    running: Running,
    clock: Option<VirtualClock>,
}

impl RunningServer {
    /// Its URL for clients on the same machine.
    pub fn url(&self) -> &str {
        self.running.url()
    }

    /// The address on which it listens.
    pub const fn local_addr(&self) -> SocketAddr {
        self.running.local_addr()
    }

    /// The admin's token.
    pub fn token(&self) -> &str {
        self.running.token()
    }

    /// The text of a kubeconfig for the admin.
    pub fn kubeconfig(&self) -> &str {
        self.running.kubeconfig()
    }

    /// Where the kubeconfig was written, if it was to be.
    pub fn kubeconfig_file(&self) -> Option<&Path> {
        self.running.kubeconfig_file()
    }

    /// The certificate of its own authority as PEM; `None` with plain HTTP.
    pub fn ca_pem(&self) -> Option<&str> {
        self.running.ca_pem()
    }

    /// Advances the clock of a server with [`Builder::virtual_clock`]. When this returns, everything
    /// that was due on the way has been handled: bookmarks are queued, streams have ended, what
    /// expired is gone.
    ///
    /// # Errors
    /// [`AdvanceError`] where the server goes by real time, and for more than thirty days at once.
    pub async fn advance(&self, by: Duration) -> Result<Advanced, AdvanceError> {
        let clock = self.clock.as_ref().ok_or(AdvanceError::RealTime)?;
        clock.advance(by).await
    }

    /// Stops: watches end, requests in flight may finish, the data is closed when this returns.
    pub async fn shutdown(self) {
        self.running.shutdown().await;
    }
}
