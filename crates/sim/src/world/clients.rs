//! Clients: they open streams in every way, lose them, and go on.

use std::time::Duration;

use masthead_api::Revision;
use masthead_watch::{
    Bookmarks, Freshness, InitialEnd, WatchError, WatchPath, WatchPlan, WatchQuery, WatchRequest,
    WatchStart, WatcherId,
};

use super::World;
use super::streams::Stream;
use crate::fault::Fault;
use crate::history::{Opened, Record, Start};
use crate::step::{From, Taste};

/// Somebody who watches.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) taste: Taste,
    pub(super) stream: Option<usize>,
    /// The last version it has, and the stream that carried it.
    pub(super) last: Option<(u64, Option<usize>)>,
    /// The oldest version that a refusal named.
    offered: Option<u64>,
}

impl World {
    /// A new client comes.
    pub(super) fn arrive(&mut self, taste: Taste, from: From) {
        self.clients.push(Client {
            taste,
            stream: None,
            last: None,
            offered: None,
        });
        self.open(self.clients.len() - 1, from);
    }

    /// A client without a stream opens one.
    pub(super) fn reopen(&mut self, which: u8, from: From) {
        let idle = self
            .clients
            .iter()
            .enumerate()
            .filter(|(_, client)| client.stream.is_none())
            .map(|(at, _)| at);
        if let Some(client) = around(idle, which) {
            self.open(client, from);
        }
    }

    fn open(&mut self, at: usize, from: From) {
        let Some(client) = self.clients.get(at) else {
            return;
        };
        let (taste, last) = (client.taste, client.last);
        let (version, initial) = match from {
            From::Last => (last.map(|(revision, _)| revision), None),
            From::Offered => (client.offered, None),
            From::Nothing => (None, None),
            From::Zero => (Some(0), None),
            From::Streaming => (None, Some(true)),
            From::StreamingFrom(distance) => (Some(self.revision_at(distance)), Some(true)),
            From::Now => (None, Some(false)),
            From::After(distance) => (Some(self.revision_at(distance)), None),
        };
        let bookmarks = if taste.bookmarks {
            Bookmarks::On
        } else {
            Bookmarks::Off
        };
        let plan = WatchPlan::new(WatchQuery {
            version,
            version_match: None,
            send_initial_events: initial,
            bookmarks,
            path: WatchPath::Query,
        });
        if let Freshness::AtLeast(revision) = plan.wait
            && self.hub.head < revision
        {
            // The server waits in the stream; here the client comes again.
            return;
        }
        let request = WatchRequest {
            selector: taste.pick.selector(),
            start: plan.start,
            bookmarks,
            timeout: taste.timeout.map(|s| Duration::from_secs(u64::from(s))),
        };
        let continues = last
            .and_then(|(_, stream)| stream)
            .filter(|_| from == From::Last);
        self.begin(at, request, plan.wait, continues);
    }

    fn begin(
        &mut self,
        at: usize,
        mut request: WatchRequest,
        wait: Freshness,
        continues: Option<usize>,
    ) {
        let start = start_of(request.start, wait);
        if let WatchStart::After(revision) = &mut request.start {
            let after = self.saboteur.start(revision.get());
            *revision = Revision::new(after).unwrap_or(*revision);
            if self.saboteur.strikes(Fault::NeedlessRefusal) {
                let wanted = revision.get();
                return self.refused(at, wanted, wanted + 1);
            }
        }
        let (now, head) = (self.hub.now, self.hub.head);
        let Some(taste) = self.clients.get(at).map(|client| client.taste) else {
            return;
        };
        let Some(cache) = self.hub.cache(taste.storage) else {
            return;
        };
        let base = match start {
            Start::After(revision) => revision,
            Start::State { .. } | Start::Now => cache.revision(head).get(),
        };
        match cache.watch(request, now, head) {
            Ok(id) => self.opened(at, id, start, continues, base),
            Err(WatchError::Expired {
                wanted,
                oldest_accepted,
            }) => self.refused(at, wanted.get(), oldest_accepted.get()),
        }
    }

    fn opened(
        &mut self,
        at: usize,
        id: WatcherId,
        start: Start,
        continues: Option<usize>,
        base: u64,
    ) {
        let stream = self.streams.len();
        let Some(client) = self.clients.get_mut(at) else {
            return;
        };
        client.stream = Some(stream);
        match start {
            Start::After(_) if continues.is_some() => {}
            Start::After(revision) => client.last = Some((revision, None)),
            Start::State { .. } | Start::Now => client.last = None,
        }
        let Taste {
            storage,
            pick,
            bookmarks,
            ..
        } = client.taste;
        self.hub.name(storage, id, stream);
        self.streams.push(Stream {
            storage,
            id,
            client: at,
            open: true,
        });
        self.ready.insert(stream);
        self.records.push(Record::Opened(Opened {
            stream,
            storage,
            pick,
            bookmarks,
            start,
            continues,
            base,
        }));
    }

    /// A start is too old; whether the one that is named instead would do is tried.
    fn refused(&mut self, at: usize, wanted: u64, oldest: u64) {
        let (now, head) = (self.hub.now, self.hub.head);
        let Some(client) = self.clients.get_mut(at) else {
            return;
        };
        client.offered = Some(oldest);
        client.last = None;
        let storage = client.taste.storage;
        let request = Revision::new(oldest).map(|oldest| WatchRequest {
            selector: client.taste.pick.selector(),
            start: WatchStart::After(oldest),
            bookmarks: Bookmarks::Off,
            timeout: None,
        });
        let Some((cache, request)) = self.hub.cache(storage).zip(request) else {
            return;
        };
        let tried = cache.watch(request, now, head);
        if let Ok(id) = tried {
            cache.cancel(id);
        }
        self.records.push(Record::Refused {
            storage,
            wanted,
            oldest,
            oldest_works: tried.is_ok(),
        });
    }
}

/// One of `all`, counted around.
pub(super) fn around(all: impl Iterator<Item = usize> + Clone, which: u8) -> Option<usize> {
    let len = all.clone().count();
    usize::from(which)
        .checked_rem(len)
        .and_then(|at| all.into_iter().nth(at))
}

fn start_of(start: WatchStart, wait: Freshness) -> Start {
    match start {
        WatchStart::State { end } => Start::State {
            annotated: end == InitialEnd::Annotated,
            at_least: match wait {
                Freshness::AtLeast(revision) => revision.get(),
                Freshness::Any | Freshness::Head => 0,
            },
        },
        WatchStart::Now => Start::Now,
        WatchStart::After(revision) => Start::After(revision.get()),
    }
}
