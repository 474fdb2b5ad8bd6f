//! Request bodies: read up to a limit, then parsed once.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request};
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use masthead_api::{
    BodyFormat, PatchType, Reason, Route, Status, parse_body_format, parse_patch_type,
};
use masthead_objects::write::{self, OptionsOf};
use serde_json::Value;

use super::Call;
use super::create::Run;

/// More than this of a body that is too large is not read to get to the answer.
const DISCARDED_BYTES_MAX: usize = 16 << 20;
/// Nor longer than this.
const DISCARDED_TIME_MAX: Duration = Duration::from_secs(10);

/// A request's body, or why there is none. It is read before anything is decided, so that a
/// refusal finds a client that listens; the refusal of the body itself comes when it is asked for.
pub(crate) type Payload = Result<Bytes, Status>;

/// Reads a body of at most `bytes_max` that arrives within `time_max`. What is beyond is read and
/// dropped, within reason.
pub(super) async fn read(body: Incoming, bytes_max: usize, time_max: Duration) -> Payload {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    tokio::time::timeout(time_max, read_all(body, bytes_max))
        .await
        .unwrap_or_else(|_| {
            let message = format!("Timeout: the body did not arrive within {time_max:?}");
            Err(Status::failure(408, Reason::TIMEOUT, message))
        })
}

async fn read_all(mut body: Incoming, bytes_max: usize) -> Payload {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame
            .map_err(|error| Status::bad_request(format!("the body could not be read: {error}")))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if whole.len() + data.len() > bytes_max {
            drop(tokio::time::timeout(DISCARDED_TIME_MAX, discard(body)).await);
            return Err(Status::request_entity_too_large(bytes_max as u64));
        }
        if whole.is_empty() && body.is_end_stream() {
            return Ok(data);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

async fn discard(mut body: Incoming) {
    let mut dropped = 0;
    while let Some(Ok(frame)) = body.frame().await {
        dropped += frame.data_ref().map_or(0, Bytes::len);
        if dropped > DISCARDED_BYTES_MAX {
            return;
        }
    }
}

/// The whole body.
pub(crate) fn bytes(request: Request<Payload>) -> Payload {
    request.into_body()
}

/// The `Content-Type` of a request.
pub(crate) fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(CONTENT_TYPE)
        .map(|value| value.to_str().unwrap_or("?"))
}

/// The body as a tree, from JSON or YAML.
pub(crate) fn object(call: &Call, request: Request<Payload>) -> Result<Value, Status> {
    let format = parse_body_format(content_type(request.headers()))?;
    let bytes = bytes(request)?;
    match format {
        BodyFormat::Json => write::body::parse(&call.resource.kind, &bytes),
        BodyFormat::Yaml => {
            let json = yaml(&bytes)?.to_string();
            write::body::parse(&call.resource.kind, json.as_bytes())
        }
    }
}

/// A patch: its kind, whether it is only tried, and its text as JSON.
pub(crate) fn patch(
    call: &Call,
    request: Request<Payload>,
) -> Result<(PatchType, Run, Bytes), Status> {
    let kind = parse_patch_type(content_type(&call.headers), Route::Object)?;
    let run = call.write_run(OptionsOf::Patch(kind))?;
    let bytes = bytes(request)?;
    let document = match kind {
        PatchType::Apply => Bytes::from(yaml(&bytes)?.to_string()),
        PatchType::Json | PatchType::Merge | PatchType::Strategic => bytes,
    };
    Ok((kind, run, document))
}

/// The first document of a YAML text.
pub(crate) fn yaml(bytes: &[u8]) -> Result<Value, Status> {
    let wrong = |why: String| Status::bad_request(format!("error converting YAML to JSON: {why}"));
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
    serde_saphyr::from_str(first_document(text)).map_err(|error| wrong(error.to_string()))
}

fn first_document(text: &str) -> &str {
    let body = text.strip_prefix("---\n").unwrap_or(text);
    body.find("\n---\n")
        .and_then(|end| body.get(..=end))
        .unwrap_or(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_document_of_a_yaml_text_counts() {
        assert_eq!(first_document("a: 1\n---\nb: 2\n"), "a: 1\n");
        assert_eq!(first_document("---\na: 1\n"), "a: 1\n");
        assert_eq!(
            yaml(b"a: 'yes'\n").unwrap(),
            serde_json::json!({"a": "yes"})
        );
        assert_eq!(yaml(b"\xff").unwrap_err().code, 400);
    }
}
