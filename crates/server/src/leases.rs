//! [`EventLeases`]: objects that expire share leases, so that a thousand of them cost one.

use std::time::Duration;

use masthead_store::{LeaseError, LeaseId, Store};

use crate::clock::Clock;

/// A lease is handed out again for this long, or for a twentieth of its time to live if that is
/// shorter.
const REUSE_MAX: Duration = Duration::from_mins(1);
/// Objects on one lease.
const OBJECTS_MAX: u32 = 1000;

/// The lease that new expiring objects are put on.
#[derive(Debug, Default)]
pub(crate) struct EventLeases {
    current: Option<Current>,
}

#[derive(Debug)]
struct Current {
    lease: LeaseId,
    ttl: Duration,
    until: Duration,
    objects: u32,
}

impl EventLeases {
    /// A lease that lives `ttl` from now, or a little longer.
    pub(crate) fn lease(
        &mut self,
        store: &mut Store,
        ttl: Duration,
        clock: &Clock,
    ) -> Result<LeaseId, LeaseError> {
        let now = clock.mono().since_start();
        if let Some(current) = &mut self.current
            && current.ttl == ttl
            && now < current.until
            && current.objects < OBJECTS_MAX
        {
            current.objects += 1;
            return Ok(current.lease);
        }
        let reuse = REUSE_MAX.min(ttl / 20);
        let lease = store.grant(None, ttl + reuse, now)?;
        self.current = Some(Current {
            lease,
            ttl,
            until: now + reuse,
            objects: 1,
        });
        Ok(lease)
    }
}
