//! [`Upgrade`]: a watch over a WebSocket, one event a message.
//!
//! The request is answered as any other first: what is refused is refused over plain HTTP. Only a
//! stream that would have been sent as the answer's body goes over the socket instead. Messages of
//! the client are read and dropped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::{
    CONNECTION, HeaderValue, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes as Payload, Message, Utf8Bytes};

use crate::listen::ResponseBody;
use crate::respond;

/// A client has nothing to say; what it says is read up to this much at once.
const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// What waits for a slow client beyond the message under way.
const WRITE_BUFFER_BYTES: usize = 16 << 10;
/// Sockets at a time: they are not among the connections that the listener counts.
const SOCKETS_MAX: usize = 4096;
/// How long, after the streams have ended, clients may still take to read their last messages.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// All WebSockets of a server.
pub(crate) struct Sockets {
    places: Arc<Semaphore>,
    tasks: Mutex<JoinSet<()>>,
}

impl Default for Sockets {
    fn default() -> Self {
        Self {
            places: Arc::new(Semaphore::new(SOCKETS_MAX)),
            tasks: Mutex::default(),
        }
    }
}

impl Sockets {
    /// Waits for those whose streams have ended, and cuts the others.
    pub(crate) async fn close(&self) {
        let mut tasks = std::mem::take(&mut *self.tasks());
        let all = async { while tasks.join_next().await.is_some() {} };
        if timeout(CLOSE_PATIENCE, all).await.is_err() {
            tasks.shutdown().await;
        }
    }

    fn spawn(&self, socket: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks();
        while let Some(ended) = tasks.try_join_next() {
            if let Err(error) = ended {
                tracing::error!(%error, "a WebSocket ended by a panic");
            }
        }
        tasks.spawn(socket);
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request's wish to go on as a WebSocket, and whether it can.
pub(crate) struct Upgrade {
    socket: OnUpgrade,
    handshake: Result<Handshake, StatusCode>,
}

struct Handshake {
    accept: HeaderValue,
    protocol: Option<HeaderValue>,
}

impl Upgrade {
    /// The wish of this request, if it has one.
    pub(crate) fn of(request: &mut Parts) -> Option<Self> {
        if !is_wanted(&request.headers) {
            return None;
        }
        // Not there over HTTP/2, whose connections cannot be upgraded.
        let socket = request.extensions.remove::<OnUpgrade>()?;
        Some(Self {
            socket,
            handshake: Handshake::read(&request.method, &request.headers),
        })
    }

    /// Sends the stream that is the body of `answer` over the socket. Answers 101, or why not.
    pub(crate) fn stream(
        self,
        answer: Response<ResponseBody>,
        sockets: &Sockets,
    ) -> Response<ResponseBody> {
        let handshake = match self.handshake {
            Ok(handshake) => handshake,
            Err(code) => return bare(code),
        };
        let Ok(place) = Arc::clone(&sockets.places).try_acquire_owned() else {
            let text = "too many WebSockets are open, please try again later.";
            return respond::text(StatusCode::TOO_MANY_REQUESTS, text);
        };
        sockets.spawn(run(self.socket, answer.into_body(), place));
        let mut response = bare(StatusCode::SWITCHING_PROTOCOLS);
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, handshake.accept);
        if let Some(protocol) = handshake.protocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol);
        }
        response
    }
}

fn bare(code: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = code;
    if code == StatusCode::BAD_REQUEST {
        response
            .headers_mut()
            .insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    }
    response
}

/// Does a request ask for a WebSocket?
fn is_wanted(headers: &HeaderMap) -> bool {
    let has = |name, wanted: &str| {
        let values = headers.get_all(name).iter();
        let mut words = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','));
        words.any(|word| word.trim().eq_ignore_ascii_case(wanted))
    };
    has(CONNECTION, "upgrade") && has(UPGRADE, "websocket")
}

impl Handshake {
    /// Checks what the protocol asks for, and the origin, which upstream asks for.
    fn read(method: &Method, headers: &HeaderMap) -> Result<Self, StatusCode> {
        if method != Method::GET {
            return Err(StatusCode::METHOD_NOT_ALLOWED);
        }
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let key = text(SEC_WEBSOCKET_KEY).filter(|key| !key.is_empty());
        let key = key.ok_or(StatusCode::BAD_REQUEST)?;
        if text(SEC_WEBSOCKET_VERSION) != Some("13") {
            return Err(StatusCode::BAD_REQUEST);
        }
        if text(ORIGIN).is_none_or(str::is_empty) {
            return Err(StatusCode::FORBIDDEN);
        }
        let accept = HeaderValue::from_str(&derive_accept_key(key.trim().as_bytes()));
        Ok(Self {
            accept: accept.map_err(|_| StatusCode::BAD_REQUEST)?,
            protocol: only_protocol(headers),
        })
    }
}

