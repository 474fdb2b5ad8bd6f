//! [`ListOptions`]: what a list or watch request asks for.

use crate::{FieldError, FieldSelector, LabelSelector, Query, Status};

const EXACT: &str = "Exact";
const NOT_OLDER_THAN: &str = "NotOlderThan";

/// The options of a list, a watch or a deletion of a collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// `labelSelector`
    pub label_selector: LabelSelector,
    /// `fieldSelector`
    pub field_selector: FieldSelector,
    /// `watch`
    pub watch: bool,
    /// `allowWatchBookmarks`
    pub allow_watch_bookmarks: bool,
    /// `resourceVersion` as it was sent.
    pub resource_version: String,
    /// `resourceVersionMatch` as it was sent; empty is none.
    pub resource_version_match: Option<String>,
    /// `sendInitialEvents`
    pub send_initial_events: Option<bool>,
    /// `timeoutSeconds`
    pub timeout_seconds: Option<i64>,
    /// `limit`; 0 and below is no limit.
    pub limit: i64,
    /// `continue` as it was sent.
    pub continue_token: String,
}

impl ListOptions {
    /// Reads the options from the parameters; unknown ones are ignored.
    ///
    /// # Errors
    /// 400 with the first fault: integers come before selectors.
    pub fn decode(query: &Query) -> Result<Self, Status> {
        let text = |name: &str| query.get(name).unwrap_or_default().to_owned();
        let timeout_seconds = query.integer("timeoutSeconds")?;
        let limit = query.integer("limit")?.unwrap_or_default();
        let labels = query.get("labelSelector").unwrap_or_default();
        let fields = query.get("fieldSelector").unwrap_or_default();
        Ok(Self {
            label_selector: LabelSelector::parse(labels).map_err(Status::bad_request)?,
            field_selector: FieldSelector::parse(fields).map_err(Status::bad_request)?,
            watch: query.boolean("watch").unwrap_or_default(),
            allow_watch_bookmarks: query.boolean("allowWatchBookmarks").unwrap_or_default(),
            resource_version: text("resourceVersion"),
            resource_version_match: Some(text("resourceVersionMatch")).filter(|m| !m.is_empty()),
            send_initial_events: query.boolean("sendInitialEvents"),
            timeout_seconds,
            limit,
            continue_token: text("continue"),
        })
    }

    /// A watch from nothing or from 0 that says no more is a streaming list. To be called before
    /// validation; changes nothing where `watch` is false.
    pub fn apply_watch_defaults(&mut self) {
        if self.watch
            && self.send_initial_events.is_none()
            && self.resource_version_match.is_none()
            && matches!(self.resource_version.as_str(), "" | "0")
        {
            self.send_initial_events = Some(true);
            self.resource_version_match = Some(NOT_OLDER_THAN.to_owned());
        }
    }

    /// Checks by the rules for lists, which also hold on a `/watch/` path without `watch=true`.
    ///
    /// # Errors
    /// 422 with all faults.
    pub fn validate_list(&self) -> Result<(), Status> {
        let mut faults = Faults::default();
        if let Some(wanted) = self.resource_version_match.as_deref() {
            if self.resource_version.is_empty() {
                faults.forbid_match(
                    "resourceVersionMatch is forbidden unless resourceVersion is provided",
                );
            }
            self.check_continue(&mut faults);
            if wanted != EXACT && wanted != NOT_OLDER_THAN {
                faults.unknown_match(wanted, &[EXACT, NOT_OLDER_THAN, ""]);
            }
            if wanted == EXACT && self.resource_version == "0" {
                faults.forbid_match(
                    "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
                );
            }
        }
        if self.send_initial_events.is_some() {
            let detail = "sendInitialEvents is forbidden for list";
            faults
                .0
                .push(FieldError::forbidden("sendInitialEvents", detail));
        }
        faults.into_result()
    }

    /// Checks by the rules for watches, after [`Self::apply_watch_defaults`].
    ///
    /// # Errors
    /// 422 with all faults.
    pub fn validate_watch(&self) -> Result<(), Status> {
        let mut faults = Faults::default();
        let wanted = self.resource_version_match.as_deref();
        if self.send_initial_events.is_some() && wanted != Some(NOT_OLDER_THAN) {
            faults.forbid_match(
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            );
        }
        if let Some(wanted) = wanted {
            if self.send_initial_events.is_none() {
                faults.forbid_match(
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is \
                     provided",
                );
            }
            if wanted != NOT_OLDER_THAN {
                faults.unknown_match(wanted, &[NOT_OLDER_THAN]);
            }
            self.check_continue(&mut faults);
        }
        faults.into_result()
    }

