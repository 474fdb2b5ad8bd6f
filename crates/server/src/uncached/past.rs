//! [`Past`]: events that no cache has any more, read from the store in the order of their
//! revisions, a batch at a time.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use masthead_api::{Event, Key, Object, Revision, Selector, WatchEventType};
use masthead_objects::{SharedResource, store_prefix};
use masthead_store::{Change, Reader};
use masthead_watch::{Delivery, EndReason, Polled};
use tokio::task::JoinHandle;

use crate::load::{self, LoadError};

/// Revisions read at once, whatever they are about.
const REVISIONS_MAX: usize = 500;

/// What happened to one resource after a revision and through another one.
pub(crate) struct Past(Mutex<Progress>);

struct Progress {
    source: Source,
    selector: Selector,
    next: Step,
    ready: VecDeque<Arc<Event>>,
}

/// Where the events come from. Cheap to clone.
#[derive(Clone)]
struct Source {
    reader: Reader,
    resource: SharedResource,
    through: Revision,
}

enum Step {
    /// The next batch is after this revision.
    After(Revision),
    /// It is being read, on a thread that may wait for files.
    Reading(JoinHandle<Result<Batch, LoadError>>),
    /// Everything has been read.
    Done,
}

/// Events, and the revision through which they are all there are.
struct Batch {
    events: Vec<Arc<Event>>,
    through: Revision,
}

impl Past {
    /// What `selector` sees of `resource` (in the version that is stored) after `after` and through
    /// `through`.
    pub(crate) fn new(
        reader: Reader,
        resource: SharedResource,
        selector: Selector,
        after: Revision,
        through: Revision,
    ) -> Self {
        Self(Mutex::new(Progress {
            source: Source {
                reader,
                resource,
                through,
            },
            selector,
            next: Step::After(after),
            ready: VecDeque::new(),
        }))
    }

    /// Takes up to `events_max` deliveries; `None` once there is nothing left. What cannot be read
    /// any more ends the stream: the client comes back and is told why.
    pub(crate) fn poll(
        &self,
        context: &Context<'_>,
        events_max: usize,
        out: &mut Vec<Delivery>,
    ) -> Option<Polled> {
        let mut progress = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            progress.hand_out(events_max, out);
            if !out.is_empty() {
                return Some(Polled::More);
            }
            match progress.read_on(context) {
                Poll::Pending => return Some(Polled::Pending),
                Poll::Ready(Ok(Read::More)) => {}
                Poll::Ready(Ok(Read::Done)) => return None,
                Poll::Ready(Err(error)) => {
                    tracing::debug!(%error, "a watch from the past ended early");
                    return Some(Polled::Ended(EndReason::Overrun));
                }
            }
        }
    }
}

/// What became of reading on.
enum Read {
    More,
    Done,
}

impl Progress {
    /// Moves what is wanted from `ready` to `out`, the events of one revision together.
    fn hand_out(&mut self, events_max: usize, out: &mut Vec<Delivery>) {
        let mut last = None;
        while let Some(event) = self.ready.front() {
            if out.len() >= events_max && last != Some(event.revision) {
                return;
            }
            last = Some(event.revision);
            let matches = |object: &Option<Arc<Object>>| {
                object.as_ref().is_some_and(|o| self.selector.matches(o))
            };
            let seen = Event::seen(matches(&event.old), matches(&event.new));
            let event = self.ready.pop_front();
            if let (Some(event), Some(seen)) = (event, seen) {
                out.push(Delivery::Event { event, seen });
            }
        }
    }

    fn read_on(&mut self, context: &Context<'_>) -> Poll<Result<Read, LoadError>> {
        match &mut self.next {
            Step::Done => return Poll::Ready(Ok(Read::Done)),
            Step::After(after) => {
                let (source, after) = (self.source.clone(), *after);
                let reading = tokio::task::spawn_blocking(move || source.read(after));
                self.next = Step::Reading(reading);
            }
            Step::Reading(reading) => {
                let read =
                    ready!(Pin::new(reading).poll(&mut Context::from_waker(context.waker())));
                self.next = Step::Done;
                // A reader that was stopped has nothing more to tell.
                let Ok(batch) = read else {
                    return Poll::Ready(Ok(Read::Done));
                };
                let batch = batch?;
                self.ready.extend(batch.events);
                if batch.through < self.source.through {
                    self.next = Step::After(batch.through);
                }
            }
        }
        Poll::Ready(Ok(Read::More))
    }
}

impl Source {
    fn read(&self, after: Revision) -> Result<Batch, LoadError> {
        let commits = self.reader.commits_after(after, REVISIONS_MAX)?;
        let mut batch = Batch {
            events: Vec::new(),
            through: self.through,
        };
        if commits.len() >= REVISIONS_MAX
            && let Some(last) = commits.last()
        {
            batch.through = last.revision.min(self.through);
        }
        for commit in commits {
            if commit.revision > self.through {
                break;
            }
            for change in commit.changes {
                batch.events.extend(self.event(commit.revision, change)?);
            }
        }
        Ok(batch)
    }

    /// The event that a change is; `None` where it is none of this resource.
    fn event(&self, revision: Revision, change: Change) -> Result<Option<Arc<Event>>, LoadError> {
        let prefix = store_prefix(&self.resource);
        let key = std::str::from_utf8(&change.key).ok();
        let Some(key) = key.and_then(|key| key.strip_prefix(prefix)) else {
            return Ok(None);
        };
        let key = Key::from_text(key);
        let old = match (change.previous, revision.previous()) {
            (Some(_), Some(before)) => self.reader.get(&change.key, Some(before))?,
            _ => None,
        };
        let object = |value: &Bytes, at, seen| {
            load::object(&self.resource, key.clone(), value, at, seen).map(Arc::new)
        };
        let old = old
            .map(|old| object(&old.value, old.meta.mod_revision, WatchEventType::Added))
            .transpose()?;
        let framed = if old.is_some() {
            WatchEventType::Modified
        } else {
            WatchEventType::Added
        };
        let new = change
            .value
            .map(|value| object(&value, revision, framed))
            .transpose()?;
        Ok((old.is_some() || new.is_some()).then(|| Arc::new(Event::new(revision, key, old, new))))
    }
}
