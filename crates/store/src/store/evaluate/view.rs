//! What a transaction under way sees: the store, and on top of it what its batch has done so far.

use masthead_api::Revision;

use super::{Evaluation, Step, meta_of};
use crate::index::Entry;
use crate::log::LogError;
use crate::reader::into_kv;
use crate::record::Record;
use crate::shared::{Counting, Found};
use crate::{
    Compare, KeyMeta, KeyRange, LeaseId, Position, RangeResult, ReadError, Target, TxnError,
};

impl Evaluation<'_> {
    pub(super) fn range(
        &self,
        step: &Step,
        keys: &KeyRange,
        at: Option<Revision>,
        limit: usize,
    ) -> Result<RangeResult, ReadError> {
        let changed = self.pending.len() > step.first;
        let now = if changed { step.revision } else { self.newest };
        let revision = at.unwrap_or(now);
        if at.is_some() && revision > self.newest {
            return Err(ReadError::Future {
                wanted: revision,
                head: self.newest,
            });
        }
        if let Some(oldest) = self.shared.compacted()
            && revision < oldest
        {
            return Err(ReadError::Compacted {
                wanted: revision,
                oldest,
            });
        }
        let Found { positions, count } = self.shared.find(keys, revision, limit, Counting::All);
        let mut kvs = Vec::with_capacity(positions.len());
        for at in positions {
            kvs.extend(self.read(at)?.and_then(into_kv));
        }
        Ok(RangeResult {
            revision,
            more: count > kvs.len(),
            kvs,
            count,
        })
    }

    /// The version of a key that is alive at `revision`, with its facts.
    pub(super) fn live(&self, key: &[u8], revision: Revision) -> Option<(Entry, KeyMeta)> {
        let entry = self.shared.index().live_at(key, revision)?;
        let lease = match self.pending_record(entry.at) {
            Some(record) => record.meta.lease,
            None => self.leases.of_key(key),
        };
        Some((entry, meta_of(entry, lease)))
    }

    fn pending_record(&self, at: Position) -> Option<&Record> {
        if at.revision <= self.base {
            return None;
        }
        let place = self.pending.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        self.pending.get(place).map(|(_, record)| record)
    }

    fn read(&self, at: Position) -> Result<Option<Record>, LogError> {
        match self.pending_record(at) {
            Some(record) => Ok(Some(record.clone())),
            None => self.shared.read_record(at),
        }
    }

    pub(super) fn all_hold(&self, compares: &[Compare]) -> Result<bool, TxnError> {
        for compare in compares {
            if !self.holds(compare)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds(&self, compare: &Compare) -> Result<bool, TxnError> {
        let found = self.live(&compare.key, self.newest);
        let meta = found.map(|(_, meta)| meta);
        let ordering = match &compare.target {
            Target::ModRevision(operand) => {
                meta.map_or(0, |meta| meta.mod_revision.get()).cmp(operand)
            }
            Target::CreateRevision(operand) => meta
                .map_or(0, |meta| meta.create_revision.get())
                .cmp(operand),
            Target::Version(operand) => meta.map_or(0, |meta| meta.version).cmp(operand),
            Target::Lease(operand) => meta
                .and_then(|meta| meta.lease)
                .map_or(0, LeaseId::get)
                .cmp(operand),
            Target::Value(operand) => {
                let Some((entry, _)) = found else {
                    return Ok(false);
                };
                let record = self.read(entry.at).map_err(ReadError::from)?;
                let Some(value) = record.and_then(|record| record.value) else {
                    return Ok(false);
                };
                value.cmp(operand)
            }
        };
        Ok(compare.relation.holds(ordering))
    }
}
