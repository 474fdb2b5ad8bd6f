//! [`DeleteOptions`]: how a deletion is to be done.

use masthead_api::{FieldError, Query, Status, json_type};
use serde_json::Value;

use crate::catalog::Catalog;
use crate::write::body;

const SCHEME: &str =
    r#"in scheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27""#;

/// What becomes of the dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// The object goes, the dependents are deleted later.
    Background,
    /// The dependents go first, then the object.
    Foreground,
    /// The dependents stay.
    Orphan,
}

/// How a deletion is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// How long the object may take to end, in seconds.
    pub grace_period_seconds: Option<i64>,
    /// The uid that the object must have.
    pub uid: Option<String>,
    /// The version that the object must have.
    pub resource_version: Option<String>,
    /// The old way of saying what becomes of the dependents.
    pub orphan_dependents: Option<bool>,
    /// What becomes of the dependents.
    pub propagation: Option<Propagation>,
    /// Is nothing to be stored?
    pub dry_run: bool,
}

impl DeleteOptions {
    /// Reads the options from a request's body or, if it is empty, from its query.
    ///
    /// # Errors
    /// 400 for what are no such options, 422 for options that make no sense.
    pub fn decode(bytes: &[u8], query: &Query) -> Result<Self, Status> {
        if bytes.is_empty() {
            Self::from_query(query)
        } else {
            Self::from_body(bytes)
        }
    }

    fn from_query(query: &Query) -> Result<Self, Status> {
        let dry_run: Vec<Value> = query
            .get_all("dryRun")
            .filter(|v| !v.is_empty())
            .map(Value::from)
            .collect();
        Self {
            grace_period_seconds: query.integer("gracePeriodSeconds")?,
            orphan_dependents: query.boolean("orphanDependents"),
            ..Self::default()
        }
        .checked(query.get("propagationPolicy"), &dry_run)
    }

    fn from_body(bytes: &[u8]) -> Result<Self, Status> {
        Self::of_value(&body::json(bytes).map_err(unreadable)?)
    }

    /// Reads the options from a value: a body, or a member of one.
    ///
    /// # Errors
    /// As [`decode`](Self::decode)'s.
    pub fn of_value(body: &Value) -> Result<Self, Status> {
        if !matches!(body, Value::Object(_) | Value::Null) {
            let found = json_type(body);
            return Err(unreadable(format!(
                "json: cannot unmarshal {found} into Go value of type v1.DeleteOptions"
            )));
        }
        check_kind(body)?;
        let member = |name: &str| body.get(name).unwrap_or(&Value::Null);
        let condition = |name: &str| member("preconditions").get(name).unwrap_or(&Value::Null);
        let options = Self {
            grace_period_seconds: typed(
                member("gracePeriodSeconds"),
                "gracePeriodSeconds",
                "int64",
                Value::as_i64,
            )?,
            uid: typed(condition("uid"), "preconditions.uid", "types.UID", text)?,
            resource_version: typed(
                condition("resourceVersion"),
                "preconditions.resourceVersion",
                "string",
                text,
            )?,
            orphan_dependents: typed(
                member("orphanDependents"),
                "orphanDependents",
                "bool",
                Value::as_bool,
            )?,
            ..Self::default()
        };
        let policy = typed(
            member("propagationPolicy"),
            "propagationPolicy",
            "v1.DeletionPropagation",
            text,
        )?;
        let dry_run = typed(member("dryRun"), "dryRun", "[]string", |v| {
            v.as_array().cloned()
        })?;
        options.checked(policy.as_deref(), &dry_run.unwrap_or_default())
    }

    fn checked(mut self, policy: Option<&str>, dry_run: &[Value]) -> Result<Self, Status> {
        let mut errors = Vec::new();
        let policy = policy.filter(|policy| !policy.is_empty());
        if let Some(policy) = policy {
            self.propagation = match policy {
                "Background" => Some(Propagation::Background),
                "Foreground" => Some(Propagation::Foreground),
                "Orphan" => Some(Propagation::Orphan),
                _ => None,
            };
            if self.orphan_dependents.is_some() {
                let detail = "orphanDependents and deletionPropagation cannot be both set";
                errors.push(FieldError::invalid("propagationPolicy", policy, detail));
            } else if self.propagation.is_none() {
                let known = ["Foreground", "Background", "Orphan", "nil"];
                errors.push(FieldError::not_supported(
                    "propagationPolicy",
                    policy,
                    &known,
                ));
            }
        }
        if dry_run.iter().any(|value| value != "All") {
            errors.push(FieldError::not_supported(
                "dryRun",
                dry_run.to_vec(),
                &["All"],
            ));
        }
        self.dry_run = !dry_run.is_empty();
        if errors.is_empty() {
            return Ok(self);
        }
        Err(Status::invalid("meta.k8s.io", "DeleteOptions", "", &errors))
    }
}

