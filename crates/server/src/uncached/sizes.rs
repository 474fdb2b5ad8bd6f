//! [`CacheSizes`]: `--watch-cache-sizes`, as kube-apiserver reads it.

use std::str::FromStr;

/// `resource[.group]#size,…`: a size of zero serves a resource without a cache. Other sizes mean
/// nothing, since the history takes its size from the traffic. Events have size 0 unless they are
/// named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheSizes(Vec<Entry>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    plural: Box<str>,
    group: Box<str>,
    size: u64,
}

/// Why sizes cannot be read; the texts are upstream's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CacheSizesError {
    /// There is no single `#`.
    #[error("invalid value of watch cache size: {entry}")]
    Form {
        /// The entry.
        entry: String,
    },
    /// The size is no number.
    #[error("invalid size of watch cache size: {entry}")]
    Size {
        /// The entry.
        entry: String,
    },
    /// The size is below zero.
    #[error("watch cache size cannot be negative: {entry}")]
    Negative {
        /// The entry.
        entry: String,
    },
}

impl CacheSizes {
    /// Is this resource served without a cache?
    pub(crate) fn is_zero(&self, group: &str, plural: &str) -> bool {
        // Both groups of Events are one and the same objects: what is said of either counts.
        let is_event = plural == "events" && matches!(group, "" | "events.k8s.io");
        let names = |entry: &&Entry| {
            let group_fits = *entry.group == *group
                || (is_event && matches!(entry.group.as_ref(), "" | "events.k8s.io"));
            *entry.plural == *plural && group_fits
        };
        // The last word counts.
        self.0
            .iter()
            .rev()
            .find(names)
            .map_or(is_event, |entry| entry.size == 0)
    }
}

impl FromStr for CacheSizes {
    type Err = CacheSizesError;

    fn from_str(text: &str) -> Result<Self, CacheSizesError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        text.split(',')
            .map(Entry::parse)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl Entry {
    fn parse(text: &str) -> Result<Self, CacheSizesError> {
        let entry = || text.to_owned();
        let form = || CacheSizesError::Form { entry: entry() };
        let (name, size) = text.split_once('#').ok_or_else(form)?;
        if size.contains('#') {
            return Err(form());
        }
        let size: i64 = size
            .parse()
            .map_err(|_| CacheSizesError::Size { entry: entry() })?;
        let size = u64::try_from(size).map_err(|_| CacheSizesError::Negative { entry: entry() })?;
        let (plural, group) = name.split_once('.').unwrap_or((name, ""));
        Ok(Self {
            plural: plural.into(),
            group: group.into(),
            size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_refused_with_upstreams_texts() {
        let check = |text: &str, error: &str| {
            assert_eq!(text.parse::<CacheSizes>().unwrap_err().to_string(), error);
        };
        check("pods", "invalid value of watch cache size: pods");
        check(
            "a#1,pods#1#2",
            "invalid value of watch cache size: pods#1#2",
        );
        check("pods#", "invalid size of watch cache size: pods#");
        check("pods#many", "invalid size of watch cache size: pods#many");
        check("pods#-1", "watch cache size cannot be negative: pods#-1");
        check("pods#1,", "invalid value of watch cache size: ");
    }

    #[test]
    fn the_last_entry_for_a_resource_counts() {
        let sizes: CacheSizes = "pods#0,pods#100,events.events.k8s.io#1".parse().unwrap();
        assert!(!sizes.is_zero("", "pods"));
        assert!(!sizes.is_zero("", "events"));
        assert!(!sizes.is_zero("metrics.k8s.io", "pods"));
        assert!(CacheSizes::default().is_zero("events.k8s.io", "events"));
    }
}
