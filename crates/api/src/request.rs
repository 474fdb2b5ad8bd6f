//! [`Path`]: which resource a request path is about.
//!
//! ```text
//! /api/v1/namespaces/ns/pods/p/log         group "", namespace ns, resource pods, name p, subresource log
//! /api/v1/namespaces/ns                    namespace ns, resource namespaces, name ns
//! /api/v1/namespaces/ns/finalize           namespace ns, resource namespaces, name ns, subresource finalize
//! /apis/apps/v1/watch/deployments          group apps, resource deployments, watch_prefix
//! /apis/apps/v1, /version, /healthz        no resource
//! ```
//! The whole path is unescaped before it is split, so `%2F` separates segments as upstream has it.
//! Empty segments, `.` and `..` are kept as they are: no resource has such a name, so they end in
//! a 404.

use crate::query::{Plus, decode};

/// Longest path that is read.
const PATH_BYTES_MAX: usize = 16 * 1024;
/// Most segments of a path: a guess far above any resource path.
const SEGMENTS_MAX: usize = 256;
/// What may follow a namespace's name without being a resource in it.
const NAMESPACE_SUBRESOURCES: [&str; 2] = ["status", "finalize"];

/// What a request path is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Path {
    /// A resource, which may not exist.
    Resource(ResourcePath),
    /// Anything else, unescaped.
    NonResource(String),
}

/// A path to a resource, by its form alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourcePath {
    /// The API group, empty for the core group.
    pub group: String,
    /// The API version.
    pub version: String,
    /// The namespace; for a path to a namespace, that one.
    pub namespace: Option<String>,
    /// The resource (plural).
    pub resource: String,
    /// The object's name.
    pub name: Option<String>,
    /// The subresource.
    pub subresource: Option<String>,
    /// What follows the subresource.
    pub extra: Vec<String>,
    /// Is it a path of the deprecated form `…/watch/…`?
    pub watch_prefix: bool,
}

/// Why a path cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Answered as 400 in plain text.
    #[error("malformed percent-escape in the path")]
    Escape,
    /// Answered as 414.
    #[error("path longer than {PATH_BYTES_MAX} bytes or {SEGMENTS_MAX} segments")]
    TooLong,
    /// `…/watch` with nothing behind it: answered as 500 in plain text.
    #[error("unable to determine kind and namespace from url, {path}")]
    WatchOfNothing {
        /// The path as it was sent.
        path: String,
    },
}

impl Path {
    /// Reads the path of a request (without the query), still escaped.
    ///
    /// # Errors
    /// [`PathError`] where it is malformed or too long.
    pub fn parse(raw: &str) -> Result<Self, PathError> {
        if raw.len() > PATH_BYTES_MAX {
            return Err(PathError::TooLong);
        }
        let path = decode(raw, Plus::Plus).ok_or(PathError::Escape)?;
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        if parts.len() > SEGMENTS_MAX {
            return Err(PathError::TooLong);
        }
        let found = match parts.as_slice() {
            ["api", version, rest @ ..] if !rest.is_empty() => {
                Some(ResourcePath::parse("", version, rest))
            }
            ["apis", group, version, rest @ ..] if !rest.is_empty() => {
                Some(ResourcePath::parse(group, version, rest))
            }
            _ => None,
        };
        match found {
            Some(Some(resource)) => Ok(Self::Resource(resource)),
            Some(None) => Err(PathError::WatchOfNothing {
                path: raw.to_owned(),
            }),
            None => Ok(Self::NonResource(path)),
        }
    }
}

