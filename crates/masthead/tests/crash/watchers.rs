//! Watchers: each is cut off by a kill, and goes on from its last version on the next server.

use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::history::Seen;
use super::support::{Client, Next, Watch};
use super::writers::OBJECTS;

/// An event that ought to be there comes within this.
const EVENT_BOUND: Duration = Duration::from_secs(20);

/// When a watcher is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Habit {
    /// Always, as far as there is a server.
    Steady,
    /// Only after a restart: it gets everything from the history.
    Late,
}

/// One watcher.
pub(crate) struct Watcher {
    habit: Habit,
    /// The version of the last event that it got.
    last: u64,
    /// What it got in this round.
    seen: Vec<Seen>,
    events: Option<UnboundedReceiver<Result<Seen, String>>>,
}

impl Watcher {
    /// A watcher that has everything through `last`.
    pub(crate) const fn new(habit: Habit, last: u64) -> Self {
        Self {
            habit,
            last,
            seen: Vec::new(),
            events: None,
        }
    }

    /// Is it connected whenever there is a server?
    pub(crate) fn is_steady(&self) -> bool {
        self.habit == Habit::Steady
    }

    /// Connects to a server, on which it is to see everything after its last version.
    pub(crate) fn connect(&mut self, client: &Client) {
        let version = self.last;
        let path =
            format!("{OBJECTS}?watch=true&allowWatchBookmarks=true&resourceVersion={version}");
        let client = client.apart();
        let (sender, receiver) = unbounded_channel();
        self.events = Some(receiver);
        tokio::spawn(async move {
            let Ok(mut watch) = client.try_watch(&path).await else {
                return;
            };
            if watch.status != 200 {
                drop(sender.send(Err(format!("a watch was answered {}", watch.status))));
                return;
            }
            while let Some(event) = next(&mut watch).await {
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
    }

    /// Takes what came until the server died.
    pub(crate) async fn drain(&mut self) -> Result<(), String> {
        if let Some(mut events) = self.events.take() {
            while let Some(event) = events.recv().await {
                self.take(event?);
            }
        }
        Ok(())
    }

    /// Takes what comes, up to the event at `revision`, which must come.
    pub(crate) async fn until(&mut self, revision: u64) -> Result<(), String> {
        while self.last < revision {
            let habit = self.habit;
            let missing = |last, why| {
                format!("{habit:?} watcher at {last}, event {revision} does not come: {why}")
            };
            let Some(events) = &mut self.events else {
                return Err(missing(self.last, "not connected"));
            };
            match tokio::time::timeout(EVENT_BOUND, events.recv()).await {
                Ok(Some(event)) => self.take(event?),
                Ok(None) => return Err(missing(self.last, "the watch ended")),
                Err(_) => return Err(missing(self.last, "time is up")),
            }
        }
        Ok(())
    }

    /// What it saw since the last call. Late ones leave until the next restart.
    pub(crate) fn finish_round(&mut self) -> Vec<Seen> {
        if self.habit == Habit::Late {
            self.events = None;
        }
        std::mem::take(&mut self.seen)
    }

    fn take(&mut self, seen: Seen) {
        // Not the maximum: events out of order are for the checks to find.
        self.last = seen.version.revision;
        self.seen.push(seen);
    }
}

/// The next event; `None` at the end of the connection.
async fn next(watch: &mut Watch) -> Option<Result<Seen, String>> {
    loop {
        match watch.next(EVENT_BOUND).await {
            Next::Event(event) => match Seen::read(&event.kind, &event.object) {
                Ok(Some(seen)) => return Some(Ok(seen)),
                Ok(None) => {}
                Err(torn) => return Some(Err(torn.to_string())),
            },
            Next::Quiet => {}
            Next::End | Next::Broken(_) => return None,
        }
    }
}
