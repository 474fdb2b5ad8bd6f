//! Subresources: another door to the same object.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use masthead_api::{Selector, Status};
use masthead_objects::write::{self, OptionsOf, UpdateOf};
use serde_json::Value;

use super::delete::Deletion;
use super::update::Update;
use super::{Answered, Call, Payload, body, item};
use crate::app::{App, storage_of, value_of};
use crate::respond;

pub(super) async fn answer(
    app: &Arc<App>,
    call: &Call,
    name: &str,
    subresource: &str,
    request: Request<Payload>,
) -> Answered {
    let Some(known) = call.resource.subresource(subresource) else {
        return Err(Status::not_found_path().into());
    };
    if !call.path.extra.is_empty() && !matches!(subresource, "proxy") {
        return Err(Status::not_found_path().into());
    }
    let verb = call.path.verb(call.method.as_str(), false);
    if !known.verbs.iter().any(|offered| offered.as_ref() == verb) {
        return Err(Status::method_not_allowed().into());
    }
    match (subresource, &call.method) {
        ("scale", _) => super::scale::answer(app, call, name, request).await,
        ("binding", &Method::POST) => bind(app, call, name, request).await,
        ("eviction", &Method::POST) => evict(app, call, name, request).await,
        ("status" | "finalize" | "approval" | "ephemeralcontainers" | "resize", _) => {
            match call.method {
                Method::GET => item::get(app, call, name).await,
                Method::PUT => item::put(app, call, name, part(subresource), request).await,
                Method::PATCH => item::patch(app, call, name, part(subresource), request).await,
                _ => Err(Status::method_not_allowed().into()),
            }
        }
        _ => unserved(app, call, name, subresource),
    }
}

/// What a subresource changes.
fn part(subresource: &str) -> UpdateOf {
    match subresource {
        "status" | "approval" => UpdateOf::Status,
        "finalize" => UpdateOf::Finalize,
        _ => UpdateOf::Object,
    }
}

/// Subresources that need a kubelet or an issuer of tokens: there is none here.
fn unserved(app: &App, call: &Call, name: &str, subresource: &str) -> Answered {
    if app
        .hub
        .get(storage_of(&call.resource)?, call.key(name).as_str())
        .is_none()
    {
        return Err(call.not_found(name).into());
    }
    let message = format!("{subresource} of {} is not served", call.resource.plural);
    Err(Status::failure(501, masthead_api::Reason::NONE, message).into())
}

async fn bind(app: &Arc<App>, call: &Call, name: &str, request: Request<Payload>) -> Answered {
    let run = call.write_run(OptionsOf::Create)?;
    let binding = body::object(call, request)?;
    let update = Update {
        resource: &call.resource,
        key: call.key(name),
        part: None,
        run,
    };
    let now = app.hub.clock().timestamp();
    update
        .run(app, |pod| write::bind(pod, &binding, &now))
        .await?;
    Ok(success(call))
}

async fn evict(app: &Arc<App>, call: &Call, name: &str, request: Request<Payload>) -> Answered {
    let eviction = body::object(call, request)?;
    let options = write::evict(name, &eviction)?;
    let pod = app
        .hub
        .get(storage_of(&call.resource)?, call.key(name).as_str())
        .ok_or_else(|| call.not_found(name))?;
    write::check_disruption(&value_of(&call.resource, &pod)?, &budgets(app, call)?)?;
    let deletion = Deletion {
        resource: &call.resource,
        key: call.key(name),
        options,
    };
    deletion.run(app).await?;
    Ok(success(call))
}

/// The disruption budgets of the namespace.
fn budgets(app: &App, call: &Call) -> Result<Vec<Value>, Status> {
    let resource = app.catalog.resource("policy", "v1", "poddisruptionbudgets");
    let Some(resource) = resource else {
        return Ok(Vec::new());
    };
    let Some(snapshot) = app.hub.snapshot(storage_of(resource)?) else {
        return Ok(Vec::new());
    };
    let selector = Selector {
        namespace: Some(call.namespace.clone()),
        ..Selector::default()
    };
    let found = snapshot.select(&selector, Bound::Unbounded);
    found.map(|budget| value_of(resource, budget)).collect()
}

fn success(call: &Call) -> http::Response<crate::listen::ResponseBody> {
    let json = Status::success(201).to_json();
    respond::document(
        StatusCode::CREATED,
        json,
        call.layout(item::JSON),
        &call.headers,
    )
}

/// An answer that is no object of the resource.
pub(super) fn other(
    call: &Call,
    code: StatusCode,
    json: Bytes,
) -> http::Response<crate::listen::ResponseBody> {
    respond::document(code, json, call.layout(item::JSON), &call.headers)
}
