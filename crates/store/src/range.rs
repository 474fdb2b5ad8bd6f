//! [`KeyRange`]: which keys.

use std::ops::Bound;

use bytes::Bytes;

/// A set of keys that lie side by side. Keys compare as unsigned bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeyRange {
    /// This key alone.
    One(Bytes),
    /// Every key from `from` (included) until `until` (excluded). Empty if `until <= from`.
    Between {
        /// The first key.
        from: Bytes,
        /// The key behind the last one.
        until: Bytes,
    },
    /// This key and every key behind it.
    From(Bytes),
}

/// The two ends of a range, as an ordered map wants them.
pub(crate) type Ends<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

impl KeyRange {
    /// Every key.
    pub fn all() -> Self {
        Self::From(Bytes::new())
    }

    /// Every key that begins with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        let mut until = prefix.to_vec();
        while let Some(last) = until.pop() {
            if last < u8::MAX {
                until.push(last + 1);
                return Self::Between {
                    from: Bytes::copy_from_slice(prefix),
                    until: until.into(),
                };
            }
        }
        Self::From(Bytes::copy_from_slice(prefix))
    }

    /// The part of this range behind `key`: where the next page begins.
    pub fn after(&self, key: &[u8]) -> Self {
        let mut from = Vec::with_capacity(key.len() + 1);
        from.extend_from_slice(key);
        from.push(0);
        let from = Bytes::from(from);
        match self {
            Self::One(one) if one.as_ref() > key => self.clone(),
            Self::One(_) => Self::Between {
                until: from.clone(),
                from,
            },
            Self::Between { from: first, .. } | Self::From(first) if first.as_ref() > key => {
                self.clone()
            }
            Self::Between { until, .. } => Self::Between {
                from,
                until: until.clone(),
            },
            Self::From(_) => Self::From(from),
        }
    }

    /// Whether `key` lies in this range.
    pub fn contains(&self, key: &[u8]) -> bool {
        match self {
            Self::One(one) => one == key,
            Self::Between { from, until } => from <= key && key < until.as_ref(),
            Self::From(from) => from <= key,
        }
    }

    /// The ends; `None` if nothing can lie between them.
    pub(crate) fn ends(&self) -> Option<Ends<'_>> {
        match self {
            Self::One(key) => Some((Bound::Included(key), Bound::Included(key))),
            Self::Between { from, until } if from >= until => None,
            Self::Between { from, until } => Some((Bound::Included(from), Bound::Excluded(until))),
            Self::From(from) => Some((Bound::Included(from), Bound::Unbounded)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_next_sibling_even_behind_ff_bytes() {
        let range = KeyRange::prefix(b"/a/\xff\xff");
        assert!(range.contains(b"/a/\xff\xff") && range.contains(b"/a/\xff\xff\x00z"));
        assert!(!range.contains(b"/a/\xff") && !range.contains(b"/a0"));
        assert_eq!(
            KeyRange::prefix(b"\xff"),
            KeyRange::From(Bytes::from_static(b"\xff"))
        );
        assert_eq!(KeyRange::prefix(b""), KeyRange::all());
    }

    #[test]
    fn the_range_after_a_key_leaves_out_that_key_and_all_before() {
        for range in [
            KeyRange::prefix(b"a"),
            KeyRange::all(),
            KeyRange::One("ab".into()),
        ] {
            let rest = range.after(b"ab");
            assert!(!rest.contains(b"ab") && !rest.contains(b"aa"));
            assert_eq!(rest.contains(b"ab\x00"), range.contains(b"ab\x00"));
            let behind_nothing = range.after(b"A");
            assert!(behind_nothing.contains(b"ab") && !behind_nothing.contains(b"A"));
        }
        assert!(KeyRange::One("ab".into()).after(b"ab").ends().is_none());
    }
}
