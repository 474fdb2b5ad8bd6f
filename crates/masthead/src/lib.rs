//! List-Watch, exact and fast: a Kubernetes-compatible API server in one binary.
//!
//! The binary `masthead` is one way to run it; this library is the other, for tests and for
//! programs that want a server of their own. Any number of servers run side by side in a process:
//! nothing is global, and no signal is caught.
//!
//! ```no_run
//! # async fn example() -> Result<(), masthead::StartError> {
//! // In memory, on a port of the system's choice.
//! let server = masthead::Server::builder().start().await?;
//! println!("{} with token {}", server.url(), server.token());
//! server.shutdown().await;
//! # Ok(()) }
//! ```

mod server;

pub use masthead_server::clock::{AdvanceError, Advanced, VirtualClock};
pub use masthead_server::config::{Cidr, CidrError, Config, ConfigError, Limits};
pub use masthead_server::config::{Storage, Transport};
pub use masthead_server::start::StartError;
pub use masthead_server::version::git_version;
pub use masthead_server::{CacheSizes, CacheSizesError};
pub use server::{Builder, RunningServer, Server};
