//! What an object's name may be, by resource.

use masthead_api::subdomain_errors;

use crate::catalog::Resource;

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
/// Longest label of a DNS name.
const LABEL_MAX: usize = 63;
/// Longest name of a cron job: its jobs' names are eleven characters longer.
const CRON_JOB_MAX: usize = 52;

/// Whether a text is a whole name or the first part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// `metadata.name`.
    Whole,
    /// `metadata.generateName`: may end with a dash.
    Prefix,
}

/// Which names a resource's objects may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// A DNS name.
    Subdomain,
    /// One label of a DNS name.
    Label,
    /// Anything that can stand in a path.
    PathSegment,
    /// A DNS name short enough for what is made from it.
    CronJob,
}

/// Resources whose names are no DNS names.
const RULES: &[(&str, &str, NameRule)] = &[
    ("", "namespaces", NameRule::Label),
    ("", "services", NameRule::Label),
    ("batch", "cronjobs", NameRule::CronJob),
    ("rbac.authorization.k8s.io", "roles", NameRule::PathSegment),
    (
        "rbac.authorization.k8s.io",
        "rolebindings",
        NameRule::PathSegment,
    ),
    (
        "rbac.authorization.k8s.io",
        "clusterroles",
        NameRule::PathSegment,
    ),
    (
        "rbac.authorization.k8s.io",
        "clusterrolebindings",
        NameRule::PathSegment,
    ),
    (
        "apiregistration.k8s.io",
        "apiservices",
        NameRule::PathSegment,
    ),
    (
        "certificates.k8s.io",
        "certificatesigningrequests",
        NameRule::PathSegment,
    ),
    ("networking.k8s.io", "ipaddresses", NameRule::PathSegment),
];

impl NameRule {
    /// The rule for the objects of `resource`.
    pub fn of(resource: &Resource) -> Self {
        RULES
            .iter()
            .find(|(group, plural, _)| {
                *group == resource.group.as_ref() && *plural == resource.plural.as_ref()
            })
            .map_or(Self::Subdomain, |(_, _, rule)| *rule)
    }

    /// What is wrong with `name`; empty if nothing is.
    pub fn complaints(self, name: &str, form: NameForm) -> Vec<String> {
        match self {
            Self::Subdomain => subdomain(&masked(name, form)),
            Self::Label => label(&masked(name, form)),
            Self::PathSegment => path_segment(name, form),
            Self::CronJob => {
                let mut complaints = subdomain(&masked(name, form));
                if form == NameForm::Whole && name.len() > CRON_JOB_MAX {
                    complaints.push(format!("must be no more than {CRON_JOB_MAX} characters"));
                }
                complaints
            }
        }
    }
}

/// A prefix may end where the generated part goes on.
fn masked(name: &str, form: NameForm) -> String {
    match name.strip_suffix('-') {
        Some(front) if form == NameForm::Prefix && !front.is_empty() => format!("{front}a"),
        _ => name.to_owned(),
    }
}

fn label(name: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if name.len() > LABEL_MAX {
        complaints.push(format!("must be no more than {LABEL_MAX} characters"));
    }
    if !subdomain_errors(name).is_empty() || name.contains('.') {
        let dots = subdomain_errors(name).is_empty();
        complaints.push(if dots {
            "must not contain dots".to_owned()
        } else {
            LABEL.to_owned()
        });
    }
    complaints
}

fn subdomain(name: &str) -> Vec<String> {
    // The length is told in other words here than inside of a label's key.
    let reworded = |complaint: String| complaint.replace(" bytes", " characters");
    subdomain_errors(name).into_iter().map(reworded).collect()
}

fn path_segment(name: &str, form: NameForm) -> Vec<String> {
    if form == NameForm::Whole && (name == "." || name == "..") {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"]
        .into_iter()
        .filter(|part| name.contains(part))
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

    fn check(rule: NameRule, name: &str, expected: &[&str]) {
        assert_eq!(rule.complaints(name, NameForm::Whole), expected, "{name}");
    }

    #[test]
    fn names_are_refused_with_the_texts_that_clients_know() {
        let long = "x".repeat(254);
        for name in [
            "Upper", "a_b", "-a", "a-", ".a", "a..b", "a/b", "a%b", "..", "a b", "ü", "",
        ] {
            check(NameRule::Subdomain, name, &[SUBDOMAIN]);
        }
        check(
            NameRule::Subdomain,
            &long,
            &["must be no more than 253 characters"],
        );
        for name in ["Upper", "a_b", "-a"] {
            check(NameRule::Label, name, &[LABEL]);
        }
        check(NameRule::Label, "a.b", &["must not contain dots"]);
        check(
            NameRule::Label,
            &"x".repeat(64),
            &["must be no more than 63 characters"],
        );
        check(NameRule::PathSegment, "A:b.c/d", &["may not contain '/'"]);
        check(NameRule::PathSegment, "..", &["may not be '..'"]);
        check(
            NameRule::CronJob,
            &"x".repeat(53),
            &["must be no more than 52 characters"],
        );
    }

    #[test]
    fn names_that_are_good_are_left_alone() {
        for (rule, name) in [
            (NameRule::Subdomain, "a.b-c.9"),
            (NameRule::Label, "1a"),
            (NameRule::PathSegment, "A:b c"),
            (NameRule::CronJob, "nightly"),
        ] {
            check(rule, name, &[]);
        }
        assert!(
            NameRule::Subdomain
                .complaints("g-", NameForm::Prefix)
                .is_empty()
        );
        assert!(
            !NameRule::Subdomain
                .complaints("Bad_", NameForm::Prefix)
                .is_empty()
        );
    }
}
