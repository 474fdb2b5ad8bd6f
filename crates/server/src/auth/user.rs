//! [`User`]: who sends a request.

use x509_parser::prelude::{FromDer, X509Certificate};

/// The group whose members may do everything.
const MASTERS: &str = "system:masters";
/// The group of everybody with a good credential.
const AUTHENTICATED: &str = "system:authenticated";

/// Somebody known by name, and the groups that this somebody is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    name: String,
    groups: Vec<String>,
}

impl User {
    /// The user `name`, in `groups` and in the group of all with a credential.
    pub fn authenticated(name: &str, groups: impl IntoIterator<Item = String>) -> Self {
        let mut groups: Vec<String> = groups.into_iter().collect();
        if !groups.iter().any(|group| group == AUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        Self {
            name: name.to_owned(),
            groups,
        }
    }

    /// The owner of this server, whom its kubeconfig and its token name.
    pub fn admin() -> Self {
        Self::authenticated(super::ADMIN, [MASTERS.to_owned()])
    }

    /// Somebody without a credential.
    pub fn anonymous() -> Self {
        Self {
            name: "system:anonymous".to_owned(),
            groups: vec!["system:unauthenticated".to_owned()],
        }
    }

    /// Whom a certificate names: the common name is the user, the organisations are the groups.
    /// `None` where it has no common name. Whether it can be trusted was found out before.
    pub fn from_certificate(der: &[u8]) -> Option<Self> {
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let subject = certificate.subject();
        let name = subject.iter_common_name().next()?.as_str().ok()?;
        if name.is_empty() {
            return None;
        }
        let groups = subject
            .iter_organization()
            .filter_map(|group| group.as_str().ok());
        Some(Self::authenticated(name, groups.map(ToOwned::to_owned)))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The groups.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.iter().map(String::as_str)
    }

    /// Whether this user may do everything.
    pub fn is_master(&self) -> bool {
        self.groups().any(|group| group == MASTERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_admin_is_a_master_and_anonymous_is_not() {
        assert!(User::admin().is_master());
        assert_eq!(User::admin().name(), "masthead-admin");
        assert!(!User::anonymous().is_master());
        assert!(!User::authenticated("eve", []).is_master());
    }

    #[test]
    fn nonsense_is_no_certificate() {
        assert_eq!(User::from_certificate(b""), None);
        assert_eq!(User::from_certificate(b"0\x82\xff\xff"), None);
    }
}
