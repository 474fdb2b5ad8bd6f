//! The end of a namespace: when it is terminating, its content is deleted, then its finalizer
//! `kubernetes` is taken away, and with the last finalizer the namespace goes.
//!
//! As upstream's controller, it waits 5 s after the deletion was asked for, so that writes on
//! their way arrive before the sweep. Content that has finalizers of its own delays the end; the
//! sweep is tried again with growing pauses.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use masthead_api::{Key, Object, Selector};
use masthead_objects::write::{DeleteOptions, UpdateOf, Verb};
use masthead_watch::{Bookmarks, Delivery, InitialEnd, Polled, WatchRequest, WatchStart};
use serde_json::{Value, json};

use crate::app::App;
use crate::clock::{Follower, Timer};
use crate::handle::create::Run;
use crate::handle::delete::Deletion;
use crate::hub::Subscription;

/// Between the request to delete and the first sweep.
const GRACE: Duration = Duration::from_secs(5);
/// The longest pause between two sweeps.
const PAUSE_MAX: Duration = Duration::from_mins(1);

/// Sees namespaces end, for as long as the server runs.
pub(crate) async fn run(app: Weak<App>, mut follower: Follower) {
    let ending = Arc::new(Mutex::new(BTreeSet::new()));
    loop {
        let Some(events) = app.upgrade().and_then(|app| subscribe(&app)) else {
            return;
        };
        while let Some(deliveries) = next_or_catch_up(&events, &mut follower).await {
            for object in deliveries.iter().filter_map(terminating) {
                let Some(namespace) = Ending::of(object) else {
                    continue;
                };
                let is_new = ending
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(namespace.clone());
                let timer = app.upgrade().map(|app| app.hub.clock().timer());
                if let Some(timer) = timer.filter(|_| is_new) {
                    tokio::spawn(end(app.clone(), namespace, Arc::clone(&ending), timer));
                }
            }
        }
        // The stream ended; a new one starts from the present state, so nothing is missed.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn subscribe(app: &App) -> Option<Subscription> {
    let request = WatchRequest {
        selector: Selector::default(),
        start: WatchStart::State {
            end: InitialEnd::Silent,
        },
        bookmarks: Bookmarks::Off,
        timeout: None,
    };
    app.hub.watch(app.namespaces().storage?, request).ok()
}

/// The next deliveries; `None` when the stream has ended. In between, whoever moves the clock is
/// told that there is nothing left to do.
async fn next_or_catch_up(events: &Subscription, follower: &mut Follower) -> Option<Vec<Delivery>> {
    loop {
        tokio::select! {
            // What has happened comes first: only then the answer is true.
            biased;
            deliveries = next(events) => return deliveries,
            done = follower.asked() => drop(done),
        }
    }
}

/// The next deliveries; `None` when the stream has ended.
async fn next(events: &Subscription) -> Option<Vec<Delivery>> {
    std::future::poll_fn(|context| {
        let mut out = Vec::new();
        let polled = events.poll(context, 64, &mut out);
        match polled {
            Polled::Pending if out.is_empty() => std::task::Poll::Pending,
            Polled::Ended(_) if out.is_empty() => std::task::Poll::Ready(None),
            _ => std::task::Poll::Ready(Some(out)),
        }
    })
    .await
}

fn terminating(delivery: &Delivery) -> Option<&Arc<Object>> {
    let object = match delivery {
        Delivery::Initial(object) => object,
        Delivery::Event { event, .. } => event.new.as_ref()?,
        Delivery::InitialEventsEnd(_) | Delivery::Bookmark(_) => return None,
    };
    (object.fields.get("status.phase") == "Terminating").then_some(object)
}

/// A namespace on its way out. Another one of the same name is another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ending {
    name: String,
    uid: String,
}

impl Ending {
    fn of(object: &Object) -> Option<Self> {
        let value: Value = serde_json::from_slice(object.json()).ok()?;
        let uid = value.pointer("/metadata/uid")?.as_str()?.to_owned();
        Some(Self {
            name: object.key.name().to_owned(),
            uid,
        })
    }

    /// Is this namespace still there, and still on its way out?
    fn goes_on(&self, app: &App) -> bool {
        let storage = app.namespaces().storage;
        let present = storage.and_then(|storage| app.hub.get(storage, &self.name));
        present.is_some_and(|object| {
            object.fields.get("status.phase") == "Terminating"
                && Self::of(&object).as_ref() == Some(self)
        })
    }
}

async fn end(
    app: Weak<App>,
    namespace: Ending,
    ending: Arc<Mutex<BTreeSet<Ending>>>,
    mut timer: Timer,
) {
    let mut pause = GRACE;
    loop {
        timer.sleep(pause).await;
        let Some(app) = app.upgrade() else { break };
        if !namespace.goes_on(&app) || sweep(&app, &namespace).await {
            break;
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
    ending
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&namespace);
}

/// Deletes what is in the namespace. Answers whether the namespace itself is done with.
async fn sweep(app: &Arc<App>, namespace: &Ending) -> bool {
    let mut remaining = false;
    for resource in app
        .catalog
        .storages()
        .filter(|resource| resource.is_namespaced())
    {
        let scope = Selector {
            namespace: Some(namespace.name.clone()),
            ..Selector::default()
        };
        let Some(storage) = resource.storage else {
            continue;
        };
        let Some(snapshot) = app.hub.snapshot(storage) else {
            continue;
        };
        let keys: Vec<Key> = snapshot
            .range(&scope, Bound::Unbounded)
            .map(|o| o.key.clone())
            .collect();
        for key in keys {
            let deletion = Deletion {
                resource,
                key: key.clone(),
                options: DeleteOptions::default(),
            };
            if let Err(status) = deletion.run(app).await {
                tracing::debug!(%key, message = %status.message, "not deleted yet");
            }
            remaining |= app.hub.get(storage, key.as_str()).is_some();
        }
    }
    !remaining && namespace.goes_on(app) && finalize(app, namespace).await
}

/// Takes the finalizer away, and the namespace with the last one.
async fn finalize(app: &Arc<App>, namespace: &Ending) -> bool {
    let namespaces = app.namespaces();
    let key = Key::new("", &namespace.name);
    let without = |old: &Value| {
        let mut new = old.clone();
        if new.pointer("/metadata/uid").and_then(Value::as_str) != Some(&namespace.uid) {
            return Ok(new);
        }
        if let Some(list) = new
            .pointer_mut("/spec/finalizers")
            .and_then(Value::as_array_mut)
        {
            list.retain(|finalizer| finalizer != &json!("kubernetes"));
        }
        Ok(new)
    };
    let done = crate::handle::update::Update {
        resource: namespaces,
        key,
        part: Some((UpdateOf::Finalize, Verb::Patch)),
        run: Run::ForReal,
    }
    .run(app, without)
    .await;
    match done {
        Ok(_) => true,
        Err(status) => status.code == 404,
    }
}
