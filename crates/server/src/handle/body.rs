//! Request bodies: read up to a limit, then parsed once.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use masthead_api::{BodyFormat, Status, parse_body_format};
use masthead_objects::write;
use serde_json::Value;

use super::Call;
use crate::app::App;

/// The whole body.
pub(crate) async fn bytes(app: &App, request: Request<Incoming>) -> Result<Bytes, Status> {
    let limit = app.config.limits.body_bytes_max;
    match Limited::new(request.into_body(), limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Status::request_entity_too_large(limit as u64))
        }
        Err(error) => Err(Status::bad_request(format!(
            "the body could not be read: {error}"
        ))),
    }
}

/// The `Content-Type` of a request.
pub(crate) fn content_type(headers: &HeaderMap) -> Option<&str> {
    headers
        .get(CONTENT_TYPE)
        .map(|value| value.to_str().unwrap_or("?"))
}

/// The body as a tree, from JSON or YAML.
pub(crate) async fn object(
    app: &App,
    call: &Call,
    request: Request<Incoming>,
) -> Result<Value, Status> {
    let format = parse_body_format(content_type(request.headers()))?;
    let bytes = bytes(app, request).await?;
    match format {
        BodyFormat::Json => write::body::parse(&call.resource.kind, &bytes),
        BodyFormat::Yaml => {
            let json = yaml(&bytes)?.to_string();
            write::body::parse(&call.resource.kind, json.as_bytes())
        }
    }
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
