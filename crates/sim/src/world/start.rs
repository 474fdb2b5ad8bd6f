//! Starting on what the disk holds: the caches are filled from the store's history.

use std::sync::Arc;
use std::time::Duration;

use masthead_api::{Event, Object, Revision, WatchEventType};
use masthead_store::{Commit, KeyRange, Log, ReadError, Reader, SpaceGuard, Store};
use masthead_watch::{Cache, CacheConfig, Mono};

use super::World;
use super::commit::event;
use super::hub::Hub;
use crate::disk::{Disk, Leaves};
use crate::fault::Fault;
use crate::history::{Followed, Record};
use crate::object::{Content, NODE_FIELD, Place, STORAGES, State, Version, prefix};

/// Pairs read at once.
const PAIRS_MAX: usize = 3;
/// Revisions replayed at once.
const REVISIONS_MAX: usize = 4;

/// The store on a disk.
pub(super) fn open(disk: &Arc<Disk>) -> Result<Store, String> {
    let log = Arc::clone(disk) as Arc<dyn Log>;
    Store::open(log, SpaceGuard::off(), Duration::ZERO).map_err(|error| error.to_string())
}

/// One cache for each resource, filled from the store's history.
pub(super) fn caches(reader: &Reader, config: &CacheConfig) -> Result<Vec<Cache>, String> {
    let base = reader.compacted().unwrap_or(Revision::FIRST);
    let mut caches = fresh(reader, config, base)?;
    let mut after = base;
    loop {
        let commits = reader
            .commits_after(after, REVISIONS_MAX)
            .map_err(|error| error.to_string())?;
        let Some(last) = commits.last() else {
            return Ok(caches);
        };
        after = last.revision;
        for commit in &commits {
            replay(&mut caches, commit);
        }
    }
}

/// Caches that hold the state at `at` and no history.
fn fresh(reader: &Reader, config: &CacheConfig, at: Revision) -> Result<Vec<Cache>, String> {
    let base = reader.compacted().unwrap_or(Revision::FIRST);
    (0..STORAGES as u8)
        .map(|storage| {
            let config = CacheConfig {
                index_field: (storage == 0).then_some(NODE_FIELD),
                ..config.clone()
            };
            let objects = state(reader, storage, at).map_err(|error| error.to_string())?;
            Ok(Cache::new(config, base, objects))
        })
        .collect()
}

fn replay(caches: &mut [Cache], commit: &Commit) {
    let mut by_storage: [Vec<Arc<Event>>; STORAGES] = Default::default();
    for change in &commit.changes {
        let Some(place) = Place::of_store_key(&change.key) else {
            continue;
        };
        let storage = usize::from(place.storage);
        let (Some(cache), Some(events)) = (caches.get(storage), by_storage.get_mut(storage)) else {
            continue;
        };
        let old = cache.get(place.text()).cloned();
        let content = change.value.as_deref().and_then(Content::decode);
        events.push(Arc::new(event(place, old, content, commit.revision)));
    }
    for (cache, events) in caches.iter_mut().zip(by_storage) {
        cache.publish(events, Mono::START, &mut Vec::new());
    }
}

/// The objects of a resource as they were at a revision, read from the store.
pub(super) fn state(
    reader: &Reader,
    storage: u8,
    at: Revision,
) -> Result<Vec<Arc<Object>>, ReadError> {
    let mut keys = KeyRange::prefix(prefix(storage).as_bytes());
    let mut objects = Vec::new();
    loop {
        let page = reader.page(&keys, Some(at), PAIRS_MAX)?;
        for pair in &page.kvs {
            let place = Place::of_store_key(&pair.key);
            let Some((place, content)) = place.zip(Content::decode(&pair.value)) else {
                continue;
            };
            let (revision, event) = (pair.meta.mod_revision, WatchEventType::Added);
            let object = Object::commit(place.key(), &content.encode(), revision, event);
            objects.push(Arc::new(object));
        }
        match page.kvs.last() {
            Some(last) if page.more => keys = keys.after(&last.key),
            Some(_) | None => return Ok(objects),
        }
    }
}

/// Everything that the store's history tells after `base`.
fn followed(reader: &Reader, base: Revision) -> Result<Vec<Followed>, ReadError> {
    let mut followed = Vec::new();
    let mut after = base;
    loop {
        let commits = reader.commits_after(after, REVISIONS_MAX)?;
        let Some(last) = commits.last() else {
            return Ok(followed);
        };
        after = last.revision;
        for commit in &commits {
            let changes = commit.changes.iter().filter_map(|change| {
                Some(Followed {
                    revision: commit.revision.get(),
                    place: Place::of_store_key(&change.key)?,
                    content: change.value.as_deref().and_then(Content::decode),
                })
            });
            followed.extend(changes);
        }
    }
}

/// Everything in the store.
fn states(reader: &Reader) -> Result<Box<[State; STORAGES]>, ReadError> {
    let mut states: Box<[State; STORAGES]> = Box::default();
    for (storage, into) in (0..).zip(states.iter_mut()) {
        for object in state(reader, storage, reader.revision())? {
            let place = Place::of_text(storage, object.key.as_str());
            let place = place.and_then(|place| into.get_mut(usize::from(place.key)));
            if let Some(place) = place {
                *place = Version::of(&object);
            }
        }
    }
    Ok(states)
}

impl World {
    /// The machine stops, and starts again with what is left on the disk.
    pub(super) fn start_again(&mut self, leaves: Leaves) {
        self.disk.crash(leaves);
        if let Err(why) = self.start() {
            self.records.push(Record::StartFailed(why));
            self.dead = true;
        }
    }

    fn start(&mut self) -> Result<(), String> {
        self.store = open(&self.disk)?;
        let reader = self.store.reader();
        let caches = if self.saboteur.is(Fault::BlindRestart) {
            fresh(&reader, &self.config, reader.revision())?
        } else {
            caches(&reader, &self.config)?
        };
        self.hub = Hub::new(caches, reader.revision());
        let base = reader.compacted().unwrap_or(Revision::FIRST);
        self.records.push(Record::Started {
            head: reader.revision().get(),
            base: base.get(),
            states: states(&reader).map_err(|error| error.to_string())?,
            followed: followed(&reader, base).map_err(|error| error.to_string())?,
        });
        Ok(())
    }
}
