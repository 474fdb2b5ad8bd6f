//! What is no resource: discovery, OpenAPI, version, health, metrics.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ETAG, IF_NONE_MATCH};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use masthead_api::{
    Accept, AggregatedDiscovery, Answer, Format, Query, Route, Status, negotiate,
    wants_aggregated_discovery,
};
use masthead_objects::discovery::{AGGREGATED_CONTENT_TYPE, Aggregated, Root, root_paths};

use super::{Answered, Payload, page_not_found};
use crate::app::App;
use crate::listen::ResponseBody;
use crate::respond::{self, Layout};
use crate::{metrics, version};

/// Answers a path that is no resource's.
pub(super) fn answer(
    app: &Arc<App>,
    request: &Request<Payload>,
    path: &str,
    query: &Query,
    accept: &Accept,
) -> Answered {
    let raw_query = request.uri().query().unwrap_or_default();
    if let Some(response) = app.health.answer(path, raw_query) {
        return Ok(response);
    }
    if request.method() != Method::GET {
        return Err(Status::method_not_allowed().into());
    }
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match parts.as_slice() {
        [""] => document(request, accept, query, root_paths(app.catalog)),
        ["version"] | ["version", ""] => document(
            request,
            accept,
            query,
            version::version().to_string().into(),
        ),
        ["metrics"] => {
            app.refresh_metrics();
            let body = ResponseBody::full(app.metrics.encode());
            Ok(respond::answer(StatusCode::OK, metrics::CONTENT_TYPE, body))
        }
        ["api"] | ["api", ""] => root(app, request, accept, query, Root::Api),
        ["apis"] | ["apis", ""] => root(app, request, accept, query, Root::Apis),
        ["api", version] | ["api", version, ""] => resources(app, request, accept, query, version),
        ["apis", group] | ["apis", group, ""] => {
            let json = app
                .discovery
                .group(group)
                .cloned()
                .ok_or_else(page_not_found)?;
            document(request, accept, query, json)
        }
        ["apis", group, version] | ["apis", group, version, ""] => {
            if app.catalog.versions(group).is_empty() {
                return Err(page_not_found());
            }
            resources(app, request, accept, query, &format!("{group}/{version}"))
        }
        ["openapi", rest @ ..] => super::openapi::answer(app, request, accept, query, rest),
        _ => Err(page_not_found()),
    }
}

/// A document in the notation that the client wants.
pub(super) fn document(
    request: &Request<Payload>,
    accept: &Accept,
    query: &Query,
    json: Bytes,
) -> Answered {
    let answer = Answer {
        route: Route::Object,
        streaming: false,
        allow_transform: false,
    };
    let media = negotiate(accept, answer)?;
    let pretty = media.pretty || query.boolean("pretty") == Some(true);
    let layout = match media.format {
        Format::Yaml => Layout::Yaml,
        Format::Json if pretty => Layout::Pretty,
        Format::Json => Layout::Json,
    };
    Ok(respond::document(
        StatusCode::OK,
        json,
        layout,
        request.headers(),
    ))
}

fn resources(
    app: &App,
    request: &Request<Payload>,
    accept: &Accept,
    query: &Query,
    api_version: &str,
) -> Answered {
    let json = app
        .discovery
        .resources(api_version)
        .cloned()
        .ok_or_else(Status::not_found_path)?;
    document(request, accept, query, json)
}

fn root(
    app: &App,
    request: &Request<Payload>,
    accept: &Accept,
    query: &Query,
    root: Root,
) -> Answered {
    match wants_aggregated_discovery(accept) {
        Some(AggregatedDiscovery::V2) => Ok(aggregated(request, app.discovery.aggregated(root))),
        None => {
            let json = match root {
                Root::Api => app.discovery.api(),
                Root::Apis => app.discovery.apis(),
            };
            document(request, accept, query, json.clone())
        }
    }
}

/// The aggregated form, or 304 where the client has it already.
fn aggregated(request: &Request<Payload>, document: &Aggregated) -> Response<ResponseBody> {
    let known = request
        .headers()
        .get(IF_NONE_MATCH)
        .and_then(|tag| tag.to_str().ok());
    let is_known =
        known.is_some_and(|tag| tag.trim_matches('"') == document.etag.trim_matches('"'));
    let mut response = if is_known {
        let mut response = Response::new(ResponseBody::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        let json = document.json.clone();
        let mut response = respond::document(StatusCode::OK, json, Layout::Json, request.headers());
        let kind = HeaderValue::from_static(AGGREGATED_CONTENT_TYPE);
        response
            .headers_mut()
            .insert(http::header::CONTENT_TYPE, kind);
        response
    };
    let headers = response.headers_mut();
    headers.insert(
        http::header::CACHE_CONTROL,
        HeaderValue::from_static("public"),
    );
    headers.insert(http::header::VARY, HeaderValue::from_static("Accept"));
    if let Ok(tag) = HeaderValue::from_str(&document.etag) {
        headers.insert(ETAG, tag);
    }
    response
}
