//! [`Guard`]: stands before a handler and lets in who may.

use std::sync::Arc;

use http::{Request, Response};
use hyper::body::Incoming;

use super::Authenticator;
use crate::listen::{Handler, Peer, ResponseBody};

/// A handler that answers 401 and 403 itself and gives the rest, with its user, to another one.
#[derive(Debug)]
pub struct Guard<H> {
    authenticator: Authenticator,
    inner: Arc<H>,
}

impl<H: Handler> Guard<H> {
    /// Stands before `inner`.
    pub const fn new(authenticator: Authenticator, inner: Arc<H>) -> Self {
        Self {
            authenticator,
            inner,
        }
    }
}

impl<H: Handler> Handler for Guard<H> {
    async fn handle(
        self: Arc<Self>,
        request: Request<Incoming>,
        mut peer: Peer,
    ) -> Response<ResponseBody> {
        let admitted = self.authenticator.admit(
            request.headers(),
            peer.user.as_ref(),
            request.method().as_str(),
            request.uri().path(),
        );
        match admitted {
            Ok(user) => {
                peer.user = Some(user);
                Arc::clone(&self.inner).handle(request, peer).await
            }
            Err(refusal) => refusal.response(),
        }
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
