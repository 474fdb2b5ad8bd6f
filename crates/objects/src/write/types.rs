//! The types of the members that the server reads, as a table.

use masthead_api::json_type;
use serde_json::Value;

/// A member's value has the wrong type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongType {
    /// Another JSON type than the member's.
    #[error("json: cannot unmarshal {found} into Go struct field {holder}.{path} of type {wanted}")]
    Json {
        /// What is there.
        found: String,
        /// The type that has the member.
        holder: String,
        /// Names from the object to the member.
        path: String,
        /// What should be there.
        wanted: &'static str,
    },
    /// No time.
    #[error(
        "parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {rest:?} as {part:?}"
    )]
    Time {
        /// What is there.
        text: String,
        /// From where on it makes no sense.
        rest: String,
        /// The part of a time that should be there.
        part: &'static str,
    },
    /// No base64.
    #[error("illegal base64 data at input byte {0}")]
    Base64(usize),
}

#[derive(Clone, Copy, Debug)]
enum Type {
    Text,
    Bool,
    Int32,
    Int64,
    Time,
    Texts,
    TextMap,
    BytesMap,
    Map(&'static str),
    List(&'static str),
}

/// One member: holder's type, path (`[]` means every item), type.
type Row = (&'static str, &'static str, Type);

const METADATA: &[Row] = &[
    ("ObjectMeta", "name", Type::Text),
    ("ObjectMeta", "generateName", Type::Text),
    ("ObjectMeta", "namespace", Type::Text),
    ("ObjectMeta", "selfLink", Type::Text),
    ("ObjectMeta", "uid", Type::Text),
    ("ObjectMeta", "resourceVersion", Type::Text),
    ("ObjectMeta", "generation", Type::Int64),
    ("ObjectMeta", "creationTimestamp", Type::Time),
    ("ObjectMeta", "deletionTimestamp", Type::Time),
    ("ObjectMeta", "deletionGracePeriodSeconds", Type::Int64),
    ("ObjectMeta", "labels", Type::TextMap),
    ("ObjectMeta", "annotations", Type::TextMap),
    ("ObjectMeta", "finalizers", Type::Texts),
    (
        "ObjectMeta",
        "ownerReferences",
        Type::List("[]v1.OwnerReference"),
    ),
    (
        "ObjectMeta",
        "ownerReferences[]",
        Type::Map("v1.OwnerReference"),
    ),
    ("OwnerReference", "ownerReferences[].apiVersion", Type::Text),
    ("OwnerReference", "ownerReferences[].kind", Type::Text),
    ("OwnerReference", "ownerReferences[].name", Type::Text),
    ("OwnerReference", "ownerReferences[].uid", Type::Text),
    ("OwnerReference", "ownerReferences[].controller", Type::Bool),
    (
        "OwnerReference",
        "ownerReferences[].blockOwnerDeletion",
        Type::Bool,
    ),
];

const POD_SPEC: &[Row] = &[
    ("PodSpec", "containers", Type::List("[]v1.Container")),
    ("PodSpec", "containers[]", Type::Map("v1.Container")),
    ("Container", "containers[].name", Type::Text),
    ("Container", "containers[].image", Type::Text),
    ("Container", "containers[].env", Type::List("[]v1.EnvVar")),
    ("EnvVar", "containers[].env[].name", Type::Text),
    ("EnvVar", "containers[].env[].value", Type::Text),
    (
        "Container",
        "containers[].ports",
        Type::List("[]v1.ContainerPort"),
    ),
    ("ContainerPort", "containers[].ports[].name", Type::Text),
    (
        "ContainerPort",
        "containers[].ports[].containerPort",
        Type::Int32,
    ),
    ("PodSpec", "initContainers", Type::List("[]v1.Container")),
    ("PodSpec", "volumes", Type::List("[]v1.Volume")),
    ("PodSpec", "tolerations", Type::List("[]v1.Toleration")),
    ("PodSpec", "nodeName", Type::Text),
    ("PodSpec", "nodeSelector", Type::TextMap),
    ("PodSpec", "restartPolicy", Type::Text),
    ("PodSpec", "serviceAccountName", Type::Text),
    ("PodSpec", "hostNetwork", Type::Bool),
    ("PodSpec", "terminationGracePeriodSeconds", Type::Int64),
];

/// Where kinds have a pod spec; the kinds' own rows follow in [`KINDS`].
const POD_SPECS: &[(&str, &str)] = &[
    ("CronJob", "spec.jobTemplate.spec.template.spec"),
    ("DaemonSet", "spec.template.spec"),
    ("Deployment", "spec.template.spec"),
    ("Job", "spec.template.spec"),
    ("Pod", "spec"),
    ("PodTemplate", "template.spec"),
    ("ReplicaSet", "spec.template.spec"),
    ("ReplicationController", "spec.template.spec"),
    ("StatefulSet", "spec.template.spec"),
];

const KINDS: &[(&str, &[Row])] = &[
    (
        "ConfigMap",
        &[
            ("ConfigMap", "data", Type::TextMap),
            ("ConfigMap", "binaryData", Type::BytesMap),
            ("ConfigMap", "immutable", Type::Bool),
        ],
    ),
    (
        "DaemonSet",
        &[("DaemonSet", "spec", Type::Map("v1.DaemonSetSpec"))],
    ),
    (
        "Deployment",
        &[
            ("Deployment", "spec", Type::Map("v1.DeploymentSpec")),
            ("DeploymentSpec", "spec.replicas", Type::Int32),
            ("Deployment", "status", Type::Map("v1.DeploymentStatus")),
            ("DeploymentStatus", "status.replicas", Type::Int32),
        ],
    ),
    ("Job", &[("Job", "spec", Type::Map("v1.JobSpec"))]),
    (
        "Namespace",
        &[
            ("Namespace", "spec", Type::Map("v1.NamespaceSpec")),
            ("NamespaceSpec", "spec.finalizers", Type::Texts),
            ("Namespace", "status", Type::Map("v1.NamespaceStatus")),
        ],
    ),
    (
        "Node",
        &[
            ("Node", "spec", Type::Map("v1.NodeSpec")),
            ("NodeSpec", "spec.unschedulable", Type::Bool),
        ],
    ),
    (
        "Pod",
        &[
            ("Pod", "spec", Type::Map("v1.PodSpec")),
            ("Pod", "status", Type::Map("v1.PodStatus")),
            ("PodStatus", "status.phase", Type::Text),
        ],
    ),
    (
        "ReplicaSet",
        &[
            ("ReplicaSet", "spec", Type::Map("v1.ReplicaSetSpec")),
            ("ReplicaSetSpec", "spec.replicas", Type::Int32),
        ],
    ),
    (
        "ReplicationController",
        &[
            (
                "ReplicationController",
                "spec",
                Type::Map("v1.ReplicationControllerSpec"),
            ),
            ("ReplicationControllerSpec", "spec.replicas", Type::Int32),
        ],
    ),
    (
        "Scale",
        &[
            ("Scale", "spec", Type::Map("v1.ScaleSpec")),
            ("ScaleSpec", "spec.replicas", Type::Int32),
        ],
    ),
    (
        "Secret",
        &[
            ("Secret", "data", Type::BytesMap),
            ("Secret", "stringData", Type::TextMap),
            ("Secret", "type", Type::Text),
            ("Secret", "immutable", Type::Bool),
        ],
    ),
    (
        "Service",
        &[("Service", "spec", Type::Map("v1.ServiceSpec"))],
    ),
    (
        "StatefulSet",
        &[
            ("StatefulSet", "spec", Type::Map("v1.StatefulSetSpec")),
            ("StatefulSetSpec", "spec.replicas", Type::Int32),
        ],
    ),
];

/// Checks the members that the table knows of an object of `kind`.
///
/// # Errors
/// The first one that has the wrong type.
pub(super) fn check(kind: &str, object: &Value) -> Result<(), WrongType> {
    if let Some(metadata) = object.get("metadata") {
        if !matches!(metadata, Value::Object(_) | Value::Null) {
            return Err(WrongType::Json {
                found: json_type(metadata).to_owned(),
                holder: kind.to_owned(),
                path: "metadata".to_owned(),
                wanted: "v1.ObjectMeta",
            });
        }
        check_rows(METADATA, "metadata", object)?;
    }
    if let Some((_, rows)) = KINDS.iter().find(|(k, _)| *k == kind) {
        check_rows(rows, "", object)?;
    }
    if let Some((_, base)) = POD_SPECS.iter().find(|(k, _)| *k == kind) {
        check_rows(POD_SPEC, base, object)?;
    }
    Ok(())
}

fn check_rows(rows: &[Row], base: &str, object: &Value) -> Result<(), WrongType> {
    for (holder, path, wanted) in rows {
        let whole = if base.is_empty() {
            (*path).to_owned()
        } else {
            format!("{base}.{path}")
        };
        visit(object, &whole, &mut |value| {
            check_one(*wanted, value).map_err(|problem| match problem {
                Problem::Type(found, wanted) => WrongType::Json {
                    found,
                    holder: (*holder).to_owned(),
                    path: whole.replace("[]", ""),
                    wanted,
                },
                Problem::Other(wrong) => wrong,
            })
        })?;
    }
    Ok(())
}

/// Calls `check` with every value at `path`; stops at what does not lead on.
fn visit(
    value: &Value,
    path: &str,
    check: &mut impl FnMut(&Value) -> Result<(), WrongType>,
) -> Result<(), WrongType> {
    let (here, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, items) = match here.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (here, false),
    };
    let Some(member) = value.get(name) else {
        return Ok(());
    };
    let mut step = |next: &Value| {
        if rest.is_empty() {
            check(next)
        } else {
            visit(next, rest, check)
        }
    };
    if items {
        member.as_array().into_iter().flatten().try_for_each(step)
    } else {
        step(member)
    }
}

enum Problem {
    Type(String, &'static str),
    Other(WrongType),
}

fn check_one(wanted: Type, value: &Value) -> Result<(), Problem> {
    let wrong = |value: &Value, wanted| Err(Problem::Type(json_type(value).to_owned(), wanted));
    match (wanted, value) {
        (_, Value::Null)
        | (Type::Bool, Value::Bool(_))
        | (Type::Text, Value::String(_))
        | (Type::Map(_), Value::Object(_))
        | (Type::List(_), Value::Array(_)) => Ok(()),
        (Type::Int64, Value::Number(n)) if n.is_i64() => Ok(()),
        (Type::Int32, Value::Number(n)) if n.as_i64().is_some_and(|n| i32::try_from(n).is_ok()) => {
            Ok(())
        }
        (Type::Int32, Value::Number(n)) => Err(Problem::Type(format!("number {n}"), "int32")),
        (Type::Int64, Value::Number(n)) => Err(Problem::Type(format!("number {n}"), "int64")),
        (Type::Time, Value::String(text)) => check_time(text).map_err(Problem::Other),
        (Type::Texts, Value::Array(items)) => items
            .iter()
            .try_for_each(|item| check_one(Type::Text, item)),
        (Type::TextMap, Value::Object(members)) => members
            .values()
            .try_for_each(|member| check_one(Type::Text, member)),
        (Type::BytesMap, Value::Object(members)) => members.values().try_for_each(check_bytes),
        (Type::Text | Type::Time, other) => wrong(other, "string"),
        (Type::Bool, other) => wrong(other, "bool"),
        (Type::Int32, other) => wrong(other, "int32"),
        (Type::Int64, other) => wrong(other, "int64"),
        (Type::Texts, other) => wrong(other, "[]string"),
        (Type::TextMap, other) => wrong(other, "map[string]string"),
        (Type::BytesMap, other) => wrong(other, "map[string][]uint8"),
        (Type::Map(name) | Type::List(name), other) => wrong(other, name),
    }
}

fn check_time(text: &str) -> Result<(), WrongType> {
    if text.parse::<jiff::Timestamp>().is_ok() {
        return Ok(());
    }
    let year = text
        .get(..4)
        .is_some_and(|year| year.bytes().all(|b| b.is_ascii_digit()));
    let (rest, part) = if year {
        (text.get(4..).unwrap_or_default(), "-")
    } else {
        (text, "2006")
    };
    Err(WrongType::Time {
        text: text.to_owned(),
        rest: rest.to_owned(),
        part,
    })
}

fn check_bytes(value: &Value) -> Result<(), Problem> {
    match value {
        Value::Null => Ok(()),
        Value::String(text) => match crate::write::base64::decoded_len(text) {
            Ok(_) => Ok(()),
            Err(at) => Err(Problem::Other(WrongType::Base64(at))),
        },
        other => Err(Problem::Type(json_type(other).to_owned(), "[]uint8")),
    }
}
