//! Lists: which state, which part of it, and how it is written.

use std::num::NonZeroUsize;
use std::ops::Bound;
use std::sync::Arc;

use http::StatusCode;
use masthead_api::{
    Answer, ContinueToken, ListOptions, MediaType, Object, Revision, Route, Selector, Status,
    parse_resource_version,
};
use masthead_watch::{
    Freshness, ListPlan, ListQuery, ListState, Snapshot, SnapshotCursor, TokenState, VersionMatch,
};

use super::{Answered, Call, item};
use crate::app::{App, storage_of};
use crate::listen::ResponseBody;
use crate::past;
use crate::rendering::Rendering;
use crate::respond::{self, Layout};
use crate::stream::{self, Items, ListBody, ListHead};
use crate::uncached::Caching;

/// Lists up to this size are sent in one piece, with their length.
const WHOLE_BYTES_MAX: usize = 64 * 1024;

pub(super) async fn answer(app: &Arc<App>, call: &Call) -> Answered {
    let answer = Answer {
        route: Route::Collection,
        streaming: false,
        allow_transform: true,
    };
    let media = call.negotiate(answer)?;
    let options = ListOptions::decode(&call.query)?;
    options.validate_list()?;
    let rendering = rendering(app, call, media)?;
    let found = find(app, call, &options).await?;
    let storage = storage_of(&call.resource)?;
    let (head, items) = if found.limit.is_none() && found.from.is_none() {
        (found.whole_head(), found.cursor())
    } else {
        let snapshot = found.snapshot.clone();
        let (head, items) = found.page(call);
        if head.continue_token.is_some() {
            app.hub.keep(storage, &snapshot);
        }
        (head, Items::Page(items.into_iter()))
    };
    Ok(respond(
        call,
        ListBody::new(&head, items, rendering),
        call.layout(media),
    ))
}

fn respond(call: &Call, mut list: ListBody, layout: Layout) -> http::Response<ResponseBody> {
    if layout != Layout::Json {
        let json = list.whole(usize::MAX).unwrap_or_default();
        return respond::document(StatusCode::OK, json, layout, &call.headers);
    }
    if let Some(json) = list.whole(WHOLE_BYTES_MAX) {
        return respond::document(StatusCode::OK, json, layout, &call.headers);
    }
    let packed = stream::accepts_gzip(&call.headers) && list.compress();
    let body = ResponseBody::stream(list);
    let mut response = respond::answer(StatusCode::OK, "application/json", body);
    if packed {
        respond::mark_gzip(response.headers_mut());
    }
    response
}

/// How the items are written.
pub(super) fn rendering(app: &App, call: &Call, media: MediaType) -> Result<Rendering, Status> {
    Rendering::new(app, call, media)?.of_list()
}

/// A state and the part of it that is asked for.
pub(super) struct Found {
    snapshot: Snapshot,
    selector: Selector,
    from: Option<String>,
    limit: Option<NonZeroUsize>,
    caching: Caching,
}

/// The state that a list with these options is about.
pub(super) async fn find(
    app: &Arc<App>,
    call: &Call,
    options: &ListOptions,
) -> Result<Found, Status> {
    let storage = storage_of(&call.resource)?;
    let selector = call.selector(options)?;
    let token = token(options)?;
    let plan = plan(options, token.as_ref())?;
    let caching = app.caching(&call.resource);
    let snapshot = match plan.state {
        ListState::Present(freshness) => {
            if let Freshness::AtLeast(revision) = freshness {
                item::fresh(app, caching, revision).await?;
            }
            app.hub
                .snapshot(storage)
                .ok_or_else(Status::not_found_path)?
        }
        ListState::Exactly(revision) => {
            item::fresh(app, caching, revision).await?;
            exactly(app, call, revision)
                .await
                .map_err(|error| expired(error, caching, token.as_ref()))?
        }
    };
    let scope = if call.namespace.is_empty() {
        String::new()
    } else {
        format!("{}/", call.namespace)
    };
    let from = token.map(|token| format!("{scope}{}", token.start));
    Ok(Found {
        snapshot,
        selector,
        from,
        limit: NonZeroUsize::new(match caching {
            Caching::Cached => plan.limit,
            // Counts beside version 0 too.
            Caching::Uncached => usize::try_from(options.limit).unwrap_or(0),
        }),
        caching,
    })
}

