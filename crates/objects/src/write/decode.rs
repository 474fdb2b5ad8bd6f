//! From JSON to an object of the wanted kind: is it that kind, do its members have the right types?
//!
//! A table of types stands in for a schema: all of the metadata, and what the server itself reads
//! of the kinds that it knows.

use masthead_api::{FieldError, Status};
use serde_json::{Map, Value};

use crate::catalog::{Catalog, Resource};
use crate::write::tidy;
use crate::write::types::{self, WrongType};

const SCHEME: &str = r#"in scheme "pkg/api/legacyscheme/scheme.go:30""#;

/// Why JSON is no object of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A member has the wrong type.
    #[error(transparent)]
    WrongType(#[from] WrongType),
    /// There is no such kind.
    #[error("no kind {kind:?} is registered for version {api_version:?} {SCHEME}")]
    NoKind {
        /// The kind it says it is.
        kind: String,
        /// The version it says it is.
        api_version: String,
    },
    /// It is another kind.
    #[error("converting ({from}) to ({into}): unknown conversion")]
    OtherKind {
        /// What it is.
        from: String,
        /// What is wanted.
        into: String,
    },
}

/// The kind that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// API group, empty for core.
    pub group: &'a str,
    /// `group/version`, or the version alone in core.
    pub api_version: &'a str,
    /// Kind.
    pub kind: &'a str,
}

impl<'a> Expected<'a> {
    /// An object of `resource`.
    pub fn of(resource: &'a Resource) -> Self {
        Self {
            group: &resource.group,
            api_version: &resource.api_version,
            kind: &resource.kind,
        }
    }

    /// The refusal of a body that cannot be read as this kind: 400.
    pub fn refuse(self, body: &Value, error: &DecodeError) -> Status {
        let (api_version, kind) = self.claimed(body);
        let version = api_version.rsplit('/').next().unwrap_or_default();
        Status::bad_request(format!(
            "{kind} in version \"{version}\" cannot be handled as a {}: {error}",
            self.kind
        ))
    }

    /// What a body says it is; what it leaves out is what is wanted.
    fn claimed(self, body: &'a Value) -> (&'a str, &'a str) {
        let text = |name, default: &'a str| {
            body.get(name)
                .and_then(Value::as_str)
                .filter(|t| !t.is_empty())
                .unwrap_or(default)
        };
        (
            text("apiVersion", self.api_version),
            text("kind", self.kind),
        )
    }

    fn check(self, body: &Value) -> Result<(), DecodeError> {
        let (api_version, kind) = self.claimed(body);
        if (api_version, kind) == (self.api_version, self.kind) {
            return Ok(());
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        if Catalog::builtin().of_kind(group, version, kind).is_none() {
            let (kind, api_version) = (kind.to_owned(), api_version.to_owned());
            return Err(DecodeError::NoKind { kind, api_version });
        }
        types::check(kind, body)?;
        let package = self
            .group
            .split('.')
            .next()
            .filter(|p| !p.is_empty())
            .unwrap_or("core");
        let (from, into) = (
            format!("{version}.{kind}"),
            format!("{package}.{}", self.kind),
        );
        Err(DecodeError::OtherKind { from, into })
    }
}

/// Makes `body` an object of `resource`: checks kind and types, puts kind and version first, drops
/// what says nothing (nulls, empty lists) and what no client may set (`managedFields`).
///
/// # Errors
/// It is no such object.
pub fn decode(resource: &Resource, body: Value) -> Result<Value, DecodeError> {
    check(resource, &body)?;
    Ok(settle(resource, body))
}

/// [`decode`] for a request's body.
///
/// # Errors
/// 400: it is no such object.
pub(super) fn decode_body(resource: &Resource, body: Value) -> Result<Value, Status> {
    check(resource, &body).map_err(|error| Expected::of(resource).refuse(&body, &error))?;
    Ok(settle(resource, body))
}

