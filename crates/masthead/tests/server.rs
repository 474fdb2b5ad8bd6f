//! A server within a program: it starts, lets the admin in over HTTP/1.1 and HTTP/2, keeps its
//! certificates, and stops.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are not \"in tests\" for clippy"
)]

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use masthead::{RunningServer, Server, StartError};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

async fn connect(server: &RunningServer, protocol: &str) -> TlsStream<TcpStream> {
    let mut roots = rustls::RootCertStore::empty();
    let ca = CertificateDer::from_pem_slice(server.ca_pem().unwrap().as_bytes()).unwrap();
    roots.add(ca).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let stream = TcpStream::connect(server.local_addr()).await.unwrap();
    let name = "kubernetes.default.svc".try_into().unwrap();
    TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
        .unwrap()
}

fn request(server: &RunningServer, path: &str, token: Option<&str>) -> Request<Empty<Bytes>> {
    let mut request = Request::get(format!("https://{}{path}", server.local_addr()))
        .header("host", server.local_addr().to_string());
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    request.body(Empty::new()).unwrap()
}

/// Status and body of one request over a connection of its own.
async fn get(
    server: &RunningServer,
    protocol: &str,
    path: &str,
    token: Option<&str>,
) -> (StatusCode, String) {
    let io = TokioIo::new(connect(server, protocol).await);
    let request = request(server, path, token);
    let response = if protocol == "h2" {
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request).await.unwrap()
    } else {
        let (mut sender, connection) = http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request).await.unwrap()
    };
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn both_protocols_are_served_on_one_port() {
    let server = Server::builder().start().await.unwrap();
    for protocol in ["http/1.1", "h2"] {
        let (status, body) = get(&server, protocol, "/version", Some(server.token())).await;
        assert_eq!(status, 200, "{protocol} {body}");
        assert!(body.contains("+masthead-"), "{protocol} {body}");
        let (status, body) = get(&server, protocol, "/readyz", None).await;
        assert_eq!((status.as_u16(), body.as_str()), (200, "ok"));
        let (status, body) = get(&server, protocol, "/api", None).await;
        assert_eq!(status, 401, "{protocol} {body}");
        let (status, _) = get(&server, protocol, "/healthz", Some("wrong")).await;
        assert_eq!(status, 401);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn servers_in_one_process_know_nothing_of_each_other() {
    let one = Server::builder().start().await.unwrap();
    let other = Server::builder().start().await.unwrap();
    assert_ne!(one.url(), other.url());
    assert_ne!(one.ca_pem(), other.ca_pem());
    let (status, _) = get(&other, "h2", "/api", Some(one.token())).await;
    assert_eq!(status, 401);
    one.shutdown().await;
    assert_eq!(get(&other, "h2", "/livez", None).await.0, 200);
}

#[tokio::test]
async fn a_second_start_lets_the_same_clients_in() {
    let dir = tempfile::tempdir().unwrap();
    let start = |dir: &Path| {
        let out = dir.join("kubeconfig");
        Server::builder()
            .data_dir(dir.join("data"))
            .kubeconfig_out(out)
            .start()
    };
    let first = start(dir.path()).await.unwrap();
    let (token, ca) = (first.token().to_owned(), first.ca_pem().unwrap().to_owned());
    let written = std::fs::read_to_string(dir.path().join("kubeconfig")).unwrap();
    assert_eq!(written, first.kubeconfig());
    first.shutdown().await;
    let second = start(dir.path()).await.unwrap();
    assert_eq!(second.token(), token);
    assert_eq!(second.ca_pem(), Some(ca.as_str()));
    assert_eq!(get(&second, "h2", "/version", Some(&token)).await.0, 200);
    second.shutdown().await;
}

#[tokio::test]
async fn a_taken_port_touches_no_directory() {
    let first = Server::builder().start().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let second = Server::builder()
        .listen(first.local_addr())
        .data_dir(&data)
        .start()
        .await;
    let error = second.unwrap_err();
    assert!(matches!(error, StartError::Bind { .. }), "{error}");
    assert!(error.to_string().contains("--listen"), "{error}");
    assert!(!data.exists());
}
