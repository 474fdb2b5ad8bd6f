//! The listener: TCP, TLS, HTTP/1.1 and HTTP/2 on one port, with a limit on everything that a
//! client could take.

mod accept;
mod body;
mod connection;
mod gather;
mod handler;
mod shutdown;
#[cfg(test)]
mod tests;
mod tls;

pub use accept::{Listener, bind, serve};
pub use body::ResponseBody;
pub use handler::{Handler, Peer};
pub use shutdown::{Shutdown, ShutdownTrigger, shutdown};
pub use tls::{TlsError, server_config};
