//! Answers: status line, headers, body in the form that was asked for.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use masthead_api::Status;
use serde_json::Value;

use crate::listen::ResponseBody;
use crate::stream;

/// What is sent instead of an answer.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// A Status object.
    Status(Box<Status>),
    /// Plain text, where upstream has no Status.
    Text(StatusCode, String),
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self::Status(Box::new(status))
    }
}

/// JSON or YAML, spread over lines or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Compact JSON.
    #[default]
    Json,
    /// Indented JSON.
    Pretty,
    /// YAML.
    Yaml,
}

impl Layout {
    const fn content_type(self) -> &'static str {
        match self {
            Self::Json | Self::Pretty => "application/json",
            Self::Yaml => "application/yaml",
        }
    }

    /// `json` in this layout.
    pub(crate) fn lay_out(self, json: Bytes) -> Bytes {
        match self {
            Self::Json => json,
            Self::Pretty => reformat(
                &json,
                |value| serde_json::to_string_pretty(value).ok(),
                json.clone(),
            ),
            Self::Yaml => reformat(&json, yaml, json.clone()),
        }
    }
}

fn reformat(json: &[u8], write: impl Fn(&Value) -> Option<String>, fallback: Bytes) -> Bytes {
    serde_json::from_slice(json)
        .ok()
        .and_then(|value| write(&value))
        .map_or(fallback, Bytes::from)
}

/// YAML with sorted members, as upstream writes it.
fn yaml(value: &Value) -> Option<String> {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    serde_saphyr::to_string(&sorted).ok()
}

/// An answer with a body of this type.
pub(crate) fn answer(
    code: StatusCode,
    content_type: &str,
    body: ResponseBody,
) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(content_type) {
        headers.insert(CONTENT_TYPE, value);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}

/// One JSON document, compressed if it is large and the client takes that.
pub(crate) fn document(
    code: StatusCode,
    json: Bytes,
    layout: Layout,
    request: &HeaderMap,
) -> Response<ResponseBody> {
    let body = layout.lay_out(json);
    if body.len() >= stream::GZIP_FROM_BYTES
        && stream::accepts_gzip(request)
        && let Ok(packed) = stream::compress(&body)
    {
        let mut response = answer(code, layout.content_type(), ResponseBody::full(packed));
        mark_gzip(response.headers_mut());
        return response;
    }
    answer(code, layout.content_type(), ResponseBody::full(body))
}

/// Says that the body is compressed.
pub(crate) fn mark_gzip(headers: &mut HeaderMap) {
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
}

/// Plain text.
pub(crate) fn text(code: StatusCode, text: impl Into<Bytes>) -> Response<ResponseBody> {
    answer(
        code,
        "text/plain; charset=utf-8",
        ResponseBody::full(text.into()),
    )
}

/// The answer for a refused request.
pub(crate) fn refusal(refusal: &Refusal, layout: Layout) -> Response<ResponseBody> {
    match refusal {
        Refusal::Status(status) => self::status(status, layout),
        Refusal::Text(code, message) => {
            let mut response = text(*code, message.clone());
            response.headers_mut().insert(
                "X-Content-Type-Options",
                HeaderValue::from_static("nosniff"),
            );
            response
        }
    }
}

/// A Status as the answer, with `Retry-After` where it names a time.
pub(crate) fn status(status: &Status, layout: Layout) -> Response<ResponseBody> {
    let code =
        StatusCode::from_u16(status.http_code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = layout.lay_out(status.to_json());
    let mut response = answer(code, layout.content_type(), ResponseBody::full(body));
    if let Some(seconds) = status.retry_after_seconds() {
        response
            .headers_mut()
            .insert("Retry-After", HeaderValue::from(seconds));
    }
    response
}
