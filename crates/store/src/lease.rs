//! [`LeaseBook`]: which leases there are, when they end, and which keys are on them.
//!
//! Time is an argument: a [`Duration`] since any fixed moment, the same one for every call on one
//! store. A restart begins every lease anew with its full time to live, so a lease may end late but
//! never early.
//!
//! Invariants:
//! - **E1** A key is on at most one lease, the one that its last write named.
//! - **E2** `by_key` and the `keys` of the leases say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;

use crate::LeaseId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) ttl: Duration,
    pub(crate) ends: Duration,
    keys: BTreeSet<Bytes>,
}

/// What the store says of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseState {
    /// The time to live that was granted.
    pub granted: Duration,
    /// How much of it is left; zero if the lease is over but not yet revoked.
    pub remaining: Duration,
}

/// All leases.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct LeaseBook {
    leases: BTreeMap<LeaseId, Lease>,
    by_key: BTreeMap<Bytes, LeaseId>,
    by_end: BTreeSet<(Duration, LeaseId)>,
}

impl LeaseBook {
    pub(crate) fn contains(&self, id: LeaseId) -> bool {
        self.leases.contains_key(&id)
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = LeaseId> {
        self.by_end.iter().map(|(_, id)| *id)
    }

    pub(crate) fn grant(&mut self, id: LeaseId, ttl: Duration, now: Duration) {
        let ends = now.saturating_add(ttl);
        self.by_end.insert((ends, id));
        self.leases.insert(
            id,
            Lease {
                ttl,
                ends,
                keys: BTreeSet::new(),
            },
        );
    }

    /// Starts the lease's time anew. A lease that is over stays over, even before it is revoked.
    pub(crate) fn keep_alive(&mut self, id: LeaseId, now: Duration) -> Option<Duration> {
        let lease = self.leases.get_mut(&id).filter(|lease| lease.ends > now)?;
        self.by_end.remove(&(lease.ends, id));
        lease.ends = now.saturating_add(lease.ttl);
        self.by_end.insert((lease.ends, id));
        Some(lease.ttl)
    }

    pub(crate) fn state(&self, id: LeaseId, now: Duration) -> Option<LeaseState> {
        let lease = self.leases.get(&id)?;
        Some(LeaseState {
            granted: lease.ttl,
            remaining: lease.ends.saturating_sub(now),
        })
    }

    /// The keys on a lease, in order.
    pub(crate) fn keys(&self, id: LeaseId) -> impl Iterator<Item = &Bytes> {
        self.leases
            .get(&id)
            .into_iter()
            .flat_map(|lease| &lease.keys)
    }

    /// The leases that are over, those that ended first in front.
    pub(crate) fn expired(&self, now: Duration) -> Vec<LeaseId> {
        let over = self.by_end.iter().take_while(|(ends, _)| *ends <= now);
        over.map(|(_, id)| *id).collect()
    }

    /// When the next lease ends.
    pub(crate) fn next_end(&self) -> Option<Duration> {
        self.by_end.first().map(|(ends, _)| *ends)
    }

    pub(crate) fn remove(&mut self, id: LeaseId) {
        if let Some(lease) = self.leases.remove(&id) {
            self.by_end.remove(&(lease.ends, id));
            for key in lease.keys {
                self.by_key.remove(&key);
            }
        }
    }

    pub(crate) fn of_key(&self, key: &[u8]) -> Option<LeaseId> {
        self.by_key.get(key).copied()
    }

    /// Puts a key on a lease, or on none; it leaves the one that it was on.
    pub(crate) fn attach(&mut self, key: &Bytes, to: Option<LeaseId>) {
        let before = self.of_key(key);
        if before == to {
            return;
        }
        if let Some(lease) = before.and_then(|id| self.leases.get_mut(&id)) {
            lease.keys.remove(key);
        }
        // Copied, because the given bytes may be a piece of something larger that should not stay.
        let own = Bytes::copy_from_slice(key);
        match to.and_then(|id| Some((id, self.leases.get_mut(&id)?))) {
            Some((id, lease)) => {
                lease.keys.insert(own.clone());
                self.by_key.insert(own, id);
            }
            None => {
                self.by_key.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn id(number: i64) -> LeaseId {
        LeaseId::new(number).unwrap()
    }

    #[test]
    fn a_lease_ends_exactly_after_its_time_and_a_keep_alive_starts_it_anew() {
        let mut book = LeaseBook::default();
        book.grant(id(1), secs(10), secs(100));
        book.grant(id(2), secs(5), secs(100));
        assert_eq!(book.expired(secs(104)), []);
        assert_eq!(book.expired(secs(105)), [id(2)]);
        assert_eq!(book.expired(secs(110)), [id(2), id(1)]);
        assert_eq!(book.keep_alive(id(1), secs(109)), Some(secs(10)));
        assert_eq!(book.expired(secs(118)), [id(2)]);
        assert_eq!(book.state(id(1), secs(112)).unwrap().remaining, secs(7));
        assert_eq!(book.keep_alive(id(2), secs(105)), None);
        assert_eq!(book.keep_alive(id(3), secs(1)), None);
        assert_eq!(book.next_end(), Some(secs(105)));
    }

    #[test]
    fn a_key_is_on_the_lease_of_its_last_write_only() {
        let mut book = LeaseBook::default();
        book.grant(id(1), secs(10), secs(0));
        book.grant(id(2), secs(10), secs(0));
        let key = Bytes::from_static(b"k");
        book.attach(&key, Some(id(1)));
        book.attach(&key, Some(id(2)));
        assert_eq!((book.keys(id(1)).count(), book.keys(id(2)).count()), (0, 1));
        book.attach(&key, None);
        assert_eq!((book.of_key(b"k"), book.keys(id(2)).count()), (None, 0));
        book.attach(&key, Some(id(2)));
        book.remove(id(2));
        assert_eq!(book.of_key(b"k"), None);
    }
}
