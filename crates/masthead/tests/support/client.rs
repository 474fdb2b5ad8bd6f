//! [`Client`]: HTTP/1.1 and HTTP/2 over TLS, as the admin.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use masthead::RunningServer;
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::{PATIENCE, Watch, within};

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    Http2,
}

/// Why there is no answer: the connection could not be made, or broke.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// No connection.
    #[error("cannot connect: {0}")]
    Connect(#[from] std::io::Error),
    /// It broke.
    #[error("no answer: {0:?}")]
    Http(#[from] hyper::Error),
}

/// Status, headers and body of one answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The code.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The whole body.
    pub(crate) body: Bytes,
}

impl Answer {
    /// The body as JSON; null where it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body of a success as JSON.
    pub(crate) fn ok(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        assert!(
            (200..300).contains(&self.status),
            "answered {}: {text}",
            self.status
        );
        self.json()
    }
}

/// A way to one server for the admin. Clones share their HTTP/2 connection.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    address: SocketAddr,
    token: String,
    http1: Arc<ClientConfig>,
    http2: Arc<ClientConfig>,
    protocol: Protocol,
    shared: Arc<Mutex<Option<http2::SendRequest<Full<Bytes>>>>>,
}

impl Client {
    /// The admin of a server that runs in this process.
    pub(crate) fn of(server: &RunningServer) -> Self {
        let authority = server.ca_pem().unwrap();
        let authority = CertificateDer::from_pem_slice(authority.as_bytes()).unwrap();
        Self::new(server.local_addr(), server.token(), &authority)
    }

    /// A client that trusts `authority` and speaks HTTP/2, over one connection for all requests.
    pub(crate) fn new(
        address: SocketAddr,
        token: &str,
        authority: &CertificateDer<'static>,
    ) -> Self {
        Self {
            address,
            token: token.to_owned(),
            http1: tls_config(authority, "http/1.1"),
            http2: tls_config(authority, "h2"),
            protocol: Protocol::Http2,
            shared: Arc::default(),
        }
    }

    /// The same way, speaking HTTP/1.1, one connection for each request.
    pub(crate) fn over_http1(&self) -> Self {
        Self {
            protocol: Protocol::Http1,
            ..self.apart()
        }
    }

    /// The same way over another connection.
    pub(crate) fn apart(&self) -> Self {
        Self {
            shared: Arc::default(),
            ..self.clone()
        }
    }

