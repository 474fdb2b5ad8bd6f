//! The check of a transaction before it is evaluated.

use std::collections::BTreeSet;

use bytes::Bytes;

use crate::txn::{RECORD_BYTES_MAX, TXN_OPS_MAX};
use crate::{KeyRange, Op, Txn, TxnError};

/// What can be said against a transaction without looking at the store.
pub(super) fn check(txn: &Txn) -> Result<(), TxnError> {
    let longest = txn
        .compares
        .len()
        .max(txn.then.len())
        .max(txn.otherwise.len());
    if longest > TXN_OPS_MAX {
        return Err(TxnError::TooManyOps { ops: longest });
    }
    if txn.compares.iter().any(|compare| compare.key.is_empty()) {
        return Err(TxnError::EmptyKey);
    }
    check_ops(&txn.then)?;
    check_ops(&txn.otherwise)
}

fn check_ops(ops: &[Op]) -> Result<(), TxnError> {
    let mut written: BTreeSet<&[u8]> = BTreeSet::new();
    for op in ops {
        match op {
            Op::Put { key, value, .. } => {
                let bytes = key.len() + value.len();
                if key.is_empty() {
                    return Err(TxnError::EmptyKey);
                }
                if bytes > RECORD_BYTES_MAX {
                    return Err(TxnError::TooLarge { bytes });
                }
                if !written.insert(key) {
                    return Err(TxnError::DuplicateKey { key: key.clone() });
                }
            }
            Op::DeleteRange {
                keys: KeyRange::One(key),
            }
            | Op::Range {
                keys: KeyRange::One(key),
                ..
            } if key.is_empty() => {
                return Err(TxnError::EmptyKey);
            }
            Op::DeleteRange { .. } | Op::Range { .. } => {}
        }
    }
    for op in ops {
        if let Op::DeleteRange { keys } = op
            && let Some(ends) = keys.ends()
            && let Some(key) = written.range::<[u8], _>(ends).next()
        {
            return Err(TxnError::DuplicateKey {
                key: Bytes::copy_from_slice(key),
            });
        }
    }
    Ok(())
}
