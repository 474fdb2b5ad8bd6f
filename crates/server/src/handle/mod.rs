//! Requests: from the path to the function that answers.
//!
//! ```text
//!  request ─▶ path ─▶ resource ─▶ verb ─▶ get | list | watch | create | update | patch | delete
//!                └─▶ documents: discovery, OpenAPI, version, health, metrics
//! ```

mod body;
mod call;
mod clock;
mod collection;
mod commit;
mod documents;
mod item;
mod list;
mod openapi;
mod scale;
mod subresource;
mod watch;

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod update;

use std::sync::Arc;
use std::time::Instant;

use http::header::{ACCEPT, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use masthead_api::{
    Accept, Format, Object, Path, PathError, Query, ResourcePath, Status, find_error_format,
};

use serde_json::Value;

use crate::app::App;
use crate::listen::{Handler, Peer, ResponseBody};
use crate::metrics::Route;
use crate::respond::{self, Layout, Refusal};
use crate::stream::websocket::Upgrade;

use body::Payload;
pub(crate) use call::Call;

type Answered = Result<Response<ResponseBody>, Refusal>;

impl Handler for App {
    async fn handle(
        self: Arc<Self>,
        request: Request<Incoming>,
        _peer: Peer,
    ) -> Response<ResponseBody> {
        let began = Instant::now();
        let dry_run = request
            .uri()
            .query()
            .is_some_and(|query| query.contains("dryRun=All"));
        let accept = accept(request.headers());
        let audit_id = audit_id(request.headers());
        let (mut parts, body) = request.into_parts();
        let upgrade = Upgrade::of(&mut parts);
        let body = body::read(
            body,
            self.config.limits.body_bytes_max,
            self.config.request_timeout,
        )
        .await;
        let request = Request::from_parts(parts, body);
        let (route, answered) = self.route(request, &accept).await;
        let mut response = answered.unwrap_or_else(|refusal| {
            let layout = match find_error_format(&accept) {
                Format::Json => Layout::Json,
                Format::Yaml => Layout::Yaml,
            };
            respond::refusal(&refusal, layout)
        });
        let is_watch = route.as_ref().is_some_and(|route| route.verb == "WATCH");
        if let Some(upgrade) = upgrade.filter(|_| is_watch && response.status() == StatusCode::OK) {
            response = upgrade.stream(response, &self.sockets);
        }
        response.headers_mut().insert("Audit-Id", audit_id);
        if let Some(route) = route {
            self.metrics.route(&route).answered(
                response.status().as_u16(),
                began.elapsed(),
                dry_run,
            );
        }
        response
    }

    async fn close(&self) {
        self.stop().await;
    }
}

impl App {
    async fn route(
        self: &Arc<Self>,
        request: Request<Payload>,
        accept: &Accept,
    ) -> (Option<Route>, Answered) {
        let path = match Path::parse(request.uri().path()) {
            Ok(path) => path,
            Err(error) => return (None, Err(malformed(&error, request.uri().path()))),
        };
        let query = match Query::parse(request.uri().query().unwrap_or_default()) {
            Ok(query) => query,
            Err(status) => return (None, Err(status.into())),
        };
        match path {
            Path::NonResource(path) if clock::is_path(&path) => (
                None,
                clock::answer(self, request.method(), &path, &query).await,
            ),
            Path::NonResource(path) => (
                None,
                documents::answer(self, &request, &path, &query, accept),
            ),
            Path::Resource(path) => match self.call(path, query, accept, &request) {
                Ok(call) => (Some(call.route()), call.answer(self, request).await),
                Err(refusal) => (None, Err(refusal)),
            },
        }
    }

    fn call(
        &self,
        path: ResourcePath,
        query: Query,
        accept: &Accept,
        request: &Request<Payload>,
    ) -> Result<Call, Refusal> {
        let resource = self
            .catalog
            .resource(&path.group, &path.version, &path.resource)
            .ok_or_else(|| {
                if self.catalog.versions(&path.group).is_empty() {
                    page_not_found()
                } else {
                    Status::not_found_path().into()
                }
            })?;
        Call::new(path, Arc::clone(resource), query, accept.clone(), request)
    }
}

fn accept(headers: &HeaderMap) -> Accept {
    let values: Vec<&str> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .collect();
    Accept::parse((!values.is_empty()).then(|| values.join(",")).as_deref())
}

/// The client's own id of the request, or a new one.
fn audit_id(headers: &HeaderMap) -> HeaderValue {
    let own = headers
        .get("Audit-ID")
        .filter(|id| !id.is_empty() && id.len() <= 64)
        .cloned();
    own.or_else(|| HeaderValue::from_str(&uuid::Uuid::new_v4().to_string()).ok())
        .unwrap_or(HeaderValue::from_static("-"))
}

fn malformed(error: &PathError, path: &str) -> Refusal {
    match error {
        PathError::Escape => Refusal::Text(StatusCode::BAD_REQUEST, "400 Bad Request".into()),
        PathError::TooLong => Refusal::Text(StatusCode::URI_TOO_LONG, "414 URI Too Long".into()),
        PathError::WatchOfNothing { .. } => Refusal::Text(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("Internal Server Error: {path:?}: failed to create RequestInfo: {error}\n"),
        ),
    }
}

/// What upstream answers where there is nothing at all.
fn page_not_found() -> Refusal {
    Refusal::Text(StatusCode::NOT_FOUND, "404 page not found\n".into())
}

/// Is the object on its way out?
pub(crate) fn is_terminating(object: &Object) -> bool {
    let object: Value = serde_json::from_slice(object.json()).unwrap_or_default();
    object.pointer("/metadata/deletionTimestamp").is_some()
}

/// Is the method one of those that this server knows at all?
fn is_known(method: &Method) -> bool {
    matches!(
        *method,
        Method::GET | Method::POST | Method::PUT | Method::PATCH | Method::DELETE
    )
}
