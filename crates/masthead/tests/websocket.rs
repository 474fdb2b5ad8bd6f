//! A watch over a WebSocket: the upgrade, one event a message, and its end.
#![expect(clippy::unwrap_used, reason = "a failure here is a test's")]

mod support;

use std::time::Duration;

use masthead::{RunningServer, Server};
use support::{CONFIG_MAPS, Client, Event, PATIENCE, Protocol, config_map, within};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

const HANDSHAKE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const TEXT: u8 = 1;
const CLOSE: u8 = 8;

async fn start() -> (RunningServer, Client) {
    let server = Server::builder().virtual_clock(true).start().await.unwrap();
    let client = Client::of(&server);
    (server, client)
}

struct Socket {
    stream: TlsStream<TcpStream>,
    /// What the server answered before the first message.
    head: String,
}

/// Sends an upgrade request with these headers and reads the head of the answer.
async fn open(server: &RunningServer, client: &Client, path: &str, headers: &str) -> Socket {
    let mut stream = client.dial(Protocol::Http1).await.unwrap();
    let token = server.token();
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within(PATIENCE, "a head", stream.read_u8()).await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    Socket { stream, head }
}

impl Socket {
    fn code(&self) -> &str {
        self.head.split_whitespace().nth(1).unwrap()
    }

    /// The next message: its kind and its content. Messages of a server are not masked.
    async fn message(&mut self) -> (u8, Vec<u8>) {
        within(PATIENCE, "a message", async {
            let (kind, length) = (
                self.stream.read_u8().await.unwrap(),
                self.stream.read_u8().await.unwrap(),
            );
            assert!(
                kind & 0x80 != 0 && length & 0x80 == 0,
                "{kind:x} {length:x}"
            );
            let length = match length {
                126 => usize::from(self.stream.read_u16().await.unwrap()),
                127 => usize::try_from(self.stream.read_u64().await.unwrap()).unwrap(),
                short => usize::from(short),
            };
            let mut content = vec![0; length];
            self.stream.read_exact(&mut content).await.unwrap();
            (kind & 0x0f, content)
        })
        .await
    }

    async fn event(&mut self) -> Event {
        let (kind, content) = self.message().await;
        assert_eq!(kind, TEXT);
        Event::parse(std::str::from_utf8(&content).unwrap())
    }

    /// Sends a text message, masked with zeroes.
    async fn say(&mut self, text: &str) {
        let length = u8::try_from(text.len()).unwrap();
        let mut frame = vec![0x80 | TEXT, 0x80 | length, 0, 0, 0, 0];
        frame.extend_from_slice(text.as_bytes());
        self.stream.write_all(&frame).await.unwrap();
    }
}

#[tokio::test]
async fn each_event_is_a_text_message_until_the_time_is_up() {
    let (server, client) = start().await;
    for name in ["a", "b"] {
        client.post(CONFIG_MAPS, &config_map(name, "1")).await.ok();
    }
    let path = format!(
        "{CONFIG_MAPS}?watch=true&timeoutSeconds=60&fieldSelector=metadata.name!%3Dkube-root-ca.crt"
    );
    let headers = format!("{HANDSHAKE}Origin: http://x\r\nSec-WebSocket-Protocol: v1\r\n");
    let mut socket = open(&server, &client, &path, &headers).await;
    assert_eq!(socket.code(), "101", "{}", socket.head);
    let head = socket.head.to_ascii_lowercase();
    for wanted in [
        "sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=",
        "sec-websocket-protocol: v1",
    ] {
        assert!(head.contains(wanted), "{head}");
    }
    assert_eq!(socket.event().await.brief(), "ADDED a");
    assert_eq!(socket.event().await.brief(), "ADDED b");
    socket.say("nobody listens").await;
    let large = "x".repeat(100_000);
    client
        .post(CONFIG_MAPS, &config_map("c", &large))
        .await
        .ok();
    let event = socket.event().await;
    assert_eq!(
        (event.brief().as_str(), event.object["data"]["k"].as_str()),
        ("ADDED c", Some(large.as_str()))
    );
    server.advance(Duration::from_mins(1)).await.unwrap();
    let (kind, content) = socket.message().await;
    assert_eq!(
        (kind, content.as_slice()),
        (CLOSE, 1000_u16.to_be_bytes().as_slice())
    );
    within(Duration::from_secs(20), "the stop", server.shutdown()).await;
}

#[tokio::test]
async fn a_stop_of_the_server_ends_the_socket() {
    let (server, client) = start().await;
    let headers = format!("{HANDSHAKE}Origin: http://x\r\n");
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion=900000000000000");
    let mut socket = open(&server, &client, &path, &headers).await;
    assert_eq!(socket.code(), "101");
    within(Duration::from_secs(20), "the stop", server.shutdown()).await;
    assert_eq!(socket.message().await.0, CLOSE);
}

#[tokio::test]
async fn refusals_are_plain_answers() {
    let (server, client) = start().await;
    let origin = format!("{HANDSHAKE}Origin: http://x\r\n");
    let watch = format!("{CONFIG_MAPS}?watch=true");
    let unknown = "/api/v1/nothing?watch=true";
    for (path, headers, code) in [
        (watch.as_str(), HANDSHAKE, "403"),
        (
            watch.as_str(),
            "Connection: Upgrade\r\nUpgrade: websocket\r\nOrigin: x\r\n",
            "400",
        ),
        (unknown, &origin, "404"),
        (CONFIG_MAPS, &origin, "200"),
    ] {
        let socket = open(&server, &client, path, headers).await;
        assert_eq!(socket.code(), code, "{path} {headers}");
    }
    server.shutdown().await;
}
