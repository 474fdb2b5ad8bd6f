//! Two ways to the server: a client's library over HTTP/2, and bare bytes over TLS.

use std::time::Duration;

use bytes::BytesMut;
use http::HeaderValue;
use http_body_util::BodyExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use super::judge::{Outcome, Reply};
use super::message::Message;
use super::support::{Client, Connection, Protocol};

/// An answer that takes longer is none. Waiting for a version of the future takes three seconds.
const ANSWER_BOUND: Duration = Duration::from_secs(20);
/// What comes of a watch in this time is enough of it.
const WATCH_BOUND: Duration = Duration::from_millis(20);

/// One client's way in. The connection is kept from one request to the next.
pub(crate) struct Way {
    client: Client,
    token: String,
    http2: Option<Connection>,
    bare: Option<TlsStream<TcpStream>>,
}

impl Way {
    /// A way without connections so far.
    pub(crate) fn new(client: &Client, token: &str) -> Self {
        Self {
            client: client.clone(),
            token: token.to_owned(),
            http2: None,
            bare: None,
        }
    }

    fn host(&self) -> String {
        self.client.address().to_string()
    }

    /// Sends the message over HTTP/2; `None` where the library does not take it.
    pub(crate) async fn over_http2(&mut self, message: &Message) -> Option<Outcome> {
        let request = message.to_request(&self.host(), &self.token)?;
        let mut connection = match self.http2.take() {
            Some(connection) if !connection.is_closed() => connection,
            _ => match self.client.connect(Protocol::Http2).await {
                Ok(connection) => connection,
                Err(error) => return Some(Outcome::Closed(error.to_string())),
            },
        };
        let work = async {
            let response = connection
                .send(request)
                .await
                .map_err(|error| error.to_string())?;
            let (head, mut body) = response.into_parts();
            let endless = head.status == 200 && message.may_watch();
            let bound = if endless { WATCH_BOUND } else { ANSWER_BOUND };
            let mut reply = Reply {
                status: head.status.as_u16(),
                content_type: content_type(
                    head.headers.get("content-type").map(HeaderValue::as_bytes),
                ),
                ..Reply::default()
            };
            loop {
                match timeout(bound, body.frame()).await {
                    Err(_) if endless => {
                        reply.cut = true;
                        return Ok(reply);
                    }
                    Err(_) => return Err("the body does not end".to_owned()),
                    Ok(None) => return Ok(reply),
                    Ok(Some(Err(error))) => return Err(error.to_string()),
                    Ok(Some(Ok(frame))) => {
                        reply
                            .body
                            .extend_from_slice(&frame.into_data().unwrap_or_default());
                    }
                }
            }
        };
        let outcome = match timeout(ANSWER_BOUND * 2, work).await {
            Ok(Ok(reply)) => Outcome::Reply(reply),
            Ok(Err(why)) => Outcome::Closed(why),
            Err(_) => Outcome::Silence,
        };
        self.http2 = Some(connection);
        Some(outcome)
    }

    /// Sends the message over HTTP/1.1 as it is. A server may end a connection between two requests,
    /// so one that was used before gets a second chance.
    pub(crate) async fn over_http1(&mut self, message: &Message) -> Outcome {
        let bytes = self.render(message);
        let used = self.bare.is_some();
        match self.bytes(&bytes, message, Close::No).await {
            Outcome::Closed(_) if used => self.bytes(&bytes, message, Close::No).await,
            outcome => outcome,
        }
    }

    /// Sends bytes that may be no HTTP at all, and says goodbye after them.
    pub(crate) async fn broken(&mut self, bytes: &[u8], message: &Message) -> Outcome {
        self.bare = None;
        let outcome = self.bytes(bytes, message, Close::AfterRequest).await;
        self.bare = None;
        outcome
    }

    /// The bytes of the message over HTTP/1.1.
    pub(crate) fn render(&self, message: &Message) -> Vec<u8> {
        message.to_http1(&self.host(), &self.token)
    }

    async fn bytes(&mut self, bytes: &[u8], message: &Message, close: Close) -> Outcome {
        let stream = match self.bare.take() {
            Some(stream) => stream,
            None => match self.client.dial(Protocol::Http1).await {
                Ok(stream) => stream,
                Err(error) => return Outcome::Closed(error.to_string()),
            },
        };
        let (mut reader, mut writer) = tokio::io::split(stream);
        let send = async {
            let sent = writer.write_all(bytes).await.is_ok() && writer.flush().await.is_ok();
            if close == Close::AfterRequest {
                // The server may have ended the connection already.
                drop(writer.shutdown().await);
            }
            sent
        };
        let read = timeout(ANSWER_BOUND, read_reply(&mut reader, message));
        let (sent, read) = tokio::join!(timeout(ANSWER_BOUND, send), read);
        match read {
            Ok(Ok((reply, keep))) => {
                if keep && matches!(sent, Ok(true)) && close == Close::No && !reply.cut {
                    self.bare = Some(reader.unsplit(writer));
                }
                Outcome::Reply(reply)
            }
            Ok(Err(why)) => Outcome::Closed(why),
            Err(_) => Outcome::Silence,
        }
    }
}

