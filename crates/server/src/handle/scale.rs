//! The subresource `scale`: the replicas of an object in a form that all scalable kinds share.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use masthead_api::Status;
use masthead_objects::patch;
use masthead_objects::write::{self, OptionsOf, UpdateOf, Verb};
use serde_json::Value;

use super::create::{Answer, Run};
use super::update::Update;
use super::{Answered, Call, Payload, body, subresource};
use crate::app::{App, storage_of, value_of};

pub(super) async fn answer(
    app: &Arc<App>,
    call: &Call,
    name: &str,
    request: Request<Payload>,
) -> Answered {
    match call.method {
        Method::GET => {
            let object = app
                .hub
                .get(storage_of(&call.resource)?, call.key(name).as_str());
            let object = object.ok_or_else(|| call.not_found(name))?;
            let scale = write::scale_of(&value_of(&call.resource, &object)?);
            Ok(subresource::other(
                call,
                StatusCode::OK,
                Bytes::from(scale.to_string()),
            ))
        }
        Method::PUT => {
            let run = call.write_run(OptionsOf::Update)?;
            let scale = body::object(call, request)?;
            change(app, call, (name, run), move |_| Ok(scale.clone())).await
        }
        Method::PATCH => {
            let (kind, run, document) = body::patch(call, request)?;
            let resource = Arc::clone(&call.resource);
            change(app, call, (name, run), move |scale| {
                patch::apply_raw(&resource, kind, scale, &document)
            })
            .await
        }
        _ => Err(Status::method_not_allowed().into()),
    }
}

/// Changes the object by what `change` makes of its scale.
async fn change(
    app: &Arc<App>,
    call: &Call,
    (name, run): (&str, Run),
    change: impl Fn(&Value) -> Result<Value, Status> + Send + Sync,
) -> Answered {
    let update = Update {
        resource: &call.resource,
        key: call.key(name),
        part: Some((UpdateOf::Object, Verb::Patch)),
        run,
    };
    let resource = &call.resource;
    let answer = update
        .run(app, |object| {
            write::with_scale(resource, object, change(&write::scale_of(object))?)
        })
        .await?;
    let object = match &answer {
        Answer::Stored(object) => value_of(resource, object)?,
        Answer::Value(value) => value.clone(),
    };
    let scale = write::scale_of(&object);
    Ok(subresource::other(
        call,
        StatusCode::OK,
        Bytes::from(scale.to_string()),
    ))
}