    fn check_continue(&self, faults: &mut Faults) {
        if !self.continue_token.is_empty() {
            faults.forbid_match("resourceVersionMatch is forbidden when continue is provided");
        }
    }
}

#[derive(Default)]
struct Faults(Vec<FieldError>);

impl Faults {
    fn forbid_match(&mut self, detail: &str) {
        self.0
            .push(FieldError::forbidden("resourceVersionMatch", detail));
    }

    fn unknown_match(&mut self, wanted: &str, supported: &[&str]) {
        self.0.push(FieldError::not_supported(
            "resourceVersionMatch",
            wanted,
            supported,
        ));
    }

    fn into_result(self) -> Result<(), Status> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Status::invalid("meta.k8s.io", "ListOptions", "", &self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "ListOptions.meta.k8s.io \"\" is invalid: ";

    fn decoded(query: &str) -> ListOptions {
        let mut options = ListOptions::decode(&Query::parse(query).unwrap()).unwrap();
        options.apply_watch_defaults();
        options
    }

    fn check(query: &str, fault: &str) {
        let options = decoded(query);
        let checked = if options.watch {
            options.validate_watch()
        } else {
            options.validate_list()
        };
        let text = checked.err().map(|status| status.message);
        let wanted = (!fault.is_empty()).then(|| format!("{HEAD}{fault}"));
        assert_eq!(text, wanted, "{query}");
    }

    #[test]
    fn lists_are_checked_by_their_rules() {
        let unless = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless \
                      resourceVersion is provided";
        let with_continue = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden \
                             when continue is provided";
        let events = "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list";
        check("resourceVersion=5&resourceVersionMatch=Exact", "");
        check("resourceVersionMatch=", "");
        check("resourceVersionMatch=Exact", unless);
        check(
            "resourceVersionMatch=Exact&continue=x",
            &format!("[{unless}, {with_continue}]"),
        );
        check(
            "resourceVersionMatch=Exact&continue=x&resourceVersion=5",
            with_continue,
        );
        check(
            "resourceVersionMatch=Bogus&resourceVersion=5",
            "resourceVersionMatch: Unsupported value: \"Bogus\": supported values: \"Exact\", \
             \"NotOlderThan\", \"\"",
        );
        check(
            "resourceVersionMatch=Exact&resourceVersion=0",
            "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for \
             resourceVersion \"0\"",
        );
        check("sendInitialEvents=false", events);
        check(
            "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&watch=false",
            &format!("[{unless}, {events}]"),
        );
    }

    #[test]
    fn watches_are_checked_by_their_rules_after_defaulting() {
        let requires = "resourceVersionMatch: Forbidden: sendInitialEvents requires setting \
                        resourceVersionMatch to NotOlderThan";
        let unless = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch \
                      unless sendInitialEvents is provided";
        let exact = "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \
                     \"NotOlderThan\"";
        check("watch", "");
        check("watch=1&resourceVersion=5&continue=x", "");
        check("watch=1&sendInitialEvents=true", requires);
        check("watch=1&resourceVersionMatch=NotOlderThan", unless);
        check(
            "watch=1&resourceVersionMatch=Exact",
            &format!("[{unless}, {exact}]"),
        );
        check(
            "watch=1&sendInitialEvents=1&resourceVersionMatch=Exact",
            &format!("[{requires}, {exact}]"),
        );
        check(
            "watch=1&continue=x",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is \
             provided",
        );
    }

    #[test]
    fn a_watch_from_nothing_is_a_streaming_list() {
        for (query, events) in [
            ("watch=1", Some(true)),
            ("watch=1&resourceVersion=0", Some(true)),
            ("watch=1&resourceVersion=7", None),
            (
                "watch=1&sendInitialEvents=0&resourceVersionMatch=NotOlderThan",
                Some(false),
            ),
            ("resourceVersion=0", None),
        ] {
            assert_eq!(decoded(query).send_initial_events, events, "{query}");
        }
    }

    #[test]
    fn integers_are_refused_before_selectors() {
        let refuse = |query: &str| {
            ListOptions::decode(&Query::parse(query).unwrap())
                .unwrap_err()
                .message
        };
        let limit = "strconv.ParseInt: parsing \"x\": invalid syntax";
        assert_eq!(refuse("labelSelector=!&limit=x"), limit);
        assert_eq!(
            refuse("fieldSelector=a&labelSelector=!"),
            "unable to parse requirement: found '', expected: identifier"
        );
    }
}