/// What is done after a request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Close {
    No,
    AfterRequest,
}

/// The media type without parameters, but for text, whose charset stays out too.
fn content_type(value: Option<&[u8]>) -> String {
    let text = String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
    text.split(';').next().unwrap_or_default().trim().to_owned()
}

/// Reads one answer; whether the connection goes on after it is the second part.
async fn read_reply(
    reader: &mut (impl tokio::io::AsyncRead + Unpin),
    message: &Message,
) -> Result<(Reply, bool), String> {
    let mut buffer = BytesMut::with_capacity(4096);
    loop {
        let head_end = loop {
            if let Some(at) = find(&buffer, b"\r\n\r\n") {
                break at;
            }
            if buffer.len() > 1 << 20 {
                return Err("an answer without an end of its head".into());
            }
            more(reader, &mut buffer).await?;
        };
        let head = buffer.split_to(head_end + 4);
        let (status, headers) = parse_head(&head)?;
        if status < 200 {
            continue;
        }
        let header = |name: &str| {
            let found = headers.iter().find(|(other, _)| other == name);
            found.map(|(_, value)| value.as_str())
        };
        let mut reply = Reply {
            status,
            content_type: content_type(header("content-type").map(str::as_bytes)),
            ..Reply::default()
        };
        let close = header("connection").is_some_and(|v| v.eq_ignore_ascii_case("close"));
        let bodyless = message.method == b"HEAD" || matches!(status, 204 | 304);
        if bodyless {
            return Ok((reply, !close && message.method != b"HEAD"));
        }
        if header("transfer-encoding").is_some() {
            let endless = status == 200 && message.may_watch();
            chunked(reader, &mut buffer, &mut reply, endless).await?;
        } else {
            let length = header("content-length").ok_or("neither a length nor chunks")?;
            let length: usize = length.parse().map_err(|_| "a length that is no number")?;
            while buffer.len() < length {
                more(reader, &mut buffer).await?;
            }
            reply.body = buffer.split_to(length).to_vec();
        }
        return Ok((reply, !close && buffer.is_empty()));
    }
}

async fn chunked(
    reader: &mut (impl tokio::io::AsyncRead + Unpin),
    buffer: &mut BytesMut,
    reply: &mut Reply,
    endless: bool,
) -> Result<(), String> {
    loop {
        let line_end = find(buffer, b"\r\n");
        let size = line_end.map(|at| {
            let text = String::from_utf8_lossy(&buffer[..at]).into_owned();
            usize::from_str_radix(&text, 16).map_err(|_| format!("chunk size {text:?}"))
        });
        match (line_end, size.transpose()?) {
            (Some(at), Some(size)) if buffer.len() >= at + 4 + size => {
                let chunk = buffer.split_to(at + 4 + size);
                reply.body.extend_from_slice(&chunk[at + 2..at + 2 + size]);
                if size == 0 {
                    return Ok(());
                }
            }
            _ if endless => {
                let Ok(read) = timeout(WATCH_BOUND, more(reader, buffer)).await else {
                    reply.cut = true;
                    return Ok(());
                };
                read?;
            }
            _ => more(reader, buffer).await?,
        }
    }
}

async fn more(
    reader: &mut (impl tokio::io::AsyncRead + Unpin),
    buffer: &mut BytesMut,
) -> Result<(), String> {
    match reader.read_buf(buffer).await {
        Ok(0) => Err("the end".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

fn parse_head(head: &[u8]) -> Result<(u16, Vec<(String, String)>), String> {
    // A client's own audit id comes back, whatever its bytes are.
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split("\r\n");
    let line = lines.next().unwrap_or_default();
    let code = line
        .strip_prefix("HTTP/1.1 ")
        .or_else(|| line.strip_prefix("HTTP/1.0 "));
    let code = code
        .and_then(|rest| rest.get(..3))
        .and_then(|code| code.parse().ok());
    let status = code.ok_or_else(|| format!("status line {line:?}"))?;
    let headers = lines.filter(|line| !line.is_empty()).map(|line| {
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| format!("header {line:?}"))?;
        Ok((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    Ok((status, headers.collect::<Result<_, String>>()?))
}