fn unreadable(complaint: impl std::fmt::Display) -> Status {
    Status::bad_request(format!(
        "couldn't get version/kind; json parse error: {complaint}"
    ))
}

/// The options may say that they are options, of any group's version that exists.
fn check_kind(body: &Value) -> Result<(), Status> {
    let text = |name: &str| {
        body.get(name)
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
    };
    let (kind, api_version) = (text("kind"), text("apiVersion"));
    let known_version = |version: &str| {
        version == "meta.k8s.io/v1"
            || Catalog::builtin()
                .iter()
                .any(|r| r.api_version.as_ref() == version)
    };
    let (kind, api_version) = (kind.unwrap_or("DeleteOptions"), api_version.unwrap_or("v1"));
    if kind == "DeleteOptions" && known_version(api_version) {
        return Ok(());
    }
    Err(Status::bad_request(format!(
        "no kind \"{kind}\" is registered for version \"{api_version}\" {SCHEME}"
    )))
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn typed<T>(
    value: &Value,
    path: &str,
    wanted: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<T>, Status> {
    if value.is_null() {
        return Ok(None);
    }
    read(value).map(Some).ok_or_else(|| {
        let found = json_type(value);
        Status::bad_request(format!(
            "json: cannot unmarshal {found} into Go struct field DeleteOptions.{path} of type {wanted}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, query: &str, expected: Result<DeleteOptions, (u16, &str)>) {
        let decoded = DeleteOptions::decode(body.as_bytes(), &Query::parse(query).unwrap());
        match (decoded, expected) {
            (Ok(options), Ok(expected)) => assert_eq!(options, expected, "{body} {query}"),
            (Err(status), Err(expected)) => {
                assert_eq!(
                    (status.code, status.message.as_str()),
                    expected,
                    "{body} {query}"
                );
            }
            (decoded, expected) => panic!("{body} {query}: {decoded:?}, not {expected:?}"),
        }
    }

    #[test]
    fn options_come_from_the_body_or_else_from_the_query() {
        let of = |policy| DeleteOptions {
            propagation: Some(policy),
            ..DeleteOptions::default()
        };
        check("", "", Ok(DeleteOptions::default()));
        check("{}", "", Ok(DeleteOptions::default()));
        check(
            r#"{"propagationPolicy":"Orphan"}"#,
            "",
            Ok(of(Propagation::Orphan)),
        );
        check(
            r#"{"kind":"DeleteOptions","apiVersion":"policy/v1"}"#,
            "",
            Ok(DeleteOptions::default()),
        );
        check(
            r#"{"kind":"DeleteOptions","apiVersion":"v1","nonsense":1}"#,
            "",
            Ok(DeleteOptions::default()),
        );
        check(
            "",
            "propagationPolicy=Foreground",
            Ok(of(Propagation::Foreground)),
        );
        let grace = DeleteOptions {
            grace_period_seconds: Some(0),
            ..DeleteOptions::default()
        };
        check(
            r#"{"gracePeriodSeconds":0}"#,
            "gracePeriodSeconds=9",
            Ok(grace),
        );
        check(
            "",
            "dryRun=All",
            Ok(DeleteOptions {
                dry_run: true,
                ..DeleteOptions::default()
            }),
        );
    }

    #[test]
    fn options_that_make_no_sense_are_refused() {
        let invalid = "DeleteOptions.meta.k8s.io \"\" is invalid:";
        check(
            r#"{"propagationPolicy":"Sideways"}"#,
            "",
            Err((
                422,
                &format!(
                    "{invalid} propagationPolicy: Unsupported value: \"Sideways\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""
                ),
            )),
        );
        check(
            r#"{"propagationPolicy":"Orphan","orphanDependents":true}"#,
            "",
            Err((
                422,
                &format!(
                    "{invalid} propagationPolicy: Invalid value: \"Orphan\": orphanDependents and deletionPropagation cannot be both set"
                ),
            )),
        );
        check(
            r#"{"dryRun":["Some"]}"#,
            "",
            Err((
                422,
                &format!(
                    "{invalid} dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""
                ),
            )),
        );
        check(
            r#"{"kind":"ConfigMap","apiVersion":"v1"}"#,
            "",
            Err((
                400,
                "no kind \"ConfigMap\" is registered for version \"v1\" in scheme \"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\"",
            )),
        );
        check(
            "{",
            "",
            Err((
                400,
                "couldn't get version/kind; json parse error: unexpected end of JSON input",
            )),
        );
        check(
            "",
            "gracePeriodSeconds=x",
            Err((400, "strconv.ParseInt: parsing \"x\": invalid syntax")),
        );
    }
}
