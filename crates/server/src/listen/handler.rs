//! [`Handler`]: what stands behind the listener and answers requests.

use std::net::SocketAddr;
use std::sync::Arc;

use http::{Request, Response};
use hyper::body::Incoming;

use super::ResponseBody;
use crate::auth::User;

/// Who sent a request.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Where the connection comes from.
    pub addr: SocketAddr,
    /// Who it is. The listener fills in the user of the client certificate, if there was one;
    /// behind an [`auth::Guard`](crate::auth::Guard) it is always somebody, if only
    /// `system:anonymous`.
    pub user: Option<Arc<User>>,
    /// Whether the connection speaks HTTP/2.
    pub http2: bool,
}

/// Answers requests. Each runs in a task of its own; a panic ends that request with a 500.
pub trait Handler: Send + Sync + 'static {
    /// Answers one request.
    ///
    /// Cancel-safe it must be: the future is dropped where the client goes away.
    fn handle(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: Peer,
    ) -> impl Future<Output = Response<ResponseBody>> + Send;

    /// Called once, after the last connection has ended: the place to close files.
    fn close(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}