/// The subprotocol that the client offers, where it offers no choice.
fn only_protocol(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut offered = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let only = offered.next().filter(|_| offered.next().is_none())?;
    (!only.as_bytes().contains(&b',')).then(|| only.clone())
}

/// Serves one socket to its end. Its errors are the client's or the network's.
async fn run(socket: OnUpgrade, events: ResponseBody, place: OwnedSemaphorePermit) {
    match socket.await {
        Ok(upgraded) => {
            let config = WebSocketConfig::default()
                .max_message_size(Some(MESSAGE_BYTES_MAX))
                .max_frame_size(Some(MESSAGE_BYTES_MAX))
                .read_buffer_size(1 << 10)
                .write_buffer_size(WRITE_BUFFER_BYTES);
            let io = TokioIo::new(upgraded);
            let socket = Socket::from_raw_socket(io, Role::Server, Some(config)).await;
            if let Err(error) = pump(socket, events).await {
                tracing::debug!(%error, "a WebSocket ended");
            }
        }
        Err(error) => tracing::debug!(%error, "no WebSocket"),
    }
    drop(place);
}

/// Why a socket ended early.
#[derive(Debug, thiserror::Error)]
enum SocketError {
    #[error(transparent)]
    Protocol(#[from] tokio_tungstenite::tungstenite::Error),
    #[error("the events ended: {0}")]
    Events(#[from] std::io::Error),
    #[error("an event is not text")]
    Text,
}

async fn pump(mut socket: Socket, mut events: ResponseBody) -> Result<(), SocketError> {
    loop {
        // Both arms are cancel-safe: a frame or a message is taken whole or not at all.
        tokio::select! {
            frame = events.frame() => match frame {
                None => break,
                Some(frame) => if let Ok(bytes) = frame?.into_data() {
                    send(&mut socket, &bytes).await?;
                }
            },
            message = socket.next() => match message {
                None | Some(Ok(Message::Close(_))) => break,
                Some(message) => drop(message?),
            },
        }
    }
    let normal = CloseFrame {
        code: CloseCode::Normal,
        reason: Utf8Bytes::default(),
    };
    socket.close(Some(normal)).await?;
    Ok(())
}

/// Sends each event of a chunk, a line, as a message of its own.
async fn send(socket: &mut Socket, chunk: &Bytes) -> Result<(), SocketError> {
    let mut rest = chunk.clone();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n');
        let line: Payload = rest.split_to(end.map_or(rest.len(), |end| end + 1));
        let text = Utf8Bytes::try_from(line).map_err(|_| SocketError::Text)?;
        socket.feed(Message::Text(text)).await?;
    }
    socket.flush().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn a_wish_for_a_websocket_names_it_in_both_headers() {
        let check = |connection, upgrade, wanted| {
            let headers = headers(&[("connection", connection), ("upgrade", upgrade)]);
            assert_eq!(is_wanted(&headers), wanted, "{connection} {upgrade}");
        };
        check("Upgrade", "websocket", true);
        check("keep-alive, upgrade", "WebSocket", true);
        check("keep-alive", "websocket", false);
        check("Upgrade", "SPDY/3.1", false);
    }

    #[test]
    fn a_handshake_needs_a_key_the_version_and_an_origin() {
        let all = [
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ("sec-websocket-version", "13"),
            ("origin", "http://x"),
        ];
        let made = Handshake::read(&Method::GET, &headers(&all)).ok().unwrap();
        assert_eq!(made.accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        let without = |at: usize| {
            let mut some = all.to_vec();
            some.remove(at);
            Handshake::read(&Method::GET, &headers(&some)).err()
        };
        let wrong = [0, 1, 2].map(|at| without(at).unwrap().as_u16());
        assert_eq!(wrong, [400, 400, 403]);
        let posted = Handshake::read(&Method::POST, &headers(&all)).err();
        assert_eq!(posted, Some(StatusCode::METHOD_NOT_ALLOWED));
    }

    #[test]
    fn a_protocol_is_taken_where_there_is_no_choice() {
        let of = |value| only_protocol(&headers(&[("sec-websocket-protocol", value)]));
        assert_eq!(of("v1").unwrap(), "v1");
        assert_eq!(of("v1, v2"), None);
    }
}
