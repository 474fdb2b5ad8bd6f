//! [`Position`]: where a record stands in the log.

use std::fmt;

use masthead_api::Revision;

/// A revision, and the place of one change inside it. The order of positions is the order of the log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Position {
    /// The revision.
    pub revision: Revision,
    /// 0 for the first change of the revision.
    pub sub: u32,
}

impl Position {
    /// The first position of a revision.
    pub const fn first(revision: Revision) -> Self {
        Self { revision, sub: 0 }
    }

    /// Twelve bytes that sort as positions do: the revision, then the place, both big-endian.
    pub fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        let (revision, sub) = bytes.split_at_mut(8);
        revision.copy_from_slice(&self.revision.get().to_be_bytes());
        sub.copy_from_slice(&self.sub.to_be_bytes());
        bytes
    }

    /// The position in these bytes; `None` if they are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (revision, sub) = bytes.split_first_chunk::<8>()?;
        Some(Self {
            revision: Revision::new(u64::from_be_bytes(*revision))?,
            sub: u32::from_be_bytes(sub.try_into().ok()?),
        })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.revision, self.sub)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip_and_sort_as_positions() {
        let at = |revision, sub| Position {
            revision: Revision::new(revision).unwrap(),
            sub,
        };
        let rising = [
            at(1, 0),
            at(1, 1),
            at(1, 256),
            at(2, 0),
            at(255, 9),
            at(256, 0),
        ];
        for pair in rising.windows(2) {
            assert!(pair[0].to_bytes() < pair[1].to_bytes());
        }
        for position in rising {
            assert_eq!(Position::from_bytes(&position.to_bytes()), Some(position));
        }
        assert_eq!(Position::from_bytes(&[0; 12]), None);
        assert_eq!(Position::from_bytes(&[1; 11]), None);
    }
}
