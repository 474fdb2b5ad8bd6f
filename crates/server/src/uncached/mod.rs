//! Resources that are served without a watch cache, as upstream keeps Events.
//!
//! The cache is there nevertheless, since it is exact and cheap; what makes a resource uncached is
//! that clients see the other rules:
//!
//! | | cached | uncached |
//! |---|---|---|
//! | a watch reaches back to | what the cache's history holds | what the store holds |
//! | a version compacted away | is still read from the cache | 410 |
//! | periodic bookmarks | yes | none |
//! | limit beside version 0 | does not count | counts |
//! | a version of the future | is waited for | 504 at once |
//! | `start` of a continue token | `/ns/name` | `ns/name` |

mod past;
mod sizes;

use base64::Engine as _;
use masthead_api::{ContinueToken, Revision, Status};
use masthead_objects::Resource;

pub use sizes::{CacheSizes, CacheSizesError};

pub(crate) use past::Past;

use crate::config::Config;

/// Versions from here on are none that a store could ever reach: upstream's are signed numbers.
const VERSION_MAX: u64 = i64::MAX as u64;

/// By which rules a resource is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caching {
    /// Those of a watch cache.
    Cached,
    /// Those of the store itself.
    Uncached,
}

impl Caching {
    /// The rules for `resource` under these settings.
    pub(crate) fn of(config: &Config, resource: &Resource) -> Self {
        let uncached = !config.watch_cache
            || config
                .watch_cache_sizes
                .is_zero(&resource.group, &resource.plural);
        if uncached {
            Self::Uncached
        } else {
            Self::Cached
        }
    }

    /// The token that goes on with `start`, which is relative to the list's scope.
    pub(crate) fn encode(self, token: &ContinueToken) -> String {
        match self {
            Self::Cached => token.encode(),
            Self::Uncached => encode_bare(token),
        }
    }
}

/// A token whose key has no slash in front, as upstream's store writes it.
fn encode_bare(token: &ContinueToken) -> String {
    let json = serde_json::json!({
        "v": "meta.k8s.io/v1",
        "rv": token.revision,
        "start": token.start,
    });
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(json.to_string())
}

/// What a watch from `version` is told whose beginning the store does not have any more, or never
/// will.
pub(crate) fn refuse_watch(version: u64, compacted: Option<Revision>) -> Option<Status> {
    let too_old = compacted.is_some_and(|compacted| version < compacted.get());
    (too_old || version >= VERSION_MAX)
        .then(|| Status::expired("The resourceVersion for the provided watch is too old."))
}

/// After how many seconds a watch from a version of the future may be tried again: 1 to 3, so that
/// clients do not come all at once.
pub(crate) fn retry_seconds(random: u128) -> u32 {
    u32::try_from(random % 3).unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use masthead_objects::Catalog;

    fn caching(config: &Config, group: &str, version: &str, plural: &str) -> Caching {
        let resource = Catalog::builtin().resource(group, version, plural).unwrap();
        Caching::of(config, resource)
    }

    #[test]
    fn events_of_both_groups_are_uncached_unless_a_size_says_otherwise() {
        let mut config = Config::default();
        assert_eq!(caching(&config, "", "v1", "pods"), Caching::Cached);
        assert_eq!(caching(&config, "", "v1", "events"), Caching::Uncached);
        assert_eq!(
            caching(&config, "events.k8s.io", "v1", "events"),
            Caching::Uncached
        );
        config.watch_cache_sizes = "events#5,pods#0,deployments.apps#0".parse().unwrap();
        assert_eq!(caching(&config, "", "v1", "events"), Caching::Cached);
        assert_eq!(caching(&config, "", "v1", "pods"), Caching::Uncached);
        assert_eq!(
            caching(&config, "apps", "v1", "deployments"),
            Caching::Uncached
        );
        assert_eq!(
            caching(&config, "apps", "v1", "replicasets"),
            Caching::Cached
        );
        config.watch_cache = false;
        assert_eq!(
            caching(&config, "apps", "v1", "replicasets"),
            Caching::Uncached
        );
    }

    #[test]
    fn a_watch_begins_at_or_after_the_compacted_revision() {
        let refused =
            |version, compacted| refuse_watch(version, Revision::new(compacted)).is_some();
        assert!(!refused(7, 0));
        assert!(refused(6, 7));
        assert!(!refused(7, 7));
        assert!(!refused(900_000_000_000_000, 7));
        assert!(refused(i64::MAX as u64, 0) && refused(u64::MAX, 7));
    }

    #[test]
    fn a_bare_token_is_read_like_any_other() {
        let token = ContinueToken::after(7, "ns/a");
        let bare = Caching::Uncached.encode(&token);
        assert_ne!(bare, Caching::Cached.encode(&token));
        assert_eq!(ContinueToken::decode(&bare), Ok(token));
        assert!(
            bare.starts_with("eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nyw"),
            "{bare}"
        );
    }

    #[test]
    fn retries_are_spread_over_one_to_three_seconds() {
        assert_eq!([0, 1, 2, 3].map(retry_seconds), [1, 2, 3, 1]);
    }
}
