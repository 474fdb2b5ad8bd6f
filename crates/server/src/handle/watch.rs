//! Watches: where a stream starts, and the stream.

use std::sync::Arc;
use std::time::Duration;

use http::{Response, StatusCode};
use masthead_api::{Answer, ListOptions, Route, Status, parse_resource_version};
use masthead_watch::{
    Bookmarks, Freshness, VersionMatch, WatchError, WatchPath, WatchPlan, WatchQuery, WatchRequest,
};

use super::{Answered, Call, item};
use crate::app::{App, storage_of};
use crate::listen::ResponseBody;
use crate::rendering::Rendering;
use crate::respond;
use crate::stream::{Opening, WatchBody};

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
    let request = WatchRequest {
        selector,
        start: plan.start,
        bookmarks: bookmarks(&options),
        timeout: Some(timeout(app, options.timeout_seconds)),
    };
    let hub = Arc::clone(&app.hub);
    let open = move || hub.watch(storage, request).map_err(|error| expired(&error));
    let opening = match plan.wait {
        Freshness::AtLeast(revision) if app.hub.head() < revision => {
            let app = Arc::clone(app);
            Opening::Later(Box::pin(async move {
                item::fresh(&app, revision).await?;
                open()
            }))
        }
        Freshness::Any | Freshness::Head | Freshness::AtLeast(_) => Opening::of(open()),
    };
    let body = WatchBody::new(
        opening,
        rendering,
        app.resource_metrics(storage).watch_began(),
    );
    Ok(stream(body))
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
