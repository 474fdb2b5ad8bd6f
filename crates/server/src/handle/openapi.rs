//! `/openapi/v3` and `/openapi/v2`.

use std::sync::Arc;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPIRES, LOCATION};
use http::{HeaderValue, Request, StatusCode};
use masthead_api::{Accept, Query};

use super::{Answered, Payload, documents, page_not_found};
use crate::app::App;
use crate::listen::ResponseBody;
use crate::respond;

/// Answers `/openapi/{parts}`.
pub(super) fn answer(
    app: &Arc<App>,
    request: &Request<Payload>,
    accept: &Accept,
    query: &Query,
    parts: &[&str],
) -> Answered {
    match parts {
        ["v2"] => documents::document(request, accept, query, app.openapi().v2().clone()),
        ["v3"] | ["v3", ""] => {
            let index = app.openapi().index().clone();
            let mut response = documents::document(request, accept, query, index)?;
            let kind = HeaderValue::from_static("text/plain; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, kind);
            Ok(response)
        }
        ["v3", path @ ..] => document(app, request, accept, query, &path.join("/")),
        _ => Err(page_not_found()),
    }
}

fn document(
    app: &Arc<App>,
    request: &Request<Payload>,
    accept: &Accept,
    query: &Query,
    path: &str,
) -> Answered {
    let (json, current) = app.openapi().document(path).ok_or_else(page_not_found)?;
    let hash = query.get("hash").unwrap_or_default();
    if !hash.is_empty() && hash != current {
        let place = app.openapi().location(path).unwrap_or_default();
        let mut response = respond::answer(
            StatusCode::MOVED_PERMANENTLY,
            "text/html",
            ResponseBody::empty(),
        );
        if let Ok(place) = HeaderValue::from_str(&place) {
            response.headers_mut().insert(LOCATION, place);
        }
        return Ok(response);
    }
    let mut response = documents::document(request, accept, query, json.clone())?;
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{current}\"")) {
        headers.insert(ETAG, tag);
    }
    if !hash.is_empty() {
        // Under its hash a document never changes.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
        headers.remove(EXPIRES);
    }
    Ok(response)
}
