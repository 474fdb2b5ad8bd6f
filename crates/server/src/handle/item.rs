//! What can be done with one object: get, put, patch, delete.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use masthead_api::{
    Answer, Format, MediaType, PatchType, Revision, Route, Status, parse_resource_version,
};
use masthead_objects::patch;
use masthead_objects::write::{self, DeleteOptions, OptionsOf, UpdateOf, Verb};
use masthead_watch::Freshness;

use super::create::{Creation, Run};
use super::delete::{Deleted, Deletion, Fate, answers_with_object};
use super::update::Update;
use super::{Answered, Call, Payload, body};
use crate::app::{App, storage_of};
use crate::listen::ResponseBody;
use crate::rendering::Rendering;
use crate::uncached::Caching;
use crate::{respond, warnings};

pub(super) async fn answer(
    app: &Arc<App>,
    call: &Call,
    name: &str,
    request: Request<Payload>,
) -> Answered {
    match call.method {
        Method::GET => {
            call.require("get")?;
            get(app, call, name).await
        }
        Method::PUT => {
            call.require("update")?;
            put(app, call, name, UpdateOf::Object, request).await
        }
        Method::PATCH => {
            call.require("patch")?;
            patch(app, call, name, UpdateOf::Object, request).await
        }
        Method::DELETE => {
            call.require("delete")?;
            delete(app, call, name, request).await
        }
        _ => Err(Status::method_not_allowed().into()),
    }
}

/// How one object is to be written.
pub(super) fn media(call: &Call) -> Result<MediaType, Status> {
    call.negotiate(Answer {
        route: Route::Object,
        streaming: false,
        allow_transform: true,
    })
}

/// An answer of one object.
pub(super) fn respond(
    app: &App,
    call: &Call,
    code: StatusCode,
    json: Bytes,
    media: MediaType,
) -> Answered {
    let rendering = Rendering::new(app, call, media)?.of_one()?;
    let json = rendering.object(json);
    Ok(respond::document(
        code,
        json,
        call.layout(media),
        &call.headers,
    ))
}

pub(super) async fn get(app: &Arc<App>, call: &Call, name: &str) -> Answered {
    let media = media(call)?;
    if call.query.boolean("export") == Some(true) {
        let message = "the export parameter, deprecated since v1.14, is no longer supported";
        return Err(Status::bad_request(message).into());
    }
    let storage = storage_of(&call.resource)?;
    let text = call.query.get("resourceVersion").unwrap_or_default();
    let version = parse_resource_version(text).map_err(Status::bare_500)?;
    let freshness = Freshness::of_get((!text.is_empty()).then_some(version));
    if let Freshness::AtLeast(revision) = freshness {
        fresh(app, app.caching(&call.resource), revision).await?;
    }
    let object = app.hub.get(storage, call.key(name).as_str());
    let object = object.ok_or_else(|| call.not_found(name))?;
    respond(app, call, StatusCode::OK, object.json_bytes(), media)
}

/// Sees to it that `revision` exists: waits for it where there is a cache.
pub(super) async fn fresh(app: &App, caching: Caching, revision: Revision) -> Result<(), Status> {
    if app.hub.head() >= revision {
        return Ok(());
    }
    let retry_after = match caching {
        Caching::Cached if app.hub.reached(revision).await => return Ok(()),
        Caching::Cached => Some(1),
        Caching::Uncached => None,
    };
    let (wanted, head) = (revision.get(), app.hub.head().get());
    Err(Status::too_large_resource_version(
        wanted,
        head,
        retry_after,
    ))
}

pub(super) async fn put(
    app: &Arc<App>,
    call: &Call,
    name: &str,
    part: UpdateOf,
    request: Request<Payload>,
) -> Answered {
    let media = media(call)?;
    let run = call.write_run(OptionsOf::Update)?;
    let object = body::object(call, request)?;
    write::check_address(&call.resource, &call.namespace, name, &object)?;
    let update = Update {
        resource: &call.resource,
        key: call.key(name),
        part: Some((part, Verb::Put)),
        run,
    };
    let answer = update.run(app, |_| Ok(object.clone())).await?;
    respond(app, call, StatusCode::OK, answer.json(), media)
}

pub(super) async fn patch(
    app: &Arc<App>,
    call: &Call,
    name: &str,
    part: UpdateOf,
    request: Request<Payload>,
) -> Answered {
    let media = media(call)?;
    let (kind, run, patch) = body::patch(call, request)?;
    if kind == PatchType::Apply && part == UpdateOf::Object {
        let storage = storage_of(&call.resource)?;
        if app.hub.get(storage, call.key(name).as_str()).is_none() {
            return apply_to_nothing(app, call, (name, run), &patch, media).await;
        }
    }
    let update = Update {
        resource: &call.resource,
        key: call.key(name),
        part: Some((part, Verb::Patch)),
        run,
    };
    let answer = update
        .run(app, |old| patch::apply(&call.resource, kind, old, &patch))
        .await?;
    respond(app, call, StatusCode::OK, answer.json(), media)
}

/// An apply patch for an object that does not exist creates it.
async fn apply_to_nothing(
    app: &Arc<App>,
    call: &Call,
    (name, run): (&str, Run),
    patch: &[u8],
    media: MediaType,
) -> Answered {
    let object = patch::apply_to_nothing(&call.resource, patch)?;
    write::check_address(&call.resource, &call.namespace, name, &object)?;
    let (resource, namespace) = (&call.resource, call.namespace.as_str());
    let answer = Creation {
        resource,
        namespace,
        object,
        run,
    }
    .run(app)
    .await?;
    respond(app, call, StatusCode::CREATED, answer.json(), media)
}

pub(super) async fn delete(
    app: &Arc<App>,
    call: &Call,
    name: &str,
    request: Request<Payload>,
) -> Answered {
    let media = media(call)?;
    let body = body::bytes(request)?;
    let options = DeleteOptions::decode(&body, &call.query)?;
    let warning = write::delete_warning(&call.resource, &options);
    let deletion = Deletion {
        resource: &call.resource,
        key: call.key(name),
        options,
    };
    let (json, gone) = match deletion.run(app).await? {
        Deleted::Gone(object) => (object.json_bytes(), true),
        Deleted::Pending(object) => (object.json_bytes(), false),
        Deleted::Dry(object, fate) => (Bytes::from(object.to_string()), fate == Fate::Gone),
    };
    if gone && !answers_with_object(&call.resource) {
        let uid = uid(&json);
        let resource = &call.resource;
        let status = Status::success_deleted(&resource.group, &resource.plural, name, &uid);
        let json = status.to_json();
        let answer = respond::document(StatusCode::OK, json, call.layout(media), &call.headers);
        return Ok(warned(answer, warning));
    }
    let code = match deletion.options.orphan_dependents {
        Some(false) if !gone => StatusCode::ACCEPTED,
        _ => StatusCode::OK,
    };
    respond(app, call, code, json, media).map(|answer| warned(answer, warning))
}

fn warned(
    mut answer: http::Response<ResponseBody>,
    warning: Option<&str>,
) -> http::Response<ResponseBody> {
    if let Some(text) = warning {
        warnings::add(answer.headers_mut(), text);
    }
    answer
}

fn uid(json: &[u8]) -> String {
    let object: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
    object
        .pointer("/metadata/uid")
        .and_then(|uid| uid.as_str())
        .unwrap_or_default()
        .to_owned()
}

/// JSON, for answers that know no transformation.
pub(super) const JSON: MediaType = MediaType {
    format: Format::Json,
    transform: masthead_api::Transform::None,
    pretty: false,
};
