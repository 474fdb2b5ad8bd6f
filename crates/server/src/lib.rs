//! The HTTP shell of Masthead: TLS, authentication, routes, streaming.

mod app;
pub mod auth;
mod background;
pub mod clock;
pub mod config;
mod door;
mod handle;
pub mod health;
mod hub;
pub mod kubeconfig;
mod leases;
pub mod listen;
mod load;
pub mod metrics;
mod past;
pub mod pki;
mod rendering;
mod respond;
pub mod start;
mod stream;
mod uncached;
pub mod version;
mod warnings;

pub use app::{App, AppError};
pub use config::Config;
pub use start::{Running, StartError};
pub use uncached::{CacheSizes, CacheSizesError};

/// Starts a server with everything behind it.
///
/// # Errors
/// See [`StartError`].
pub async fn start(config: Config) -> Result<Running, StartError> {
    start::start_with(config, App::open).await
}
