//! The store's leases: granted and revoked durably, kept alive in memory.

use std::time::Duration;

use bytes::Bytes;

use super::{CommitError, Evaluation, Store, facts};
use crate::{Commit, LeaseId, LeaseState};

/// The longest time to live: 9,000,000,000 seconds, as in etcd.
pub const LEASE_TTL_MAX: Duration = Duration::from_hours(2_500_000);

/// Why a lease request was refused.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// No such lease, or it is over.
    #[error("lease {id} does not exist or is over; grant a new one")]
    NotFound {
        /// Which.
        id: LeaseId,
    },
    /// The number is taken.
    #[error("lease {id} exists already; choose another number")]
    Exists {
        /// Which.
        id: LeaseId,
    },
    /// The time to live is too long.
    #[error("a lease of {} seconds is too long; at most {} are allowed", ttl.as_secs(), LEASE_TTL_MAX.as_secs())]
    TooLong {
        /// Asked for.
        ttl: Duration,
    },
    /// It could not be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

impl Store {
    /// Grants a lease, durably. Without a number the store takes a free one. The time to live is
    /// rounded up to whole seconds, at least one. Takes no revision.
    pub fn grant(
        &mut self,
        id: Option<LeaseId>,
        ttl: Duration,
        now: Duration,
    ) -> Result<LeaseId, LeaseError> {
        self.check_health()?;
        if ttl > LEASE_TTL_MAX {
            return Err(LeaseError::TooLong { ttl });
        }
        let id = match id {
            Some(id) if self.leases.contains(id) => return Err(LeaseError::Exists { id }),
            Some(id) => id,
            None => self.free_lease(),
        };
        let started = ttl.as_secs() + u64::from(ttl.subsec_nanos() > 0);
        let ttl = Duration::from_secs(started.max(1));
        let evaluated = Evaluation::new(&self.shared, &self.leases).finish();
        self.write(evaluated, vec![facts::set_lease(id, ttl)])?;
        self.leases.grant(id, ttl, now);
        Ok(id)
    }

    /// A number that no lease has: from the revision on, so that it was hardly ever used before.
    fn free_lease(&self) -> LeaseId {
        let start = self.shared.head().get() << 20 & (i64::MAX as u64);
        let free = (start..).filter_map(|number| LeaseId::new(i64::try_from(number).ok()?));
        let mut free = free.filter(|id| !self.leases.contains(*id));
        free.next().unwrap_or(LeaseId::MAX)
    }

    /// Ends a lease and deletes its keys, in key order, in one revision; `None` if it had none.
    pub fn revoke(&mut self, id: LeaseId) -> Result<Option<Commit>, LeaseError> {
        self.check_health()?;
        if !self.leases.contains(id) {
            return Err(LeaseError::NotFound { id });
        }
        let mut evaluation = Evaluation::new(&self.shared, &self.leases);
        let keys: Vec<Bytes> = self.leases.keys(id).cloned().collect();
        let commit = evaluation.delete_keys(keys);
        self.write(evaluation.finish(), vec![facts::remove_lease(id)])?;
        self.leases.remove(id);
        Ok(commit)
    }

    /// Starts a lease's time anew; returns its time to live.
    pub fn keep_alive(&mut self, id: LeaseId, now: Duration) -> Result<Duration, LeaseError> {
        self.leases
            .keep_alive(id, now)
            .ok_or(LeaseError::NotFound { id })
    }

    /// What is left of a lease; `None` if there is no such lease.
    pub fn time_to_live(&self, id: LeaseId, now: Duration) -> Option<LeaseState> {
        self.leases.state(id, now)
    }

    /// The keys on a lease, in order.
    pub fn lease_keys(&self, id: LeaseId) -> impl Iterator<Item = &Bytes> {
        self.leases.keys(id)
    }

    /// All leases, those that end first in front.
    pub fn leases(&self) -> impl Iterator<Item = LeaseId> {
        self.leases.ids()
    }

    /// The leases that are over and wait to be revoked.
    pub fn expired(&self, now: Duration) -> Vec<LeaseId> {
        self.leases.expired(now)
    }

    /// When the next lease ends, on the scale of the `now` that the calls gave.
    pub fn next_expiry(&self) -> Option<Duration> {
        self.leases.next_end()
    }
}