/// [`decode`] for what a patch has made.
///
/// # Errors
/// 422: it is no such object.
pub(crate) fn decode_patched(resource: &Resource, result: Value) -> Result<Value, Status> {
    match check(resource, &result) {
        Ok(()) => Ok(settle(resource, result)),
        Err(error) => {
            let errors = [FieldError::invalid(
                "patch",
                result.to_string(),
                error.to_string(),
            )];
            Err(Status::invalid("", "", "", &errors))
        }
    }
}

fn check(resource: &Resource, body: &Value) -> Result<(), DecodeError> {
    Expected::of(resource).check(body)?;
    Ok(types::check(&resource.kind, body)?)
}

fn settle(resource: &Resource, body: Value) -> Value {
    let mut object = Map::new();
    object.insert("kind".to_owned(), resource.kind.as_ref().into());
    object.insert(
        "apiVersion".to_owned(),
        resource.api_version.as_ref().into(),
    );
    if let Value::Object(members) = body {
        for (name, value) in members {
            if name != "kind" && name != "apiVersion" {
                object.insert(name, value);
            }
        }
    }
    let mut object = Value::Object(object);
    tidy::tidy(resource, &mut object);
    object
}

/// Checks that `body` is an object of another kind than the resource's own, e.g. a `Scale`.
///
/// # Errors
/// 400: it is not.
pub(super) fn decode_other(expected: Expected<'_>, body: &Value) -> Result<(), Status> {
    expected
        .check(body)
        .and_then(|()| Ok(types::check(expected.kind, body)?))
        .map_err(|error| expected.refuse(body, &error))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(plural: &str, body: &Value, message: &str) {
        let resource = Catalog::builtin().resource("", "v1", plural).unwrap();
        let error = decode(resource, body.clone()).unwrap_err();
        let refusal = Expected::of(resource).refuse(body, &error);
        assert_eq!((refusal.code, refusal.message.as_str()), (400, message));
    }

    #[test]
    fn another_kind_is_refused_as_clients_know_it() {
        let cm = |kind: &str, version: &str| json!({"apiVersion": version, "kind": kind, "metadata": {"name": "x"}});
        let mut secret = cm("Secret", "v1");
        check(
            "configmaps",
            &secret,
            "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion",
        );
        secret["data"] = json!({"k": "v"});
        check(
            "configmaps",
            &secret,
            "Secret in version \"v1\" cannot be handled as a ConfigMap: illegal base64 data at input byte 0",
        );
        check(
            "configmaps",
            &cm("Nothing", "v1"),
            "Nothing in version \"v1\" cannot be handled as a ConfigMap: no kind \"Nothing\" is registered for version \"v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
        );
        check(
            "configmaps",
            &cm("ConfigMap", "apps/v1"),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is registered for version \"apps/v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"",
        );
    }

    #[test]
    fn a_wrong_type_is_told_with_its_path() {
        for (body, complaint) in [
            (
                json!({"metadata": {"name": 5}}),
                "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string",
            ),
            (
                json!({"metadata": {"labels": {"a": true}}}),
                "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
            ),
            (
                json!({"metadata": []}),
                "json: cannot unmarshal array into Go struct field ConfigMap.metadata of type v1.ObjectMeta",
            ),
            (
                json!({"data": {"a": 1}}),
                "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
            ),
            (
                json!({"data": "text"}),
                "json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string",
            ),
            (
                json!({"binaryData": {"a": "!!"}}),
                "illegal base64 data at input byte 0",
            ),
            (
                json!({"metadata": {"creationTimestamp": "yesterday"}}),
                "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as \"2006\"",
            ),
        ] {
            check(
                "configmaps",
                &body,
                &format!(
                    "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: {complaint}"
                ),
            );
        }
        check(
            "pods",
            &json!({"spec": {"containers": [{"ports": [{"containerPort": "80"}]}]}}),
            "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32",
        );
    }
}