impl ResourcePath {
    /// `None` for `watch` with nothing behind it.
    fn parse(group: &str, version: &str, parts: &[&str]) -> Option<Self> {
        let (watch_prefix, parts) = match parts {
            ["watch"] => return None,
            ["watch", rest @ ..] => (true, rest),
            parts => (false, parts),
        };
        let (namespace, parts) = match parts {
            ["namespaces", namespace, rest @ ..] => match rest {
                [next, ..] if !NAMESPACE_SUBRESOURCES.contains(next) => (Some(*namespace), rest),
                _ => (Some(*namespace), parts),
            },
            parts => (None, parts),
        };
        let part = |at: usize| parts.get(at).map(|&part| part.to_owned());
        Some(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            namespace: namespace.map(str::to_owned),
            resource: part(0).unwrap_or_default(),
            name: part(1),
            subresource: part(2),
            extra: parts.iter().skip(3).map(|&part| part.to_owned()).collect(),
            watch_prefix,
        })
    }

    /// The verb for authorisation: what `method` is on this path, where `watch` is the parameter.
    pub fn verb(&self, method: &str, watch: bool) -> &'static str {
        if self.watch_prefix {
            return "watch";
        }
        match (method, self.name.is_some()) {
            ("GET" | "HEAD", true) => "get",
            ("GET" | "HEAD", false) if watch => "watch",
            ("GET" | "HEAD", false) => "list",
            ("POST", _) => "create",
            ("PUT", _) => "update",
            ("PATCH", _) => "patch",
            ("DELETE", true) => "delete",
            ("DELETE", false) => "deletecollection",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `group/version namespace resource name subresource extra…`, `-` for none.
    fn shown(path: &str) -> String {
        match Path::parse(path) {
            Err(error) => error.to_string(),
            Ok(Path::NonResource(path)) => format!("none {path}"),
            Ok(Path::Resource(found)) => {
                let or = |text: &Option<String>| text.clone().unwrap_or("-".to_owned());
                let mut text = format!(
                    "{}/{} {} {} {} {}",
                    found.group,
                    found.version,
                    or(&found.namespace),
                    found.resource,
                    or(&found.name),
                    or(&found.subresource)
                );
                for extra in &found.extra {
                    text.push(' ');
                    text.push_str(extra);
                }
                if found.watch_prefix {
                    text.push_str(" (watch)");
                }
                text
            }
        }
    }

    #[test]
    fn paths_are_read_as_upstream_reads_them() {
        for (path, wanted) in [
            ("/api/v1/pods", "/v1 - pods - -"),
            ("/api/v1/namespaces/ns/pods", "/v1 ns pods - -"),
            ("/api/v1/namespaces/ns/pods/", "/v1 ns pods - -"),
            ("/api/v1/namespaces/ns/pods/p/log", "/v1 ns pods p log"),
            (
                "/api/v1/namespaces/ns/services/s/proxy/a/b",
                "/v1 ns services s proxy a b",
            ),
            ("/api/v1/namespaces", "/v1 - namespaces - -"),
            ("/api/v1/namespaces/ns", "/v1 ns namespaces ns -"),
            (
                "/api/v1/namespaces/ns/status",
                "/v1 ns namespaces ns status",
            ),
            (
                "/api/v1/namespaces/ns/finalize",
                "/v1 ns namespaces ns finalize",
            ),
            ("/apis/apps/v1/deployments", "apps/v1 - deployments - -"),
            (
                "/apis/apps/v1/watch/deployments",
                "apps/v1 - deployments - - (watch)",
            ),
            (
                "/api/v1/watch/namespaces/ns/pods/p",
                "/v1 ns pods p - (watch)",
            ),
            (
                "/api/v1/watch/namespaces/ns",
                "/v1 ns namespaces ns - (watch)",
            ),
            (
                "/api/v1/watch",
                "unable to determine kind and namespace from url, /api/v1/watch",
            ),
            ("/api/v1", "none /api/v1"),
            ("/apis/apps/v1/", "none /apis/apps/v1/"),
            ("/", "none /"),
            ("", "none "),
            ("/healthz/etcd", "none /healthz/etcd"),
            (
                "/api/v1/namespaces/ns/configmaps/%78",
                "/v1 ns configmaps x -",
            ),
            (
                "/api/v1/namespaces/ns/configmaps/x%2F",
                "/v1 ns configmaps x -",
            ),
            (
                "/api/v1/namespaces/ns/configmaps/x%20",
                "/v1 ns configmaps x  -",
            ),
            (
                "/api/v1/namespaces/ns/configmaps/a+b",
                "/v1 ns configmaps a+b -",
            ),
            (
                "/api/v1/namespaces/ns/configmaps/%zz",
                "malformed percent-escape in the path",
            ),
            (
                "/api/v1//namespaces/ns/configmaps",
                "/v1 -  namespaces ns configmaps",
            ),
            (
                "/api/v1/namespaces/ns/configmaps/./x",
                "/v1 ns configmaps . x",
            ),
        ] {
            assert_eq!(shown(path), wanted, "{path}");
        }
        assert_eq!(Path::parse(&"/a".repeat(300)), Err(PathError::TooLong));
        assert_eq!(
            Path::parse(&"a".repeat(PATH_BYTES_MAX + 1)),
            Err(PathError::TooLong)
        );
    }

    #[test]
    fn the_verb_follows_method_name_and_prefix() {
        let verb = |path: &str, method: &str, watch: bool| match Path::parse(path).unwrap() {
            Path::Resource(found) => found.verb(method, watch),
            Path::NonResource(_) => "none",
        };
        assert_eq!(verb("/api/v1/pods", "GET", false), "list");
        assert_eq!(verb("/api/v1/pods", "GET", true), "watch");
        assert_eq!(verb("/api/v1/namespaces/a", "GET", true), "get");
        assert_eq!(verb("/api/v1/watch/pods", "GET", false), "watch");
        assert_eq!(verb("/api/v1/pods", "DELETE", false), "deletecollection");
        assert_eq!(verb("/api/v1/pods", "BREW", false), "");
    }
}
