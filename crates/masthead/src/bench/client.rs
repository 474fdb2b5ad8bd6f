//! [`Client`] makes connections, a [`Call`] is one request, [`ClientError`] is why it failed.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::access::Access;
use super::connection::{Connection, Protocol, Sender};
use super::tls::HTTP2;

/// For TCP, TLS and the first frames together.
const CONNECT_PATIENCE: Duration = Duration::from_secs(30);
/// What one stream may hold that was not read yet.
const STREAM_WINDOW_BYTES: u32 = 1 << 20;
/// What all streams of a connection may.
const CONNECTION_WINDOW_BYTES: u32 = 16 << 20;
const AGENT: &str = concat!("masthead-bench/", env!("CARGO_PKG_VERSION"));

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Call {
    method: Method,
    /// Path and query.
    path: String,
    body: Bytes,
    content_type: &'static str,
}

impl Call {
    /// A request without a body.
    pub(super) fn new(method: Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            body: Bytes::new(),
            content_type: "application/json",
        }
    }

    /// A GET.
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self::new(Method::GET, path)
    }

    /// With this JSON.
    pub(super) fn body(mut self, json: impl Into<Bytes>) -> Self {
        self.body = json.into();
        self
    }

    /// With this type of its body.
    pub(super) fn content_type(mut self, content_type: &'static str) -> Self {
        self.content_type = content_type;
        self
    }
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    #[error("no connection to {authority}: {source}")]
    Dial {
        authority: String,
        source: io::Error,
    },
    #[error("no answer within {} s", bound.as_secs())]
    Timeout { bound: Duration },
    #[error("the connection broke: {0}")]
    Http(#[from] hyper::Error),
    #[error("not a request: {0}")]
    Request(#[from] http::Error),
    #[error("refused with {code}: {message}")]
    Refused {
        code: StatusCode,
        message: String,
        /// Come back after so many seconds.
        retry_after_seconds: Option<u64>,
    },
    #[error("the answer is longer than {bytes_max} bytes")]
    TooLong { bytes_max: usize },
    #[error("the answer has no {what}")]
    Answer { what: &'static str },
}

impl ClientError {
    /// Whether the server answered that the thing is there already.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if *code == StatusCode::CONFLICT)
    }

    /// Whether the server answered that the thing is not there.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if *code == StatusCode::NOT_FOUND)
    }
}

/// Makes connections to one server.
#[derive(Clone)]
pub(super) struct Client {
    access: Arc<Access>,
}

impl Client {
    /// Of the server that `access` leads to.
    pub(super) fn new(access: Access) -> Self {
        Self {
            access: Arc::new(access),
        }
    }

    /// The way to it.
    pub(super) fn access(&self) -> &Access {
        &self.access
    }

    /// A new connection.
    pub(super) async fn connect(&self) -> Result<Connection, ClientError> {
        timeout(CONNECT_PATIENCE, self.dial())
            .await
            .map_err(|_| ClientError::Timeout {
                bound: CONNECT_PATIENCE,
            })?
    }

    async fn dial(&self) -> Result<Connection, ClientError> {
        let told = |source| ClientError::Dial {
            authority: self.access.authority.clone(),
            source,
        };
        let tcp = TcpStream::connect(&self.access.authority)
            .await
            .map_err(told)?;
        tcp.set_nodelay(true).map_err(told)?;
        let Some((config, name)) = &self.access.tls else {
            return self.http1(tcp).await;
        };
        let connector = TlsConnector::from(Arc::clone(config));
        let stream = connector.connect(name.clone(), tcp).await.map_err(told)?;
        if stream.get_ref().1.alpn_protocol() == Some(HTTP2) {
            self.http2(stream).await
        } else {
            self.http1(stream).await
        }
    }

    async fn http1<S>(&self, stream: S) -> Result<Connection, ClientError>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, driver) = http1::handshake(TokioIo::new(stream)).await?;
        let streams = Arc::default();
        let task = tokio::spawn(async move {
            // How it ended is told to whoever waits for an answer.
            drop(driver.await);
        });
        Ok(Connection::new(
            self.clone(),
            Sender::Http1(sender),
            task,
            streams,
        ))
    }

    async fn http2<S>(&self, stream: S) -> Result<Connection, ClientError>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, driver) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .initial_max_send_streams(super::connection::STREAMS_UNTOLD)
            .handshake(TokioIo::new(stream))
            .await?;
        let streams = Arc::default();
        let task = tokio::spawn(super::connection::drive(driver, Arc::clone(&streams)));
        Ok(Connection::new(
            self.clone(),
            Sender::Http2(sender),
            task,
            streams,
        ))
    }

    /// `call` as a request of `protocol`.
    pub(super) fn request(
        &self,
        call: &Call,
        protocol: Protocol,
    ) -> Result<Request<Full<Bytes>>, ClientError> {
        let access = &self.access;
        let mut request = Request::builder()
            .method(call.method.clone())
            .header(ACCEPT, "application/json")
            .header(USER_AGENT, AGENT);
        request = match protocol {
            Protocol::Http1 => request
                .header(HOST, &access.authority)
                .uri([&access.prefix, call.path.as_str()].concat()),
            Protocol::Http2 => request.uri(format!(
                "https://{}{}{}",
                access.authority, access.prefix, call.path
            )),
        };
        if let Some(authorization) = &access.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if !call.body.is_empty() {
            request = request.header(CONTENT_TYPE, call.content_type);
        }
        Ok(request.body(Full::new(call.body.clone()))?)
    }
}
