use super::*;
use Freshness::{Any, AtLeast, Head};
use ListState::{Exactly, Present};
use VersionMatch::{Exact, NotOlderThan};

fn rev(number: u64) -> Revision {
    Revision::new(number).unwrap()
}

fn list(
    version: Option<u64>,
    version_match: Option<VersionMatch>,
    limit: usize,
    token: Option<TokenState>,
) -> Result<(ListState, usize), PlanError> {
    ListPlan::new(ListQuery {
        version,
        version_match,
        limit,
        token,
    })
    .map(|plan| (plan.state, plan.limit))
}

#[test]
fn the_table_of_lists() {
    let n = rev(7);
    let at = Some(TokenState::At(rev(5)));
    let newest = Some(TokenState::Newest);
    for (version, version_match, limit, token, want) in [
        (None, None, 0, None, Ok((Present(Head), 0))),
        (None, None, 3, None, Ok((Present(Head), 3))),
        (Some(0), None, 0, None, Ok((Present(Any), 0))),
        (Some(0), None, 3, None, Ok((Present(Any), 0))),
        (Some(7), None, 0, None, Ok((Present(AtLeast(n)), 0))),
        (Some(7), None, 3, None, Ok((Exactly(n), 3))),
        (None, None, 3, at, Ok((Exactly(rev(5)), 3))),
        (None, None, 0, at, Ok((Exactly(rev(5)), 0))),
        (Some(0), None, 3, at, Ok((Exactly(rev(5)), 0))),
        (None, None, 3, newest, Ok((Present(Head), 3))),
        (Some(0), None, 3, newest, Ok((Present(Head), 0))),
        (Some(7), None, 3, at, Err(PlanError::VersionWithToken)),
        (Some(7), None, 0, newest, Err(PlanError::VersionWithToken)),
        (Some(7), Some(Exact), 0, None, Ok((Exactly(n), 0))),
        (Some(7), Some(Exact), 3, None, Ok((Exactly(n), 3))),
        (Some(0), Some(Exact), 0, None, Err(PlanError::ExactlyZero)),
        (
            None,
            Some(Exact),
            0,
            None,
            Err(PlanError::MatchWithoutVersion),
        ),
        (
            None,
            Some(NotOlderThan),
            3,
            None,
            Err(PlanError::MatchWithoutVersion),
        ),
        (Some(0), Some(NotOlderThan), 0, None, Ok((Present(Any), 0))),
        (Some(0), Some(NotOlderThan), 3, None, Ok((Present(Any), 0))),
        (
            Some(7),
            Some(NotOlderThan),
            0,
            None,
            Ok((Present(AtLeast(n)), 0)),
        ),
        (
            Some(7),
            Some(NotOlderThan),
            3,
            None,
            Ok((Present(AtLeast(n)), 3)),
        ),
        (
            Some(7),
            Some(NotOlderThan),
            3,
            at,
            Err(PlanError::MatchWithToken),
        ),
        (
            Some(0),
            Some(Exact),
            3,
            newest,
            Err(PlanError::MatchWithToken),
        ),
    ] {
        let got = list(version, version_match, limit, token);
        assert_eq!(got, want, "{version:?} {version_match:?} {limit} {token:?}");
    }
}

#[test]
fn the_table_of_watches() {
    use Bookmarks::{Off, On};
    use WatchPath::{Prefix, Query};
    let annotated = WatchStart::State {
        end: InitialEnd::Annotated,
    };
    let silent = WatchStart::State {
        end: InitialEnd::Silent,
    };
    let after = WatchStart::After(rev(7));
    for (version, send_initial_events, bookmarks, path, wait, start) in [
        (None, Some(true), On, Query, Head, annotated),
        (None, Some(true), Off, Query, Head, silent),
        (None, None, On, Query, Head, annotated),
        (None, None, Off, Query, Head, silent),
        (Some(0), Some(true), On, Query, Any, annotated),
        (Some(0), None, On, Query, Any, annotated),
        (Some(7), Some(true), On, Query, AtLeast(rev(7)), annotated),
        (Some(7), Some(true), Off, Prefix, AtLeast(rev(7)), silent),
        (None, Some(false), On, Query, Head, WatchStart::Now),
        (Some(0), Some(false), On, Query, Any, WatchStart::Now),
        (Some(7), None, On, Query, Any, after),
        (Some(7), Some(false), On, Query, Any, after),
        (Some(7), None, Off, Prefix, Any, after),
        (None, None, On, Prefix, Any, silent),
        (Some(0), None, On, Prefix, Any, silent),
    ] {
        let version_match = send_initial_events.map(|_| NotOlderThan);
        let query = WatchQuery {
            version,
            version_match,
            send_initial_events,
            bookmarks,
            path,
        };
        assert_eq!(
            WatchPlan::new(query),
            WatchPlan { wait, start },
            "{query:?}"
        );
    }
}

#[test]
fn a_get_is_as_fresh_as_it_asks() {
    assert_eq!(Freshness::of_get(None), Head);
    assert_eq!(Freshness::of_get(Some(0)), Any);
    assert_eq!(Freshness::of_get(Some(7)), AtLeast(rev(7)));
}
