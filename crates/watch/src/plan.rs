//! What a GET, LIST or WATCH with these parameters means: one table each, so that the server only
//! carries it out.

use masthead_api::Revision;

use crate::{Bookmarks, InitialEnd, WatchStart};

/// How new the state must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Whatever there is.
    Any,
    /// As new as the store was when the request came.
    Head,
    /// At least this revision; wait a while for it, then 504.
    AtLeast(Revision),
}

impl Freshness {
    /// What a GET with this `resourceVersion` (absent, or its number) asks for.
    pub const fn of_get(version: Option<u64>) -> Self {
        match version {
            None => Self::Head,
            Some(number) => match Revision::new(number) {
                None => Self::Any,
                Some(revision) => Self::AtLeast(revision),
            },
        }
    }
}

/// The value of `resourceVersionMatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionMatch {
    /// `Exact`
    Exact,
    /// `NotOlderThan`
    NotOlderThan,
}

/// Which state a continue token goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenState {
    /// The one the listing began with.
    At(Revision),
    /// The newest: the token of an expired listing.
    Newest,
}

/// The parameters of a list that decide where it is read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// `resourceVersion`: `None` if absent or empty.
    pub version: Option<u64>,
    /// `resourceVersionMatch`: `None` if absent or empty.
    pub version_match: Option<VersionMatch>,
    /// `limit`, 0 for none.
    pub limit: usize,
    /// The state of the `continue` token, if there is one.
    pub token: Option<TokenState>,
}

/// What to read for a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListState {
    /// The present state, once it is new enough; the list carries its revision.
    Present(Freshness),
    /// The state at exactly this revision, which the list carries. A future one is waited for; one
    /// that the cache does not have any more is asked of the store.
    Exactly(Revision),
}

/// How to carry out a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListPlan {
    /// What to read.
    pub state: ListState,
    /// How many items at most, 0 for all: `limit`, except where it does not count.
    pub limit: usize,
}

/// A combination of list parameters that has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// 400
    #[error("specifying resource version is not allowed when using continue")]
    VersionWithToken,
    /// 422
    #[error("resourceVersionMatch is forbidden when continue is provided")]
    MatchWithToken,
    /// 422
    #[error("resourceVersionMatch is forbidden unless resourceVersion is provided")]
    MatchWithoutVersion,
    /// 422
    #[error("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"")]
    ExactlyZero,
}

impl ListPlan {
    /// The table of lists.
    ///
    /// # Errors
    /// [`PlanError`] where the combination is refused. (A server that validates first, with the
    /// texts of the wire, never meets one.)
    pub fn new(query: ListQuery) -> Result<Self, PlanError> {
        use ListState::{Exactly, Present};
        use VersionMatch::{Exact, NotOlderThan};

        let ListQuery {
            version,
            version_match,
            limit,
            token,
        } = query;
        // The outer None: absent. The inner None: "0", any version.
        let version = version.map(Revision::new);
        let plan = |state, limit| Ok(Self { state, limit });
        match (version_match, version, limit, token) {
            (Some(_), _, _, Some(_)) => Err(PlanError::MatchWithToken),
            (Some(_), None, _, None) => Err(PlanError::MatchWithoutVersion),
            (Some(Exact), Some(None), _, None) => Err(PlanError::ExactlyZero),
            (None, Some(Some(_)), _, Some(_)) => Err(PlanError::VersionWithToken),
            // The next page of a listing. Beside "0" the limit does not count.
            (None, Some(None), _, Some(token)) => plan(token.list_state(), 0),
            (None, None, limit, Some(token)) => plan(token.list_state(), limit),
            // The newest; anything, all of it; at least this version.
            (None, None, limit, None) => plan(Present(Freshness::Head), limit),
            (None | Some(NotOlderThan), Some(None), _, None) => plan(Present(Freshness::Any), 0),
            (None, Some(Some(at)), 0, None) => plan(Present(Freshness::AtLeast(at)), 0),
            (Some(NotOlderThan), Some(Some(at)), limit, None) => {
                plan(Present(Freshness::AtLeast(at)), limit)
            }
            // Exactly this version. The trap: a limit alone turns "at least" into "exactly".
            (None | Some(Exact), Some(Some(at)), limit, None) => plan(Exactly(at), limit),
        }
    }
}

impl TokenState {
    const fn list_state(self) -> ListState {
        match self {
            Self::At(revision) => ListState::Exactly(revision),
            Self::Newest => ListState::Present(Freshness::Head),
        }
    }
}

/// By which path a watch was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchPath {
    /// `?watch=true`: a watch from nothing asks for initial events.
    Query,
    /// The old `/watch/` path without the parameter: it does not.
    Prefix,
}

/// The parameters of a watch that decide where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchQuery {
    /// `resourceVersion`: `None` if absent or empty.
    pub version: Option<u64>,
    /// `resourceVersionMatch`: `None` if absent or empty.
    pub version_match: Option<VersionMatch>,
    /// `sendInitialEvents`: `None` if absent.
    pub send_initial_events: Option<bool>,
    /// `allowWatchBookmarks`
    pub bookmarks: Bookmarks,
    /// How it was asked for.
    pub path: WatchPath,
}

/// How to carry out a watch: wait until the state is this fresh (in the stream, after the response's
/// head), then start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchPlan {
    /// What to wait for.
    pub wait: Freshness,
    /// Where to start.
    pub start: WatchStart,
}

impl WatchPlan {
    /// The table of watches.
    pub fn new(query: WatchQuery) -> Self {
        let WatchQuery {
            version,
            version_match,
            send_initial_events,
            bookmarks,
            path,
        } = query;
        let end = match bookmarks {
            Bookmarks::On => InitialEnd::Annotated,
            Bookmarks::Off => InitialEnd::Silent,
        };
        let state = |wait, end| Self {
            wait,
            start: WatchStart::State { end },
        };
        let by_default = path == WatchPath::Query && version_match.is_none();
        match (version.map(Revision::new), send_initial_events) {
            (None, Some(true)) => state(Freshness::Head, end),
            (Some(None), Some(true)) => state(Freshness::Any, end),
            (Some(Some(at)), Some(true)) => state(Freshness::AtLeast(at), end),
            (None, Some(false)) => Self {
                wait: Freshness::Head,
                start: WatchStart::Now,
            },
            (Some(None), Some(false)) => Self {
                wait: Freshness::Any,
                start: WatchStart::Now,
            },
            (None, None) if by_default => state(Freshness::Head, end),
            (Some(None), None) if by_default => state(Freshness::Any, end),
            (None | Some(None), None) => state(Freshness::Any, InitialEnd::Silent),
            (Some(Some(at)), Some(false) | None) => Self {
                wait: Freshness::Any,
                start: WatchStart::After(at),
            },
        }
    }
}

#[cfg(test)]
mod tests;
