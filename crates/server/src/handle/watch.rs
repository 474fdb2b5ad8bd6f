//! Watches: where a stream starts, and the stream.

use std::sync::Arc;
use std::time::Duration;

use http::{Response, StatusCode};
use masthead_api::{Answer, ListOptions, Route, Status, parse_resource_version};
use masthead_objects::{SharedResource, StorageId};
use masthead_watch::{
    Bookmarks, Freshness, VersionMatch, WatchError, WatchPath, WatchPlan, WatchQuery, WatchRequest,
    WatchStart,
};

use super::{Answered, Call, item};
use crate::app::{App, storage_of};
use crate::hub::Subscription;
use crate::listen::ResponseBody;
use crate::rendering::Rendering;
use crate::respond;
use crate::stream::{Opening, WatchBody};
use crate::uncached::{self, Caching, Past};

pub(super) fn answer(app: &Arc<App>, call: &Call) -> Answered {
    let route = if call.path.name.is_some() {
        Route::Object
    } else {
        Route::Collection
    };
    let media = call.negotiate(Answer {
        route,
        streaming: true,
        allow_transform: true,
    })?;
    let mut options = ListOptions::decode(&call.query)?;
    if options.watch {
        options.apply_watch_defaults();
        options.validate_watch()?;
    } else {
        options.validate_list()?;
    }
    let selector = call.selector(&options)?;
    let rendering = Rendering::new(app, call, media)?;
    let storage = storage_of(&call.resource)?;
    let version = parse_resource_version(&options.resource_version).map_err(Status::bare_500)?;
    let plan = plan(&options, version);
    let caching = app.caching(&call.resource);
    let request = WatchRequest {
        selector,
        start: plan.start,
        bookmarks: match caching {
            Caching::Cached => bookmarks(&options),
            Caching::Uncached => Bookmarks::Off,
        },
        timeout: Some(timeout(app, options.timeout_seconds)),
    };
    let opening = match caching {
        Caching::Cached => cached(app, storage, request, plan.wait),
        Caching::Uncached => Opening::of(uncached(app, &call.resource, request, plan.wait)),
    };
    let body = WatchBody::new(
        opening,
        rendering,
        app.resource_metrics(storage).watch_began(),
    );
    Ok(stream(body))
}

/// A watch of a cache: it may wait for its start, within the stream.
fn cached(app: &Arc<App>, storage: StorageId, request: WatchRequest, wait: Freshness) -> Opening {
    let hub = Arc::clone(&app.hub);
    let open = move || hub.watch(storage, request).map_err(|error| expired(&error));
    match wait {
        Freshness::AtLeast(revision) if app.hub.head() < revision => {
            let app = Arc::clone(app);
            Opening::Later(Box::pin(async move {
                item::fresh(&app, Caching::Cached, revision).await?;
                open()
            }))
        }
        Freshness::Any | Freshness::Head | Freshness::AtLeast(_) => Opening::of(open()),
    }
}

/// A watch by the store's rules: it waits for nothing, and reaches back as far as the store.
fn uncached(
    app: &App,
    resource: &SharedResource,
    request: WatchRequest,
    wait: Freshness,
) -> Result<Subscription, Status> {
    let (storage, head) = (storage_of(resource)?, app.hub.head());
    if let Freshness::AtLeast(revision) = wait
        && head < revision
    {
        let seconds = uncached::retry_seconds(uuid::Uuid::new_v4().as_u128());
        let (wanted, head) = (revision.get(), head.get());
        return Err(Status::too_large_resource_version(
            wanted,
            head,
            Some(seconds),
        ));
    }
    let WatchStart::After(after) = request.start else {
        return app.hub.watch(storage, request).map_err(|e| expired(&e));
    };
    let reader = app.reader()?;
    if let Some(refusal) = uncached::refuse_watch(after.get(), reader.compacted()) {
        return Err(refusal);
    }
    if let Ok(events) = app.hub.watch(storage, request.clone()) {
        return Ok(events);
    }
    let selector = request.selector.clone();
    let now = WatchRequest {
        start: WatchStart::After(head),
        ..request
    };
    let events = app.hub.watch(storage, now).map_err(|e| expired(&e))?;
    let stored = Arc::clone(app.stored(resource));
    Ok(events.after(Past::new(reader, stored, selector, after, head)))
}

fn stream(body: WatchBody) -> Response<ResponseBody> {
    respond::answer(
        StatusCode::OK,
        "application/json",
        ResponseBody::stream(body),
    )
}

fn plan(options: &ListOptions, version: u64) -> WatchPlan {
    WatchPlan::new(WatchQuery {
        version: (!options.resource_version.is_empty()).then_some(version),
        version_match: options
            .resource_version_match
            .as_ref()
            .map(|_| VersionMatch::NotOlderThan),
        send_initial_events: options.send_initial_events,
        bookmarks: bookmarks(options),
        path: if options.watch {
            WatchPath::Query
        } else {
            WatchPath::Prefix
        },
    })
}

fn bookmarks(options: &ListOptions) -> Bookmarks {
    if options.allow_watch_bookmarks {
        Bookmarks::On
    } else {
        Bookmarks::Off
    }
}

/// How long a stream lives: what the client says, else a random time, so that reconnects spread.
fn timeout(app: &App, seconds: Option<i64>) -> Duration {
    match seconds {
        Some(seconds) if seconds != 0 => Duration::from_secs(u64::try_from(seconds).unwrap_or(0)),
        _ => {
            let least = app.config.min_request_timeout;
            let (random, _) = uuid::Uuid::new_v4().as_u64_pair();
            least + least.mul_f64(random as f64 / u64::MAX as f64)
        }
    }
}

fn expired(error: &WatchError) -> Status {
    match error {
        WatchError::Expired {
            wanted,
            oldest_accepted,
        } => Status::too_old_resource_version(wanted.get(), oldest_accepted.get()),
    }
}
