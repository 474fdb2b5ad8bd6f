//! A record of the log: one change, as bytes, with a checksum.
//!
//! The record's key in the log is its [`Position`] (12 bytes). Its value, all numbers big-endian:
//!
//! ```text
//! byte 0       format version, 1
//! bytes 1..5   CRC-32 (IEEE) of the 12 position bytes, then of everything from byte 5 to the end
//! byte 5       flags: 1 = deletion, 2 = has a previous version, 4 = last record of its revision
//! bytes 6..30  create revision u64, version u64, lease i64 (0 = none)
//! if flag 2:   32 bytes more: previous create revision u64, mod revision u64, version u64, lease i64
//! then         key length u32, key, value (to the end; empty for a deletion)
//! ```
//!
//! Small facts beside the records (leases, the compacted revision) are sealed in the same way:
//! version byte, CRC-32 of name and content, content.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use masthead_api::Revision;

use crate::{KeyMeta, LeaseId, Position};

const VERSION: u8 = 1;
const DELETED: u8 = 1;
const HAS_PREVIOUS: u8 = 2;
const LAST: u8 = 4;

/// Whether more records of the same revision follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tail {
    /// More follow.
    More,
    /// This record ends its revision.
    Last,
}

/// One change of one key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) key: Bytes,
    pub(crate) value: Option<Bytes>,
    pub(crate) meta: KeyMeta,
    pub(crate) previous: Option<KeyMeta>,
    pub(crate) tail: Tail,
}

/// What is wrong with the bytes of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Damage {
    /// Too few bytes.
    #[error("it is cut short")]
    Short,
    /// The checksum does not fit the content.
    #[error("its checksum does not fit its content")]
    Checksum,
    /// A format that this program does not know.
    #[error("it has format version {0}, which this program does not know")]
    Version(u8),
    /// The checksum fits but the content makes no sense.
    #[error("its content makes no sense")]
    Content,
    /// A record that must be there is not.
    #[error("records are missing")]
    Gap,
}

impl Record {
    pub(crate) fn encode(&self, at: Position) -> Bytes {
        let value = self.value.as_deref().unwrap_or_default();
        let mut flags = 0;
        if self.value.is_none() {
            flags |= DELETED;
        }
        if self.tail == Tail::Last {
            flags |= LAST;
        }
        if self.previous.is_some() {
            flags |= HAS_PREVIOUS;
        }
        let mut out = BytesMut::with_capacity(66 + self.key.len() + value.len());
        out.put_u8(VERSION);
        out.put_u32(0);
        out.put_u8(flags);
        out.put_u64(self.meta.create_revision.get());
        out.put_u64(self.meta.version);
        out.put_i64(self.meta.lease.map_or(0, LeaseId::get));
        if let Some(previous) = self.previous {
            out.put_u64(previous.create_revision.get());
            out.put_u64(previous.mod_revision.get());
            out.put_u64(previous.version);
            out.put_i64(previous.lease.map_or(0, LeaseId::get));
        }
        out.put_u32(self.key.len() as u32);
        out.put_slice(&self.key);
        out.put_slice(value);
        write_checksum(&at.to_bytes(), &mut out);
        out.freeze()
    }

    pub(crate) fn decode(at: Position, bytes: Bytes) -> Result<Self, Damage> {
        let mut rest = unseal(&at.to_bytes(), bytes)?;
        let flags = rest.try_get_u8().map_err(short)?;
        let create_revision = get_revision(&mut rest)?;
        let version = rest.try_get_u64().map_err(short)?;
        let lease = LeaseId::new(rest.try_get_i64().map_err(short)?);
        let mod_revision = at.revision;
        let meta = KeyMeta {
            create_revision,
            mod_revision,
            version,
            lease,
        };
        let previous = if flags & HAS_PREVIOUS == 0 {
            None
        } else {
            Some(get_meta(&mut rest)?)
        };
        let key_len = rest.try_get_u32().map_err(short)? as usize;
        if rest.len() < key_len {
            return Err(Damage::Short);
        }
        let key = rest.split_to(key_len);
        let value = (flags & DELETED == 0).then_some(rest);
        if value.is_some() != (version > 0) || create_revision > mod_revision {
            return Err(Damage::Content);
        }
        let tail = if flags & LAST == 0 {
            Tail::More
        } else {
            Tail::Last
        };
        Ok(Self {
            key,
            value,
            meta,
            previous,
            tail,
        })
    }
}