/// The state at `revision`, which exists: from the cache's history, or from the store. Without a
/// cache what the store has compacted is gone, even where the history has it.
async fn exactly(app: &App, call: &Call, revision: Revision) -> Result<Snapshot, past::PastError> {
    let resource = &call.resource;
    let storage = storage_of(resource).map_err(past::PastError::Failed)?;
    let is_kept = app.caching(resource) == Caching::Cached || {
        let reader = app.reader().map_err(past::PastError::Failed)?;
        reader.compacted().is_none_or(|oldest| oldest <= revision)
    };
    let cached = is_kept.then(|| app.hub.snapshot_at(storage, revision));
    match cached.flatten() {
        Some(snapshot) => Ok(snapshot),
        None => past::snapshot(app, resource, revision).await,
    }
}

fn token(options: &ListOptions) -> Result<Option<ContinueToken>, Status> {
    if options.continue_token.is_empty() {
        return Ok(None);
    }
    let token = ContinueToken::decode(&options.continue_token)
        .map_err(|why| Status::bad_request(format!("invalid continue token: {why}")))?;
    if !matches!(options.resource_version.as_str(), "" | "0") {
        let message = "specifying resource version is not allowed when using continue";
        return Err(Status::bad_request(message));
    }
    Ok(Some(token))
}

fn plan(options: &ListOptions, token: Option<&ContinueToken>) -> Result<ListPlan, Status> {
    let version = parse_resource_version(&options.resource_version)
        .map_err(|why| Status::bad_request(format!("invalid resource version: {why}")))?;
    let query = ListQuery {
        version: (!options.resource_version.is_empty()).then_some(version),
        version_match: match options.resource_version_match.as_deref() {
            Some("Exact") => Some(VersionMatch::Exact),
            Some(_) => Some(VersionMatch::NotOlderThan),
            None => None,
        },
        limit: usize::try_from(options.limit).unwrap_or(0),
        token: token.map(|token| {
            u64::try_from(token.revision)
                .ok()
                .and_then(Revision::new)
                .map_or(TokenState::Newest, TokenState::At)
        }),
    };
    ListPlan::new(query).map_err(|error| Status::bad_request(error.to_string()))
}

/// What is said of a state that is gone: with a way to go on, where a listing was under way.
fn expired(error: past::PastError, caching: Caching, token: Option<&ContinueToken>) -> Status {
    match (error, token) {
        (past::PastError::Compacted, None) => {
            Status::expired("The resourceVersion for the provided list is too old.")
        }
        (past::PastError::Compacted, Some(token)) => {
            let onward = ContinueToken {
                revision: -1,
                start: token.start.clone(),
            };
            Status::expired(
                "The provided continue parameter is too old to display a consistent list result. \
                 You can start a new list without the continue parameter, or use the continue \
                 token in this response to retrieve the remainder of the results. Continuing with \
                 the provided token results in an inconsistent list - objects that were created, \
                 modified, or deleted between the time the first chunk was returned and now may \
                 show up in the list.",
            )
            .with_continue(caching.encode(&onward))
        }
        (past::PastError::Failed(status), _) => status,
    }
}

impl Found {
    fn whole_head(&self) -> ListHead {
        ListHead::at(self.snapshot.revision())
    }

    fn cursor(self) -> Items {
        Items::Cursor(SnapshotCursor::new(self.snapshot, Arc::new(self.selector)))
    }

    /// One page, and what the list says of itself.
    pub(super) fn page(self, call: &Call) -> (ListHead, Vec<Arc<Object>>) {
        let from = self
            .from
            .as_deref()
            .map_or(Bound::Unbounded, Bound::Included);
        let page = masthead_watch::page(&self.snapshot, &self.selector, from, self.limit);
        let revision = i64::try_from(self.snapshot.revision().get()).unwrap_or(i64::MAX);
        let token = page.next_after.map(|key| {
            let key = if call.namespace.is_empty() {
                key.as_str()
            } else {
                key.name()
            };
            self.caching.encode(&ContinueToken::after(revision, key))
        });
        let remaining = page
            .remaining
            .and_then(|remaining| u64::try_from(remaining).ok());
        let head = ListHead {
            continue_token: token,
            remaining,
            ..ListHead::at(self.snapshot.revision())
        };
        (head, page.items)
    }
}
