//! A server from its settings to its end.
//!
//! ```text
//! check ─▶ bind ─▶ open the data ─▶ certificates, token ─▶ kubeconfig ─▶ serve ─▶ shutdown
//! ```
//! The address is taken first, so that a second server on the same port touches nothing. The data
//! is opened before anything is written into its directory, so that a directory of something
//! else is refused untouched.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rustls::ServerConfig;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::auth::{Authenticator, Guard, Token};
use crate::config::{Config, ConfigError, Storage, Transport};
use crate::kubeconfig::Kubeconfig;
use crate::listen::{
    Handler, Listener, Shutdown, ShutdownTrigger, TlsError, bind, serve, server_config, shutdown,
};
use crate::metrics::Metrics;
use crate::pki::{Names, Pki, PkiError, host_name};

/// A server that answers requests until it is shut down or dropped.
pub struct Running {
    address: SocketAddr,
    url: String,
    kubeconfig: String,
    kubeconfig_file: Option<PathBuf>,
    token: Token,
    ca_pem: Option<String>,
    metrics: Arc<Metrics>,
    trigger: ShutdownTrigger,
    serving: JoinHandle<()>,
}

/// Starts a server. It answers when this returns. Must be called within a tokio runtime.
///
/// # Errors
/// [`StartError`], one for each step above.
pub async fn start(config: Config) -> Result<Running, StartError> {
    start_with(config, App::open).await
}

/// Starts a server; `open` makes the handler behind authentication from the settings, the
/// metrics, the word that will tell it to stop, and the address that clients will come to. Must
/// be called within a tokio runtime.
///
/// # Errors
/// [`StartError`], one for each step above.
pub async fn start_with<H, F, O, E>(config: Config, open: F) -> Result<Running, StartError>
where
    H: Handler,
    F: FnOnce(Config, Arc<Metrics>, Shutdown, SocketAddr) -> O,
    O: Future<Output = Result<Arc<H>, E>>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    config.check()?;
    let bind_error = |source| StartError::Bind {
        address: config.listen,
        source,
    };
    let socket = bind(config.listen).map_err(bind_error)?;
    let address = socket.local_addr().map_err(bind_error)?;
    let (trigger, ear) = shutdown();
    let metrics = Arc::new(Metrics::new());
    let inner = open(config.clone(), Arc::clone(&metrics), ear.clone(), address)
        .await
        .map_err(|error| StartError::Open(error.into()))?;
    let ready = match credentials(&config, address) {
        Ok(ready) => ready,
        Err(error) => {
            inner.close().await;
            return Err(error);
        }
    };
    let authenticator = Authenticator::new(ready.token.clone());
    let serving = tokio::spawn(serve(Listener {
        socket,
        tls: ready.tls,
        limits: config.limits,
        shutdown_grace: config.shutdown_grace,
        handler: Arc::new(Guard::new(authenticator, inner)),
        shutdown: ear,
    }));
    Ok(Running {
        address,
        url: ready.kubeconfig.server.clone(),
        kubeconfig: ready.kubeconfig.to_yaml(),
        kubeconfig_file: config.kubeconfig_out,
        token: ready.token,
        ca_pem: ready.kubeconfig.tls.map(|(ca, _)| ca),
        metrics,
        trigger,
        serving,
    })
}

/// What lets clients in.
struct Credentials {
    tls: Option<Arc<ServerConfig>>,
    token: Token,
    kubeconfig: Kubeconfig,
}

fn credentials(config: &Config, address: SocketAddr) -> Result<Credentials, StartError> {
    let dir = match &config.storage {
        Storage::DataDir(dir) => Some(dir.join("pki")),
        Storage::Ephemeral => None,
    };
    let pki = match config.transport {
        Transport::Tls => Some(certificates(config, dir.as_deref())?),
        Transport::InsecureHttp => None,
    };
    let token = match &dir {
        Some(dir) => {
            crate::pki::files::make_dir(dir)?;
            Token::load_or_create(&dir.join("admin.token"))?
        }
        None => Token::generate()?,
    };
    let tls = pki.as_ref().map(server_config).transpose()?.map(Arc::new);
    let kubeconfig = Kubeconfig {
        server: config.url(address),
        tls: pki.map(|pki| (pki.ca_pem().to_owned(), pki.admin().clone())),
        token: token.reveal().to_owned(),
    };
    if let Some(file) = &config.kubeconfig_out {
        kubeconfig.write(file)?;
    }
    Ok(Credentials {
        tls,
        token,
        kubeconfig,
    })
}

fn certificates(config: &Config, dir: Option<&Path>) -> Result<Pki, PkiError> {
    let now = Timestamp::now();
    let names = Names::of(config, host_name().as_deref());
    match dir {
        Some(dir) => Pki::load_or_create(dir, &names, now),
        None => Pki::ephemeral(&names, now),
    }
}

impl Running {
    /// The address on which it listens, with the port that the system chose.
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Its URL for clients on the same machine.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The text of a kubeconfig for its admin.
    pub fn kubeconfig(&self) -> &str {
        &self.kubeconfig
    }

    /// Where the kubeconfig was written, if it was.
    pub fn kubeconfig_file(&self) -> Option<&Path> {
        self.kubeconfig_file.as_deref()
    }

    /// The admin's token.
    pub fn token(&self) -> &str {
        self.token.reveal()
    }

    /// The certificate of its authority as PEM; `None` with plain HTTP.
    pub fn ca_pem(&self) -> Option<&str> {
        self.ca_pem.as_deref()
    }

    /// Its numbers.
    pub const fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Stops: no new connections, watches end, requests in flight may finish within the grace,
    /// and the data is closed when this returns.
    pub async fn shutdown(self) {
        self.trigger.stop();
        if let Err(error) = self.serving.await {
            tracing::error!(%error, "the listener ended by a panic");
        }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A setting makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address is not to be had.
    #[error("cannot listen on {address}: {source}; choose another address with --listen")]
    Bind {
        /// Which one.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// No certificates, no token or no kubeconfig.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// No TLS with these certificates.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The data cannot be opened.
    #[error("{0}")]
    Open(#[source] Box<dyn std::error::Error + Send + Sync>),
}
