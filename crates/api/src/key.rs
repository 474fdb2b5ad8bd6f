//! [`Key`]: an object's place within its resource.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// `namespace/name`, or `name` for a cluster-scoped object. Ordered by bytes, which is the order
/// of every list. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// The key of `name` in `namespace`; an empty namespace is cluster scope.
    pub fn new(namespace: &str, name: &str) -> Self {
        if namespace.is_empty() {
            return Self(name.into());
        }
        let mut text = String::with_capacity(namespace.len() + 1 + name.len());
        text.push_str(namespace);
        text.push('/');
        text.push_str(name);
        Self(text.into())
    }

    /// The key that has this text, taken as it is.
    pub fn from_text(text: &str) -> Self {
        Self(text.into())
    }

    /// `namespace/name` or `name`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The namespace, empty for cluster scope.
    pub fn namespace(&self) -> &str {
        self.0
            .split_once('/')
            .map_or("", |(namespace, _)| namespace)
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.0.split_once('/').map_or(&self.0, |(_, name)| name)
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_taken_apart_as_they_were_made() {
        for (namespace, name, text) in [("ns", "a", "ns/a"), ("", "a", "a")] {
            let key = Key::new(namespace, name);
            assert_eq!(
                (key.namespace(), key.name(), key.as_str()),
                (namespace, name, text)
            );
            assert_eq!(Key::from_text(text), key);
        }
    }
}
