//! [`Connection`]: one connection, on which calls are made; with HTTP/2 many at a time.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http::header::RETRY_AFTER;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::client::{Call, Client, ClientError};

/// For the head of an answer, and for each next part of its body. Servers end requests after 60 s.
const PATIENCE: Duration = Duration::from_secs(90);
/// An answer that is kept is not longer.
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// What is kept of a refusal.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

impl Protocol {
    /// As people write it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
        }
    }
}

/// The end on which requests are sent.
pub(super) enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// What is taken for the number of streams until the server has told its own.
pub(super) const STREAMS_UNTOLD: usize = 1;
/// How often that number is looked for until it is told.
const SETTINGS_LOOK_EVERY: Duration = Duration::from_millis(5);
/// Looks for it before what is taken stands.
const SETTINGS_TRIES: usize = 200;

/// One connection. It ends when the last of its siblings is dropped.
pub(super) struct Connection {
    client: Client,
    sender: Sender,
    driver: Arc<Driver>,
}

/// The task that moves the bytes.
struct Driver {
    task: JoinHandle<()>,
    streams_max: Arc<AtomicUsize>,
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Moves the bytes of an HTTP/2 connection, and notes how many streams the server allows.
pub(super) async fn drive<S>(
    mut driver: http2::Connection<TokioIo<S>, Full<Bytes>, TokioExecutor>,
    streams_max: Arc<AtomicUsize>,
) where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    // The server's settings are heard by another task of the library, which does not wake this one.
    let mut look = tokio::time::interval(SETTINGS_LOOK_EVERY);
    let end = poll_fn(|context| {
        let state = Future::poll(Pin::new(&mut driver), context);
        let told = driver.current_max_send_streams();
        streams_max.store(told, Ordering::Relaxed);
        while told == STREAMS_UNTOLD && look.poll_tick(context).is_ready() {}
        state
    });
    // How it ended is told to whoever waits for an answer.
    drop(end.await);
}

impl Connection {
    pub(super) fn new(
        client: Client,
        sender: Sender,
        task: JoinHandle<()>,
        streams_max: Arc<AtomicUsize>,
    ) -> Self {
        Self {
            client,
            sender,
            driver: Arc::new(Driver { task, streams_max }),
        }
    }

    /// What is spoken on it.
    pub(super) const fn protocol(&self) -> Protocol {
        match self.sender {
            Sender::Http1(_) => Protocol::Http1,
            Sender::Http2(_) => Protocol::Http2,
        }
    }

    /// How many streams the server allows: it says so at the start, which may be heard a moment
    /// after the first answer. `None` for HTTP/1.1.
    pub(super) async fn streams_max(&self) -> Option<usize> {
        if matches!(self.sender, Sender::Http1(_)) {
            return None;
        }
        let mut told = STREAMS_UNTOLD;
        for _ in 0..SETTINGS_TRIES {
            told = self.driver.streams_max.load(Ordering::Relaxed);
            if told > STREAMS_UNTOLD {
                break;
            }
            tokio::time::sleep(SETTINGS_LOOK_EVERY).await;
        }
        Some(told)
    }

    /// Another handle of the same connection, where it carries many streams.
    pub(super) fn sibling(&self) -> Option<Self> {
        match &self.sender {
            Sender::Http1(_) => None,
            Sender::Http2(sender) => Some(Self {
                client: self.client.clone(),
                sender: Sender::Http2(sender.clone()),
                driver: Arc::clone(&self.driver),
            }),
        }
    }

    /// Sends `call` and waits for the head of a good answer.
    pub(super) async fn send(&mut self, call: &Call) -> Result<Response<Incoming>, ClientError> {
        let request = self.client.request(call, self.protocol())?;
        let sending = async {
            match &mut self.sender {
                Sender::Http1(sender) => {
                    sender.ready().await?;
                    sender.send_request(request).await
                }
                Sender::Http2(sender) => {
                    sender.ready().await?;
                    sender.send_request(request).await
                }
            }
        };
        let response = patient(sending).await?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(refusal(response).await)
        }
    }

    /// Sends `call` and hands the answer's body to `each` as it comes; returns its length.
    pub(super) async fn stream(
        &mut self,
        call: &Call,
        mut each: impl FnMut(&[u8]),
    ) -> Result<u64, ClientError> {
        let mut body = self.send(call).await?.into_body();
        let mut bytes = 0;
        while let Some(data) = part(&mut body).await? {
            bytes += data.len() as u64;
            each(&data);
        }
        Ok(bytes)
    }

    /// Sends `call` and returns the answer's body.
    pub(super) async fn answer(&mut self, call: &Call) -> Result<Vec<u8>, ClientError> {
        let body = self.send(call).await?.into_body();
        whole(body, ANSWER_BYTES_MAX).await
    }

    /// Sends `call` and returns the answer as JSON; null where it is none.
    pub(super) async fn json(&mut self, call: &Call) -> Result<Value, ClientError> {
        let body = self.answer(call).await?;
        Ok(serde_json::from_slice(&body).unwrap_or_default())
    }
}

async fn patient<T>(work: impl Future<Output = Result<T, hyper::Error>>) -> Result<T, ClientError> {
    match timeout(PATIENCE, work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(ClientError::Timeout { bound: PATIENCE }),
    }
}

/// The next bytes of a body; trailers are passed over.
async fn part(body: &mut Incoming) -> Result<Option<Bytes>, ClientError> {
    loop {
        let frame = patient(async { body.frame().await.transpose() }).await?;
        match frame.map(hyper::body::Frame::into_data) {
            None => return Ok(None),
            Some(Ok(data)) => return Ok(Some(data)),
            Some(Err(_)) => {}
        }
    }
}

async fn whole(mut body: Incoming, bytes_max: usize) -> Result<Vec<u8>, ClientError> {
    let mut bytes = Vec::new();
    while let Some(data) = part(&mut body).await? {
        if bytes.len() + data.len() > bytes_max {
            return Err(ClientError::TooLong { bytes_max });
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// What the server said against it.
async fn refusal(response: Response<Incoming>) -> ClientError {
    let code = response.status();
    let seconds = response.headers().get(RETRY_AFTER);
    let seconds = seconds.and_then(|value| value.to_str().ok()?.parse().ok());
    let body = whole(response.into_body(), REFUSAL_BYTES_MAX).await;
    let body = body.unwrap_or_default();
    let status: Value = serde_json::from_slice(&body).unwrap_or_default();
    let message = status.get("message").and_then(Value::as_str);
    let text = || String::from_utf8_lossy(&body).chars().take(200).collect();
    ClientError::Refused {
        code,
        message: message.map_or_else(text, str::to_owned),
        retry_after_seconds: seconds,
    }
}
