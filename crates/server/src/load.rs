//! Fills the watch caches from the store when the server starts.
//!
//! The state at the compacted revision is read first, and everything since then is replayed
//! through the same [`Cache::publish`] that serves live commits. So a watcher can go on from its
//! last version across a restart, as far back as the store has history.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use masthead_api::{Event, Key, Object, Revision, WatchEventType};
use masthead_objects::{Catalog, DecodeError, Resource, StorageId, index, store_prefix};
use masthead_store::{Commit, KeyRange, ReadError, Reader};
use masthead_watch::{Cache, CacheConfig, Mono};

use crate::config::Config;

/// Key-value pairs read at once.
const PAIRS_MAX: usize = 2000;
/// Revisions replayed at once.
const REVISIONS_MAX: usize = 2000;

/// Why the caches could not be filled.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The store could not be read.
    #[error("the store cannot be read")]
    Read(#[from] ReadError),
    /// A value is not an object.
    #[error(
        "the object at {key} (revision {revision}) cannot be decoded; restore a snapshot or delete that key"
    )]
    Decode {
        /// Its key in the store.
        key: String,
        /// The revision that wrote it.
        revision: Revision,
        /// What is wrong.
        source: DecodeError,
    },
}

/// One cache for each storage of `catalog`, in the order of their ids.
pub(crate) fn caches(
    reader: &Reader,
    catalog: &Catalog,
    settings: &Config,
) -> Result<Vec<Cache>, LoadError> {
    let window = settings.window();
    let base = reader.compacted().unwrap_or(Revision::FIRST);
    let mut caches = Vec::new();
    for (at, resource) in catalog.storages().enumerate() {
        debug_assert_eq!(resource.storage, u16::try_from(at).ok().map(StorageId));
        let objects = state(reader, resource, base)?;
        caches.push(Cache::new(config(resource, window), base, objects));
    }
    let mut after = base;
    loop {
        let commits = reader.commits_after(after, REVISIONS_MAX)?;
        let Some(last) = commits.last() else {
            return Ok(caches);
        };
        after = last.revision;
        for commit in &commits {
            replay(&mut caches, catalog, commit)?;
        }
    }
}

fn config(resource: &Resource, window: Duration) -> CacheConfig {
    let by_node = matches!(resource.plural.as_ref(), "pods" | "resourceslices");
    CacheConfig {
        index_field: by_node.then_some("spec.nodeName"),
        ..CacheConfig::with_window(window)
    }
}

/// The objects of `resource` as they were at revision `at`, in key order.
pub(crate) fn state(
    reader: &Reader,
    resource: &Resource,
    at: Revision,
) -> Result<Vec<Arc<Object>>, LoadError> {
    let prefix = store_prefix(resource);
    let mut keys = KeyRange::prefix(prefix.as_bytes());
    let mut objects = Vec::new();
    loop {
        let page = reader.page(&keys, Some(at), PAIRS_MAX)?;
        for pair in &page.kvs {
            let text = String::from_utf8_lossy(&pair.key);
            let key = Key::from_text(text.strip_prefix(prefix).unwrap_or(&text));
            let revision = pair.meta.mod_revision;
            let event = WatchEventType::Added;
            objects.push(Arc::new(object(
                resource,
                key,
                &pair.value,
                revision,
                event,
            )?));
        }
        match page.kvs.last() {
            Some(last) if page.more => keys = keys.after(&last.key),
            _ => return Ok(objects),
        }
    }
}

fn replay(caches: &mut [Cache], catalog: &Catalog, commit: &Commit) -> Result<(), LoadError> {
    let mut by_storage: Vec<(StorageId, Vec<Arc<Event>>)> = Vec::new();
    for change in &commit.changes {
        let place = std::str::from_utf8(&change.key)
            .ok()
            .and_then(|key| catalog.locate(key));
        let Some((storage, key)) = place else {
            continue;
        };
        let Some(cache) = caches.get(usize::from(storage.0)) else {
            continue;
        };
        let Some(resource) = catalog.stored(storage) else {
            continue;
        };
        let old = cache.get(key.as_str()).cloned();
        let framed = if old.is_some() {
            WatchEventType::Modified
        } else {
            WatchEventType::Added
        };
        let new = match &change.value {
            Some(value) => Some(Arc::new(object(
                resource,
                key.clone(),
                value,
                commit.revision,
                framed,
            )?)),
            None => None,
        };
        if old.is_none() && new.is_none() {
            continue;
        }
        let event = Arc::new(Event::new(commit.revision, key, old, new));
        match by_storage.iter_mut().find(|(which, _)| *which == storage) {
            Some((_, events)) => events.push(event),
            None => by_storage.push((storage, vec![event])),
        }
    }
    for (storage, events) in by_storage {
        if let Some(cache) = caches.get_mut(usize::from(storage.0)) {
            cache.publish(events, Mono::START, &mut Vec::new());
        }
    }
    Ok(())
}

/// A stored value as an object.
pub(crate) fn object(
    resource: &Resource,
    key: Key,
    value: &Bytes,
    revision: Revision,
    event: WatchEventType,
) -> Result<Object, LoadError> {
    match index(resource, value.clone()) {
        Ok(encoded) => Ok(Object::commit(key, &encoded, revision, event)),
        Err(source) => Err(LoadError::Decode {
            key: key.to_string(),
            revision,
            source,
        }),
    }
}
