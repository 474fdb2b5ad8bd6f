//! Clients that are slow, large, rude or in the middle of something when the server stops.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use jiff::Timestamp;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::*;
use crate::auth::User;
use crate::config::{Config, Limits};
use crate::pki::{Names, Pki};

#[derive(Default)]
struct Rooms {
    entered: Notify,
    leave: Notify,
}

impl Handler for Rooms {
    async fn handle(
        self: Arc<Self>,
        request: Request<Incoming>,
        peer: Peer,
    ) -> Response<ResponseBody> {
        match request.uri().path() {
            "/panic" => panic!("asked for"),
            "/wait" => {
                self.entered.notify_one();
                self.leave.notified().await;
                Response::new(ResponseBody::full("left"))
            }
            _ => {
                let user = peer.user.as_deref().map_or("nobody", User::name);
                Response::new(ResponseBody::full(format!("hello {user}")))
            }
        }
    }
}

struct Fixture {
    address: SocketAddr,
    rooms: Arc<Rooms>,
    trigger: ShutdownTrigger,
    serving: JoinHandle<()>,
}

fn start(limits: Limits, tls: Option<rustls::ServerConfig>, grace: Duration) -> Fixture {
    let socket = bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    let (trigger, ear) = shutdown();
    let rooms = Arc::new(Rooms::default());
    let serving = tokio::spawn(serve(Listener {
        socket,
        tls: tls.map(Arc::new),
        limits,
        shutdown_grace: grace,
        handler: Arc::clone(&rooms),
        shutdown: ear,
    }));
    Fixture {
        address,
        rooms,
        trigger,
        serving,
    }
}

fn plain(limits: Limits) -> Fixture {
    start(limits, None, Duration::from_secs(10))
}

/// Sends `request` and reads to the end of the connection.
async fn talk(mut io: impl AsyncRead + AsyncWrite + Unpin, request: &str) -> String {
    io.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A connection that is reset says no more, which is what some tests want to see.
    drop(io.read_to_end(&mut answer).await);
    String::from_utf8_lossy(&answer).into_owned()
}

async fn ask(address: SocketAddr, request: &str) -> String {
    let stream = TcpStream::connect(address).await.unwrap();
    talk(stream, request).await
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
}

#[tokio::test]
async fn a_slow_client_is_ended_and_others_are_served() {
    let limits = Limits {
        header_read_timeout: Duration::from_millis(50),
        ..Limits::default()
    };
    let server = plain(limits);
    // Nothing, the start of a method, the start of an HTTP/2 preface, the start of headers.
    for start in [
        "",
        "G",
        "PR",
        "GET / HTTP/1.1\r\nHost: x\r\n",
        "PRI * HTTP/2.0\r\n",
    ] {
        let answer = ask(server.address, start).await;
        assert!(!answer.contains("200"), "{start:?}: {answer}");
    }
    assert!(
        ask(server.address, &get("/"))
            .await
            .ends_with("hello nobody")
    );
}

#[tokio::test]
async fn headers_beyond_the_limit_get_431() {
    let limits = Limits {
        header_bytes_max: 8 << 10,
        ..Limits::default()
    };
    let server = plain(limits);
    let large = "a".repeat(9 << 10);
    let request = format!("GET / HTTP/1.1\r\nHost: x\r\nX-Large: {large}\r\n\r\n");
    assert!(
        ask(server.address, &request)
            .await
            .starts_with("HTTP/1.1 431 ")
    );
    let many: String = (0..200)
        .map(|n| ["X-", &n.to_string(), ": 1\r\n"].concat())
        .collect();
    let request = format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n");
    assert!(
        ask(server.address, &request)
            .await
            .starts_with("HTTP/1.1 431 ")
    );
}

