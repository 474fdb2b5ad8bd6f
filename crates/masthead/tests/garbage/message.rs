//! [`Message`]: a request as bytes, so that everything about it can be wrong.

use std::fmt;

use bytes::Bytes;
use http::{Method, Request, Uri};
use http_body_util::Full;

/// A request. Host, credentials and the body's length are added when it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) method: Vec<u8>,
    /// Path and query.
    pub(crate) target: Vec<u8>,
    pub(crate) headers: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    /// A request for that target.
    pub(crate) fn new(method: &str, target: &str) -> Self {
        Self {
            method: method.into(),
            target: target.into(),
            ..Self::default()
        }
    }

    /// The same with one more header.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Path and query, unescaped; what cannot be unescaped stays.
    pub(crate) fn plain_target(&self) -> String {
        let mut plain = Vec::with_capacity(self.target.len());
        let mut rest = self.target.as_slice();
        while let Some((&byte, tail)) = rest.split_first() {
            let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
            match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                Some(escaped) if byte == b'%' => {
                    plain.push(escaped);
                    rest = &tail[2..];
                }
                _ => {
                    plain.push(byte);
                    rest = tail;
                }
            }
        }
        String::from_utf8_lossy(&plain).into_owned()
    }

    /// May its answer be a stream that does not end?
    pub(crate) fn may_watch(&self) -> bool {
        self.plain_target().to_ascii_lowercase().contains("watch")
    }

    /// As HTTP/1.1 sends it.
    pub(crate) fn to_http1(&self, host: &str, token: &str) -> Vec<u8> {
        let mut bytes = [&self.method[..], b" ", &self.target, b" HTTP/1.1\r\n"].concat();
        bytes.extend_from_slice(format!("host: {host}\r\n").as_bytes());
        if !self.has("authorization") {
            bytes.extend_from_slice(format!("authorization: Bearer {token}\r\n").as_bytes());
        }
        for (name, value) in &self.headers {
            bytes.extend_from_slice(&[name, &b": "[..], value, b"\r\n"].concat());
        }
        if !self.body.is_empty() || self.method != b"GET" {
            bytes.extend_from_slice(format!("content-length: {}\r\n", self.body.len()).as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// As a client's library takes it; `None` where it is too broken for that.
    pub(crate) fn to_request(&self, host: &str, token: &str) -> Option<Request<Full<Bytes>>> {
        let method = Method::from_bytes(&self.method)
            .ok()
            .filter(|m| *m != Method::CONNECT)?;
        let target = std::str::from_utf8(&self.target).ok()?;
        let uri: Uri = format!("https://{host}{target}").parse().ok()?;
        let mut request = Request::builder().method(method).uri(uri);
        if !self.has("authorization") {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in &self.headers {
            request = request.header(name.as_slice(), value.as_slice());
        }
        request.body(Full::new(Bytes::from(self.body.clone()))).ok()
    }

    fn has(&self, name: &str) -> bool {
        self.headers
            .iter()
            .any(|(other, _)| other.eq_ignore_ascii_case(name.as_bytes()))
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}",
            shown(&self.method, 200),
            shown(&self.target, 2000)
        )?;
        for (name, value) in &self.headers {
            write!(f, "\n    {}: {}", shown(name, 200), shown(value, 500))?;
        }
        write!(f, "\n    {}", shown(&self.body, 3000))
    }
}

/// Bytes as text, with what cannot be seen escaped; the middle of long ones is left out.
pub(crate) fn shown(bytes: &[u8], most: usize) -> String {
    if bytes.len() <= most {
        return bytes.escape_ascii().to_string();
    }
    let (head, tail) = (&bytes[..most / 2], &bytes[bytes.len() - most / 2..]);
    let left_out = bytes.len() - most / 2 * 2;
    format!(
        "{} [{left_out} bytes] {}",
        head.escape_ascii(),
        tail.escape_ascii()
    )
}
