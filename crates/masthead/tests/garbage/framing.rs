//! Bytes that are no proper HTTP/1.1, and connections that are no proper TLS.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, ClientConnection, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::bodies;
use super::support::{Client, Dice, Protocol};

/// Lines for the head of a request that do not belong there.
const LINES: [&str; 22] = [
    "content-length: 99999",
    "content-length: -1",
    "content-length: x",
    "content-length: 1, 2",
    "content-length: 18446744073709551616",
    "content-length: 0",
    "transfer-encoding: chunked",
    "transfer-encoding: gzip, chunked",
    "transfer-encoding: identity",
    "transfer-encoding: x",
    "no colon",
    ": no name",
    "space before : colon",
    " folded: line",
    "\tfolded",
    "nul: \0",
    "connection: close",
    "connection: upgrade, http2-settings",
    "upgrade: websocket",
    "host: other",
    "expect: 100-continue",
    "expect: nothing",
];
/// Versions that HTTP/1.1 is not.
const VERSIONS: [&str; 9] = [
    "HTTP/1.0",
    "HTTP/0.9",
    "HTTP/2.0",
    "HTTP/1.1.1",
    "HTTP/",
    "http/1.1",
    "",
    "ICY/1.1",
    "HTTP/1.1 x",
];
/// Bodies that claim to be chunked.
const CHUNKS: [&str; 8] = [
    "0\r\n\r\n",
    "5\r\n{\"a\":\r\n",
    "zz\r\n",
    "ffffffffffffffffff\r\n",
    "-1\r\n",
    "1\r\nxx\r\n",
    "2;ext=\"\r\n{}\r\n0\r\nTrailer: x\r\n\r\n",
    "\r\n\r\n\r\n",
];

/// Makes the bytes of a good request bad.
pub(crate) fn break_bytes(dice: &mut Dice, good: &[u8]) -> Vec<u8> {
    let head_end = good
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .unwrap_or(good.len());
    let (head, body) = good.split_at(head_end);
    let text = String::from_utf8_lossy(head).into_owned();
    let body = body.get(4..).unwrap_or_default();
    let join = |head: String, body: &[u8]| [head.as_bytes(), b"\r\n\r\n", body].concat();
    let line_end = text.find("\r\n").unwrap_or(text.len());
    match dice.below(14) {
        0 => good[..dice.below(good.len())].to_vec(),
        1 => {
            let mut bytes = good.to_vec();
            bodies::flip(dice, &mut bytes);
            bytes
        }
        2 | 3 => join(format!("{text}\r\n{}", dice.pick(&LINES)), body),
        4 => join(format!("{}\r\n{text}", dice.pick(&LINES)), body),
        5 => join(text.replacen("HTTP/1.1", dice.pick(&VERSIONS), 1), body),
        6 => join(text.replace("\r\n", "\n"), body),
        7 => text.replace("\r\n", "\r").into_bytes(),
        8 => {
            let kept: Vec<&str> = text
                .split("\r\n")
                .filter(|line| !line.starts_with("content-length"))
                .collect();
            let head = format!("{}\r\ntransfer-encoding: chunked", kept.join("\r\n"));
            join(head, dice.pick(&CHUNKS).as_bytes())
        }
        9 => join(
            format!("{text}\r\n{}x: y", "a: b\r\n".repeat(dice.below(300))),
            body,
        ),
        10 => join(
            format!("{text}\r\nlong: {}", "x".repeat(dice.below(300_000))),
            body,
        ),
        11 => join(
            text.replace("host: ", dice.pick(&["host:", "x-host: ", "host: a b"])),
            body,
        ),
        12 => join(
            format!("{}{}", dice.pick(&["\r\n", " ", "\0", "\u{16}"]), text),
            body,
        ),
        _ => {
            let target = dice.pick(&[
                "*",
                "http://other/api",
                "api",
                "//",
                "?",
                "#",
                "/\u{1}",
                "/ x",
            ]);
            join(format!("GET {target} HTTP/1.1{}", &text[line_end..]), body)
        }
    }
}

/// The first bytes of a good TLS connection.
pub(crate) fn hello() -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let name = "kubernetes".try_into().unwrap();
    let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut hello = Vec::new();
    connection.write_tls(&mut hello).unwrap();
    hello
}

/// A connection that begins like TLS, more or less, and breaks off. What the server says to it
/// does not matter, only that it goes on.
pub(crate) async fn broken_tls(address: SocketAddr, dice: &mut Dice, hello: &[u8]) {
    let mut bytes = hello.to_vec();
    match dice.below(5) {
        0 => bytes.truncate(dice.below(bytes.len())),
        1 => bytes = (0..dice.below(600)).map(|_| dice.roll() as u8).collect(),
        2 => bytes = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
        3 => bytes.extend((0..dice.below(3000)).map(|_| dice.roll() as u8)),
        _ => bodies::flip(dice, &mut bytes),
    }
    let Ok(mut stream) = TcpStream::connect(address).await else {
        return;
    };
    // The server may hang up at any byte.
    drop(stream.write_all(&bytes).await);
    let mut said = [0; 512];
    drop(timeout(Duration::from_millis(10), stream.read(&mut said)).await);
}

/// A good HTTP/2 preface and frames that are more or less wrong. The server may end the connection
/// at any of them.
pub(crate) async fn broken_http2(client: &Client, dice: &mut Dice) {
    let Ok(mut stream) = client.dial(Protocol::Http2).await else {
        return;
    };
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend_from_slice(&frame(4, 0, 0, &[]));
    for _ in 0..=dice.below(30) {
        // Types beyond 9 are unknown; streams of even numbers are the server's.
        let (kind, flags) = (dice.below(12) as u8, dice.roll() as u8);
        let on = [0, 1, 3, 2, 0x7fff_ffff][dice.below(5)];
        let content: Vec<u8> = (0..dice.below(40)).map(|_| dice.roll() as u8).collect();
        bytes.extend_from_slice(&frame(kind, flags, on, &content));
    }
    if dice.once_in(3) {
        bodies::flip(dice, &mut bytes);
    }
    drop(stream.write_all(&bytes).await);
    drop(stream.flush().await);
    let mut said = [0; 512];
    drop(timeout(Duration::from_millis(10), stream.read(&mut said)).await);
}

fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u32).to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [head.as_slice(), content].concat()
}
