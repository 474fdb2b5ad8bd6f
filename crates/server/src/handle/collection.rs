//! What can be done with a collection: list, watch, create, delete many.

use std::sync::Arc;

use http::{Method, Request, StatusCode};
use masthead_api::{Answer, ListOptions, Route, Status};
use masthead_objects::write::{DeleteOptions, OptionsOf};

use super::create::Creation;
use super::delete::{Deleted, Deletion};
use super::{Answered, Call, Payload, body, item, list, watch};
use crate::app::App;
use crate::respond;
use crate::stream::{Items, ListBody};

pub(super) async fn answer(app: &Arc<App>, call: &Call, request: Request<Payload>) -> Answered {
    match call.method {
        Method::GET if call.query.boolean("watch") == Some(true) => {
            call.require("watch").map_err(|_| not_watchable(call))?;
            watch::answer(app, call)
        }
        Method::GET => {
            call.require("list")?;
            list::answer(app, call).await
        }
        Method::POST => {
            call.require("create")?;
            create(app, call, request).await
        }
        Method::DELETE => {
            call.require("deletecollection")?;
            delete_many(app, call, request).await
        }
        _ => Err(Status::method_not_allowed().into()),
    }
}

/// The deprecated `/watch/` paths: always a stream.
pub(super) fn watch_prefix(app: &Arc<App>, call: &Call) -> Answered {
    if call.method != Method::GET || call.path.subresource.is_some() {
        return Err(Status::method_not_allowed().into());
    }
    call.require("watch").map_err(|_| not_watchable(call))?;
    watch::answer(app, call)
}

fn not_watchable(call: &Call) -> Status {
    if call.resource.has_verb("list") {
        Status::method_not_supported(&call.resource.group, &call.resource.plural, "watch")
    } else {
        Status::method_not_allowed()
    }
}

async fn create(app: &Arc<App>, call: &Call, request: Request<Payload>) -> Answered {
    if call.resource.is_namespaced() && call.namespace.is_empty() {
        return Err(Status::method_not_allowed().into());
    }
    let media = item::media(call)?;
    let run = call.write_run(OptionsOf::Create)?;
    let object = body::object(call, request)?;
    let creation = Creation {
        resource: &call.resource,
        namespace: &call.namespace,
        object,
        run,
    };
    let answer = creation.run(app).await?;
    item::respond(app, call, StatusCode::CREATED, answer.json(), media)
}

/// Deletes what a list with these options shows, one by one, and answers with that list.
async fn delete_many(app: &Arc<App>, call: &Call, request: Request<Payload>) -> Answered {
    // Not of all namespaces at once.
    if call.resource.is_namespaced() && call.namespace.is_empty() {
        return Err(Status::method_not_allowed().into());
    }
    let answer = Answer {
        route: Route::Object,
        streaming: false,
        allow_transform: true,
    };
    let media = call.negotiate(answer)?;
    let list_options = ListOptions::decode(&call.query)?;
    list_options.validate_list()?;
    let body = body::bytes(request)?;
    let options = DeleteOptions::decode(&body, &call.query)?;
    let found = list::find(app, call, &list_options).await?;
    let (head, items) = found.page(call);
    for object in &items {
        let deletion = Deletion {
            resource: &call.resource,
            key: object.key.clone(),
            options: options.clone(),
        };
        match deletion.run(app).await {
            Ok(Deleted::Gone(_) | Deleted::Pending(_) | Deleted::Dry(..)) => {}
            Err(status) if status.code == 404 => {}
            Err(status) => return Err(status.into()),
        }
    }
    let rendering = list::rendering(app, call, media)?;
    let mut list = ListBody::new(&head, Items::Page(items.into_iter()), rendering);
    let json = list.whole(usize::MAX).unwrap_or_default();
    Ok(respond::document(
        StatusCode::OK,
        json,
        call.layout(media),
        &call.headers,
    ))
}