    /// The same way with other credentials.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self {
            token: token.to_owned(),
            ..self.apart()
        }
    }

    /// Where the server listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// A TLS connection without a word spoken on it.
    pub(crate) async fn dial(
        &self,
        protocol: Protocol,
    ) -> Result<TlsStream<TcpStream>, ClientError> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let config = match protocol {
            Protocol::Http1 => &self.http1,
            Protocol::Http2 => &self.http2,
        };
        let name = ServerName::IpAddress(self.address.ip().into());
        Ok(TlsConnector::from(Arc::clone(config))
            .connect(name, stream)
            .await?)
    }

    /// A connection that is kept open for as long as the value lives.
    pub(crate) async fn connect(&self, protocol: Protocol) -> Result<Connection, ClientError> {
        let io = TokioIo::new(self.dial(protocol).await?);
        let sender = match protocol {
            Protocol::Http1 => {
                let (sender, connection) = http1::handshake(io).await?;
                tokio::spawn(connection);
                Sender::Http1(sender)
            }
            Protocol::Http2 => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
                tokio::spawn(connection);
                Sender::Http2(sender)
            }
        };
        Ok(Connection { sender })
    }

    /// A request with the credentials, to be sent over a [`Connection`].
    pub(crate) fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<(&str, Bytes)>,
    ) -> Request<Full<Bytes>> {
        let builder = Request::builder()
            .method(method)
            .uri(format!("https://{}{path}", self.address))
            .header("accept", "application/json")
            .header("authorization", format!("Bearer {}", self.token))
            .header("user-agent", "masthead-test/1.0");
        match body {
            None => builder.body(Full::default()),
            Some((kind, bytes)) => builder.header("content-type", kind).body(Full::new(bytes)),
        }
        .unwrap()
    }

    /// Sends one request and returns its answer before the body; over a connection that is shared
    /// (HTTP/2) or made for it (HTTP/1.1).
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, ClientError> {
        if self.protocol == Protocol::Http1 {
            return self.connect(Protocol::Http1).await?.send(request).await;
        }
        let mut shared = self.shared.lock().await;
        let mut sender = match shared.take() {
            Some(sender) if !sender.is_closed() => sender,
            _ => match self.connect(Protocol::Http2).await?.sender {
                Sender::Http2(sender) => sender,
                Sender::Http1(_) => unreachable!("asked for HTTP/2"),
            },
        };
        *shared = Some(sender.clone());
        drop(shared);
        Ok(sender.send_request(request).await?)
    }

    /// One request and its whole answer.
    pub(crate) async fn try_call(
        &self,
        method: Method,
        path: &str,
        body: Option<(&str, Bytes)>,
    ) -> Result<Answer, ClientError> {
        whole(self.send(self.request(method, path, body)).await?).await
    }

    /// One request and its whole answer, which must come.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<(&str, Bytes)>,
    ) -> Answer {
        let what = format!("an answer to {method} {path}");
        within(PATIENCE, &what, self.try_call(method, path, body))
            .await
            .unwrap()
    }

    /// Reads.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, None).await
    }

    /// Creates.
    pub(crate) async fn post(&self, path: &str, object: &Value) -> Answer {
        self.call(Method::POST, path, Some(json_body(object))).await
    }

    /// Replaces.
    pub(crate) async fn put(&self, path: &str, object: &Value) -> Answer {
        self.call(Method::PUT, path, Some(json_body(object))).await
    }

    /// Changes with a merge patch.
    pub(crate) async fn merge(&self, path: &str, change: &Value) -> Answer {
        let bytes = Bytes::from(change.to_string());
        self.call(
            Method::PATCH,
            path,
            Some(("application/merge-patch+json", bytes)),
        )
        .await
    }

    /// Deletes.
    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.call(Method::DELETE, path, None).await
    }

    /// Opens a watch; `path` has the whole query, `watch=true` too.
    pub(crate) async fn try_watch(&self, path: &str) -> Result<Watch, ClientError> {
        Ok(Watch::new(
            self.send(self.request(Method::GET, path, None)).await?,
        ))
    }

    /// Opens a watch, which must be answered with 200.
    pub(crate) async fn watch(&self, path: &str) -> Watch {
        let what = format!("an answer to the watch {path}");
        let watch = within(PATIENCE, &what, self.try_watch(path)).await.unwrap();
        assert_eq!(watch.status, 200, "{path}");
        watch
    }
}

/// One connection that is kept open.
#[derive(Debug)]
pub(crate) struct Connection {
    sender: Sender,
}

#[derive(Debug)]
enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    /// Sends one request and returns its answer before the body. Over HTTP/1.1 the body of the
    /// answer before must have been read.
    pub(crate) async fn send(
        &mut self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, ClientError> {
        Ok(match &mut self.sender {
            Sender::Http1(sender) => {
                to_origin_form(&mut request);
                sender.ready().await?;
                sender.send_request(request).await?
            }
            Sender::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await?
            }
        })
    }

    /// Sends one request and returns its whole answer.
    pub(crate) async fn call(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Answer, ClientError> {
        whole(self.send(request).await?).await
    }

    /// Whether no more requests can be sent over it.
    pub(crate) fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::Http1(sender) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        }
    }
}

/// HTTP/1.1 has the host in a header and only the path in the request line.
fn to_origin_form(request: &mut Request<Full<Bytes>>) {
    let uri = request.uri().clone();
    if let Some(authority) = uri.authority() {
        let host = authority.as_str().parse().unwrap();
        request.headers_mut().entry("host").or_insert(host);
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        *request.uri_mut() = path.parse().unwrap();
    }
}

async fn whole(response: Response<Incoming>) -> Result<Answer, ClientError> {
    let (head, body) = response.into_parts();
    let body = body.collect().await?.to_bytes();
    Ok(Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        body,
    })
}

fn json_body(object: &Value) -> (&'static str, Bytes) {
    ("application/json", Bytes::from(object.to_string()))
}

fn tls_config(authority: &CertificateDer<'static>, protocol: &str) -> Arc<ClientConfig> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(authority.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    Arc::new(config)
}