fn short(_: bytes::TryGetError) -> Damage {
    Damage::Short
}

fn get_revision(rest: &mut Bytes) -> Result<Revision, Damage> {
    Revision::new(rest.try_get_u64().map_err(short)?).ok_or(Damage::Content)
}

fn get_meta(rest: &mut Bytes) -> Result<KeyMeta, Damage> {
    Ok(KeyMeta {
        create_revision: get_revision(rest)?,
        mod_revision: get_revision(rest)?,
        version: rest.try_get_u64().map_err(short)?,
        lease: LeaseId::new(rest.try_get_i64().map_err(short)?),
    })
}

/// Puts the checksum of `name` and of everything behind byte 5 into bytes 1 to 4.
fn write_checksum(name: &[u8], out: &mut BytesMut) {
    let Some((head, content)) = out.split_at_mut_checked(5) else {
        return;
    };
    let sum = checksum(name, content).to_be_bytes();
    for (place, byte) in head.iter_mut().skip(1).zip(sum) {
        *place = byte;
    }
}

fn checksum(name: &[u8], content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(name);
    hasher.update(content);
    hasher.finalize()
}

/// A small fact with its format version and checksum.
pub(crate) fn seal(name: &[u8], content: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(5 + content.len());
    out.put_u8(VERSION);
    out.put_u32(0);
    out.put_slice(content);
    write_checksum(name, &mut out);
    out.freeze()
}

/// The content of a sealed fact or record; an error if it is not what was sealed under this name.
pub(crate) fn unseal(name: &[u8], mut bytes: Bytes) -> Result<Bytes, Damage> {
    let version = bytes.try_get_u8().map_err(short)?;
    let sum = bytes.try_get_u32().map_err(short)?;
    if version != VERSION {
        return Err(Damage::Version(version));
    }
    if checksum(name, &bytes) != sum {
        return Err(Damage::Checksum);
    }
    Ok(bytes)
}

/// Whether these bytes, of a fact or a record, are what was sealed under this name.
pub(crate) fn is_sealed(name: &[u8], bytes: &[u8]) -> bool {
    match bytes {
        [VERSION, a, b, c, d, content @ ..] => {
            checksum(name, content) == u32::from_be_bytes([*a, *b, *c, *d])
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Record> {
        let revision = |number| Revision::new(number).unwrap();
        let meta = |create, modified, version, lease| KeyMeta {
            create_revision: revision(create),
            mod_revision: revision(modified),
            version,
            lease: LeaseId::new(lease),
        };
        let record = |value: Option<&'static str>, meta, previous, tail| Record {
            key: Bytes::from_static(b"/registry/pods/a"),
            value: value.map(Bytes::from),
            meta,
            previous,
            tail,
        };
        vec![
            record(Some("{}"), meta(9, 9, 1, 0), None, Tail::Last),
            record(
                Some(""),
                meta(3, 9, 4, -7),
                Some(meta(3, 5, 3, 12)),
                Tail::More,
            ),
            record(None, meta(3, 9, 0, 0), Some(meta(3, 5, 3, 12)), Tail::Last),
        ]
    }

    #[test]
    fn a_record_comes_back_as_it_was() {
        let at = Position {
            revision: Revision::new(9).unwrap(),
            sub: 3,
        };
        for record in samples() {
            assert_eq!(Record::decode(at, record.encode(at)), Ok(record));
        }
    }

    #[test]
    fn every_flipped_bit_every_cut_and_every_other_place_is_noticed() {
        let at = Position {
            revision: Revision::new(9).unwrap(),
            sub: 3,
        };
        for record in samples() {
            let good = record.encode(at);
            for cut in 0..good.len() {
                assert!(Record::decode(at, good.slice(..cut)).is_err());
            }
            for bit in 0..good.len() * 8 {
                let mut bad = good.to_vec();
                bad[bit / 8] ^= 1 << (bit % 8);
                assert!(Record::decode(at, bad.into()).is_err(), "bit {bit}");
            }
            let elsewhere = Position {
                revision: at.revision,
                sub: 4,
            };
            assert_eq!(Record::decode(elsewhere, good), Err(Damage::Checksum));
        }
    }
}
