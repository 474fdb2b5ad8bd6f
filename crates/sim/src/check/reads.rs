//! Reads: every answer is a true state, and as new as was asked for.

use crate::evidence::{Evidence, Fetch, Moment};
use crate::history::{Asked, List, Listed};
use crate::object::{Place, State, Version};
use crate::timeline::Timeline;

pub(super) fn check(evidence: &Evidence) -> Result<(), String> {
    for (list, moment) in &evidence.lists {
        listed(&evidence.timeline, list, *moment)
            .map_err(|why| format!("{why}: {list:?}, {moment:?}"))?;
    }
    for fetch in &evidence.fetches {
        fetched(&evidence.timeline, fetch)?;
    }
    Ok(())
}

fn listed(timeline: &Timeline, list: &List, moment: Moment) -> Result<(), String> {
    match &list.answer {
        Listed::Gone => match list.asked {
            Asked::Exactly(wanted) if wanted < moment.compacted => Ok(()),
            Asked::Exactly(_) | Asked::Newest | Asked::Any | Asked::AtLeast(_) => {
                Err("a state is said to be gone that is not".to_owned())
            }
        },
        Listed::TooNew => match list.asked {
            Asked::Exactly(wanted) | Asked::AtLeast(wanted) if wanted > moment.answered => Ok(()),
            Asked::Exactly(_) | Asked::Newest | Asked::Any | Asked::AtLeast(_) => {
                Err("a state is said to be of the future that is not".to_owned())
            }
        },
        Listed::Items { revision, .. } => {
            is_fresh(list.asked, *revision, moment)?;
            let state = timeline
                .state(list.storage, *revision)
                .filter(|_| *revision <= moment.durable)
                .ok_or("a list is of the future")?;
            is_true(list, state)
        }
    }
}

fn is_fresh(asked: Asked, revision: u64, moment: Moment) -> Result<(), String> {
    let fresh = match asked {
        Asked::Newest | Asked::Any => revision >= moment.answered,
        Asked::AtLeast(least) => revision >= least.max(moment.answered),
        Asked::Exactly(wanted) => revision == wanted,
    };
    if fresh {
        Ok(())
    } else {
        Err("a list is of another state than was asked for".to_owned())
    }
}

/// Are these the objects of that state, as many as there is room for?
fn is_true(list: &List, state: &State) -> Result<(), String> {
    let Listed::Items {
        items,
        more,
        remaining,
        ..
    } = &list.answer
    else {
        return Ok(());
    };
    let behind = |key: u8| list.after.is_none_or(|after| key > after);
    let rest: Vec<(u8, Version)> = list
        .pick
        .select(list.storage, state)
        .filter(|(key, _)| behind(*key))
        .collect();
    let room = if list.limit == 0 {
        usize::MAX
    } else {
        list.limit
    };
    let wanted = rest.get(..room.min(rest.len())).unwrap_or_default();
    if items != wanted {
        return Err(format!("a list must be {wanted:?}"));
    }
    // "More" may turn out to be nothing that matches, but nothing that matches is held back.
    if rest.len() > items.len() && !more || *more && items.len() != list.limit {
        return Err("a list says wrongly whether there is more".to_owned());
    }
    let last = items.last().map(|(key, _)| *key);
    let left = in_scope_after(list, state, last);
    match (remaining, *more && list.pick.is_namespace()) {
        (Some(said), true) if *said == left => Ok(()),
        (None, false) => Ok(()),
        (Some(_), _) | (None, true) => Err(format!("a list must say that {left} remain")),
    }
}

fn in_scope_after(list: &List, state: &State, last: Option<u8>) -> usize {
    let storage = list.storage;
    (0..)
        .zip(state)
        .filter(|(key, version)| version.is_some() && last.is_none_or(|last| *key > last))
        .filter(|(key, _)| list.pick.in_scope(Place { storage, key: *key }))
        .count()
}

/// Was the object like this at some moment between the last acknowledged write and now?
fn fetched(timeline: &Timeline, fetch: &Fetch) -> Result<(), String> {
    let Moment {
        answered, durable, ..
    } = fetch.moment;
    let mut states = (answered..=durable).filter_map(|at| timeline.state(fetch.place.storage, at));
    let key = usize::from(fetch.place.key);
    if states.any(|state| state.get(key) == Some(&fetch.version)) {
        return Ok(());
    }
    Err(format!("a get answered what was not there: {fetch:?}"))
}
