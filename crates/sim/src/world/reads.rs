//! Lists, pages and gets, as the server carries out their plans.

use std::num::NonZeroUsize;
use std::ops::Bound;
use std::sync::Arc;

use masthead_api::{ContinueToken, Object, Revision};
use masthead_store::ReadError;
use masthead_watch::{
    Advanced, Freshness, ListPlan, ListQuery, ListState, Snapshot, SnapshotCursor, TokenState,
    VersionMatch, page,
};

use super::{World, start};
use crate::history::{Asked, List, Listed, Record};
use crate::object::{Place, Version};
use crate::pick::Pick;
use crate::step::Wanted;

/// A listing with more pages to come.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    storage: u8,
    pick: Pick,
    limit: usize,
    token: String,
    after: u8,
}

/// Where a page begins.
struct From {
    /// As the token says it.
    text: Option<String>,
    after: Option<u8>,
}

enum Found {
    State(Snapshot),
    Gone,
    TooNew,
}

impl World {
    pub(super) fn list(&mut self, storage: u8, pick: Pick, wanted: Wanted, limit: usize) {
        let (version, version_match, asked) = match wanted {
            Wanted::Newest => (None, None, Asked::Newest),
            Wanted::Any => (Some(0), None, Asked::Any),
            Wanted::AtLeast(distance) => {
                let at = self.revision_at(distance);
                let how = VersionMatch::NotOlderThan;
                (Some(at), Some(how), Asked::AtLeast(at))
            }
            Wanted::Exactly(distance) => {
                let at = self.revision_at(distance);
                (Some(at), Some(VersionMatch::Exact), Asked::Exactly(at))
            }
        };
        let query = ListQuery {
            version,
            version_match,
            limit,
            token: None,
        };
        let from = From {
            text: None,
            after: None,
        };
        self.answer(storage, pick, asked, query, &from);
    }

    pub(super) fn next_page(&mut self, which: u8) {
        let Some(at) = usize::from(which).checked_rem(self.listings.len()) else {
            return;
        };
        let listing = self.listings.swap_remove(at);
        let Ok(token) = ContinueToken::decode(&listing.token) else {
            return;
        };
        let revision = u64::try_from(token.revision).ok().and_then(Revision::new);
        let query = ListQuery {
            limit: listing.limit,
            token: Some(revision.map_or(TokenState::Newest, TokenState::At)),
            ..ListQuery::default()
        };
        let asked = revision.map_or(Asked::Newest, |revision| Asked::Exactly(revision.get()));
        let from = From {
            text: Some(format!("{}{}", scope(&listing.pick), token.start)),
            after: Some(listing.after),
        };
        let answer = self.answer(listing.storage, listing.pick, asked, query, &from);
        if answer == Some(Listed::Gone) {
            let token = ContinueToken {
                revision: -1,
                ..token
            };
            self.listings.push(Listing {
                token: token.encode(),
                ..listing
            });
        }
    }

    fn answer(
        &mut self,
        storage: u8,
        pick: Pick,
        asked: Asked,
        query: ListQuery,
        from: &From,
    ) -> Option<Listed> {
        let plan = ListPlan::new(query).ok()?;
        let answer = match self.find(storage, plan.state) {
            Found::Gone => Listed::Gone,
            Found::TooNew => Listed::TooNew,
            Found::State(snapshot) => match NonZeroUsize::new(plan.limit) {
                None if from.text.is_none() => whole(storage, pick, snapshot),
                limit => self.page(storage, pick, &snapshot, limit, from.text.as_deref()),
            },
        };
        let mut list = List {
            storage,
            pick,
            asked,
            limit: plan.limit,
            after: from.after,
            answer,
        };
        self.saboteur.list(&mut list);
        let answer = list.answer.clone();
        self.records.push(Record::Listed(list));
        Some(answer)
    }

    fn find(&mut self, storage: u8, state: ListState) -> Found {
        let head = self.hub.head;
        let wanted = match state {
            ListState::Present(Freshness::AtLeast(revision)) | ListState::Exactly(revision) => {
                Some(revision)
            }
            ListState::Present(Freshness::Any | Freshness::Head) => None,
        };
        if wanted.is_some_and(|wanted| wanted > head) {
            return Found::TooNew;
        }
        let Some(cache) = self.hub.cache(storage) else {
            return Found::Gone;
        };
        match state {
            ListState::Present(_) => {
                let snapshot = cache.snapshot(head);
                Found::State(self.saboteur.snapshot(storage, snapshot))
            }
            ListState::Exactly(revision) => cache
                .snapshot_at(revision)
                .map_or_else(|| self.past(storage, revision), Found::State),
        }
    }

    fn past(&self, storage: u8, revision: Revision) -> Found {
        match start::state(&self.store.reader(), storage, revision) {
            Ok(objects) => Found::State(Snapshot::of(revision, objects)),
            Err(ReadError::Future { .. }) => Found::TooNew,
            Err(ReadError::Compacted { .. } | ReadError::Log(_)) => Found::Gone,
        }
    }

    fn page(
        &mut self,
        storage: u8,
        pick: Pick,
        snapshot: &Snapshot,
        limit: Option<NonZeroUsize>,
        from: Option<&str>,
    ) -> Listed {
        let from = from.map_or(Bound::Unbounded, Bound::Included);
        let page = page(snapshot, &pick.selector(), from, limit);
        let revision = snapshot.revision().get();
        if let Some(key) = &page.next_after {
            if let Some(cache) = self.hub.cache(storage) {
                cache.keep(snapshot);
            }
            let text = key.as_str();
            let relative = text.strip_prefix(&scope(&pick)).unwrap_or(text);
            let token = ContinueToken::after(revision as i64, relative).encode();
            self.listings.push(Listing {
                storage,
                pick,
                limit: limit.map_or(0, NonZeroUsize::get),
                token,
                after: Place::of_text(storage, text).map_or(0, |place| place.key),
            });
        }
        Listed::Items {
            revision,
            items: items(storage, &page.items),
            more: page.next_after.is_some(),
            remaining: page.remaining,
        }
    }

    pub(super) fn get(&mut self, place: Place) {
        let object = self
            .hub
            .cache(place.storage)
            .and_then(|cache| cache.get(place.text()));
        let version = object.and_then(|object| Version::of(object));
        self.records.push(Record::Fetched { place, version });
    }
}

/// A whole list, as it is streamed: in steps from a snapshot.
fn whole(storage: u8, pick: Pick, snapshot: Snapshot) -> Listed {
    let revision = snapshot.revision().get();
    let mut cursor = SnapshotCursor::new(snapshot, Arc::new(pick.selector()));
    let mut objects = Vec::new();
    while cursor.advance(2, 3, |object| objects.push(Arc::clone(object))) == Advanced::More {}
    Listed::Items {
        revision,
        items: items(storage, &objects),
        more: false,
        remaining: None,
    }
}

fn items(storage: u8, objects: &[Arc<Object>]) -> Vec<(u8, Version)> {
    objects
        .iter()
        .filter_map(|object| {
            let place = Place::of_text(storage, object.key.as_str())?;
            Some((place.key, Version::of(object)?))
        })
        .collect()
}

/// What the keys of a listing begin with.
fn scope(pick: &Pick) -> String {
    pick.namespace()
        .map(|namespace| format!("{namespace}/"))
        .unwrap_or_default()
}