#[tokio::test]
async fn a_panic_ends_one_request_with_500() {
    let server = plain(Limits::default());
    let answer = ask(server.address, &get("/panic")).await;
    assert!(answer.starts_with("HTTP/1.1 500 "), "{answer}");
    assert!(answer.contains(r#""reason":"InternalError""#), "{answer}");
    assert!(
        ask(server.address, &get("/"))
            .await
            .ends_with("hello nobody")
    );
}

#[tokio::test]
async fn a_stop_lets_requests_in_flight_finish() {
    let server = plain(Limits::default());
    let address = server.address;
    let waiting = tokio::spawn(async move { ask(address, &get("/wait")).await });
    let idle = TcpStream::connect(address).await.unwrap();
    server.rooms.entered.notified().await;
    server.trigger.stop();
    server.rooms.leave.notify_one();
    assert!(waiting.await.unwrap().ends_with("left"));
    server.serving.await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
    drop(idle);
}

#[tokio::test]
async fn a_client_that_does_not_say_goodbye_is_not_waited_for() {
    let server = start(Limits::default(), None, Duration::from_mins(1));
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    // The preface of HTTP/2 and empty settings; what the server says is never read.
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    silent.write_all(preface).await.unwrap();
    silent.readable().await.unwrap();
    server.trigger.stop();
    let ended = tokio::time::timeout(Duration::from_secs(20), server.serving).await;
    ended.unwrap().unwrap();
}

#[tokio::test]
async fn the_grace_bounds_a_stop() {
    let server = start(Limits::default(), None, Duration::from_millis(20));
    let address = server.address;
    let waiting = tokio::spawn(async move { ask(address, &get("/wait")).await });
    server.rooms.entered.notified().await;
    server.trigger.stop();
    server.serving.await.unwrap();
    assert_eq!(waiting.await.unwrap(), "");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_a_place() {
    let server = plain(Limits {
        connections_max: 1,
        ..Limits::default()
    });
    let address = server.address;
    let first = tokio::spawn(async move { ask(address, &get("/wait")).await });
    server.rooms.entered.notified().await;
    let second = tokio::spawn(async move { ask(address, &get("/")).await });
    tokio::task::yield_now().await;
    assert!(!second.is_finished());
    server.rooms.leave.notify_one();
    assert!(first.await.unwrap().ends_with("left"));
    assert!(second.await.unwrap().ends_with("hello nobody"));
}

fn pki() -> Pki {
    Pki::ephemeral(&Names::of(&Config::default(), None), Timestamp::now()).unwrap()
}

async fn ask_tls(address: SocketAddr, pki: &Pki, known: bool) -> std::io::Result<String> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(pki.ca_pem().as_bytes()).unwrap())
        .unwrap();
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let admin = pki.admin();
    let chain = vec![CertificateDer::from_pem_slice(admin.certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(admin.key.as_bytes()).unwrap();
    let config = if known {
        builder.with_client_auth_cert(chain, key).unwrap()
    } else {
        builder.with_no_client_auth()
    };
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(address).await?;
    let name = "localhost".try_into().unwrap();
    Ok(talk(connector.connect(name, stream).await?, &get("/")).await)
}

#[tokio::test]
async fn a_client_certificate_names_the_user() {
    let pki = pki();
    let tls = server_config(&pki).unwrap();
    let server = start(Limits::default(), Some(tls), Duration::from_secs(1));
    let known = ask_tls(server.address, &pki, true).await.unwrap();
    assert!(known.ends_with("hello masthead-admin"), "{known}");
    let unknown = ask_tls(server.address, &pki, false).await.unwrap();
    assert!(unknown.ends_with("hello nobody"), "{unknown}");
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let (ours, theirs) = (pki(), pki());
    let tls = server_config(&ours).unwrap();
    let server = start(Limits::default(), Some(tls), Duration::from_secs(1));
    assert!(ask_tls(server.address, &theirs, true).await.is_err());
}

#[tokio::test]
async fn plain_http_on_the_https_port_is_told_so() {
    let tls = server_config(&pki()).unwrap();
    let server = start(Limits::default(), Some(tls), Duration::from_secs(1));
    let answer = ask(server.address, &get("/")).await;
    assert!(answer.starts_with("HTTP/1.0 400 "), "{answer}");
    assert!(answer.contains("HTTPS"), "{answer}");
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_ended() {
    let limits = Limits {
        handshake_timeout: Duration::from_millis(50),
        ..Limits::default()
    };
    let tls = server_config(&pki()).unwrap();
    let server = start(limits, Some(tls), Duration::from_secs(1));
    assert_eq!(ask(server.address, "\x16\x03\x01").await, "");
}
