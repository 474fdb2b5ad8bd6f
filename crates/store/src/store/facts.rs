//! The small named facts that the store keeps beside the records, and their bytes.
//!
//! ```text
//! "compacted"             u64: the history is compacted through this revision
//! "compaction-finished"   u64: and what that drops is removed from the log through this one
//! "lease/" + i64          u64: the time to live of this lease, in seconds
//! ```
//! Numbers are big-endian, contents sealed with a checksum.

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use masthead_api::Revision;

use crate::LeaseId;
use crate::log::{LogError, LogView};
use crate::record::{Damage, seal, unseal};

pub(super) const COMPACTED: &[u8] = b"compacted";
pub(super) const COMPACTION_FINISHED: &[u8] = b"compaction-finished";
const LEASE: &[u8] = b"lease/";

/// A fact to set (or to remove), as an append wants it.
pub(crate) type FactChange = (Bytes, Option<Bytes>);

pub(super) fn set_revision(name: &'static [u8], revision: Revision) -> FactChange {
    (
        Bytes::from_static(name),
        Some(seal(name, &revision.get().to_be_bytes())),
    )
}

/// The facts of a store whose history is given up through `revision`, with the removal still to do.
pub(crate) fn compacted_at(revision: Revision) -> Vec<FactChange> {
    vec![set_revision(COMPACTED, revision)]
}

pub(super) fn read_revision(
    view: &dyn LogView,
    name: &'static [u8],
) -> Result<Option<Revision>, LogError> {
    let facts = view.facts(name)?;
    let Some((_, fact)) = facts.into_iter().find(|(found, _)| found == name) else {
        return Ok(None);
    };
    let number = read_number(name, fact)?;
    Revision::new(number)
        .map(Some)
        .ok_or_else(|| damaged(name, Damage::Content))
}

fn lease_name(id: LeaseId) -> Bytes {
    let mut name = BytesMut::with_capacity(LEASE.len() + 8);
    name.put_slice(LEASE);
    name.put_i64(id.get());
    name.freeze()
}

pub(super) fn set_lease(id: LeaseId, ttl: Duration) -> FactChange {
    let name = lease_name(id);
    let fact = seal(&name, &ttl.as_secs().to_be_bytes());
    (name, Some(fact))
}

pub(super) fn remove_lease(id: LeaseId) -> FactChange {
    (lease_name(id), None)
}

pub(super) fn read_leases(view: &dyn LogView) -> Result<Vec<(LeaseId, Duration)>, LogError> {
    let mut leases = Vec::new();
    for (name, fact) in view.facts(LEASE)? {
        let id = name
            .strip_prefix(LEASE)
            .and_then(|id| id.try_into().ok())
            .map(i64::from_be_bytes);
        let id = id
            .and_then(LeaseId::new)
            .ok_or_else(|| damaged(&name, Damage::Content))?;
        leases.push((id, Duration::from_secs(read_number(&name, fact)?)));
    }
    Ok(leases)
}

fn read_number(name: &[u8], fact: Bytes) -> Result<u64, LogError> {
    let content = unseal(name, fact).map_err(|damage| damaged(name, damage))?;
    let bytes = content
        .as_ref()
        .try_into()
        .map_err(|_| damaged(name, Damage::Content))?;
    Ok(u64::from_be_bytes(bytes))
}

fn damaged(name: &[u8], damage: Damage) -> LogError {
    LogError::Fact {
        name: String::from_utf8_lossy(name).into_owned(),
        damage,
    }
}
