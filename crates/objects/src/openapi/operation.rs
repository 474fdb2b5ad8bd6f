//! The operations of a resource, independent of the version of OpenAPI that prints them.

use crate::catalog::{Resource, Subresource};

/// Type of a query parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterType {
    Boolean,
    Integer,
    String,
}

impl ParameterType {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::String => "string",
        }
    }
}

/// Name and type of a query parameter.
pub(super) type Parameter = (&'static str, ParameterType);

use ParameterType::{Boolean, Integer, String as Text};

const LIST: [Parameter; 10] = [
    ("allowWatchBookmarks", Boolean),
    ("continue", Text),
    ("fieldSelector", Text),
    ("labelSelector", Text),
    ("limit", Integer),
    ("resourceVersion", Text),
    ("resourceVersionMatch", Text),
    ("sendInitialEvents", Boolean),
    ("timeoutSeconds", Integer),
    ("watch", Boolean),
];
const WRITE: [Parameter; 3] = [
    ("dryRun", Text),
    ("fieldManager", Text),
    ("fieldValidation", Text),
];
const PATCH: [Parameter; 4] = [
    ("dryRun", Text),
    ("fieldManager", Text),
    ("fieldValidation", Text),
    ("force", Boolean),
];
const DELETE: [Parameter; 5] = [
    ("dryRun", Text),
    ("gracePeriodSeconds", Integer),
    ("ignoreStoreReadErrorWithClusterBreakingPotential", Boolean),
    ("orphanDependents", Boolean),
    ("propagationPolicy", Text),
];
const DELETE_COLLECTION: [Parameter; 13] = [
    ("continue", Text),
    ("dryRun", Text),
    ("fieldSelector", Text),
    ("gracePeriodSeconds", Integer),
    ("ignoreStoreReadErrorWithClusterBreakingPotential", Boolean),
    ("labelSelector", Text),
    ("limit", Integer),
    ("orphanDependents", Boolean),
    ("propagationPolicy", Text),
    ("resourceVersion", Text),
    ("resourceVersionMatch", Text),
    ("sendInitialEvents", Boolean),
    ("timeoutSeconds", Integer),
];

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Get,
    List,
    Post,
    Put,
    Patch,
    Delete,
    DeleteCollection,
    Watch,
    WatchList,
    Connect,
}

impl Action {
    /// Value of `x-kubernetes-action`.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Post => "post",
            Self::Put => "put",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
            Self::Watch => "watch",
            Self::WatchList => "watchlist",
            Self::Connect => "connect",
        }
    }

    /// First word of an operation's id.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Get => "read",
            Self::List => "list",
            Self::Post => "create",
            Self::Put => "replace",
            Self::Patch => "patch",
            Self::Delete | Self::DeleteCollection => "delete",
            Self::Watch | Self::WatchList => "watch",
            Self::Connect => "connect",
        }
    }

    /// Its query parameters, those of its path not among them.
    pub(super) const fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::List | Self::Watch | Self::WatchList => &LIST,
            Self::Post | Self::Put => &WRITE,
            Self::Patch => &PATCH,
            Self::Delete => &DELETE,
            Self::DeleteCollection => &DELETE_COLLECTION,
            Self::Get | Self::Connect => &[],
        }
    }
}

/// One method of one path.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) action: Action,
}

/// One path and what can be done there.
#[derive(Debug)]
pub(super) struct PathItem<'a> {
    pub(super) path: String,
    pub(super) resource: &'a Resource,
    pub(super) part: Option<&'a Subresource>,
    /// `namespace` and `name` where the path has them.
    pub(super) path_parameters: Vec<&'static str>,
    pub(super) operations: Vec<Operation>,
}

impl Operation {
    const fn get(action: Action) -> Self {
        Self {
            method: "get",
            action,
        }
    }
}

impl<'a> PathItem<'a> {
    fn new(resource: &'a Resource, path: String, operations: Vec<Operation>) -> Self {
        Self {
            path_parameters: ["name", "namespace"]
                .into_iter()
                .filter(|name| path.contains(&format!("{{{name}}}")))
                .collect(),
            path,
            resource,
            part: None,
            operations,
        }
    }
}

const COLLECTION: [(&str, &str, Action); 3] = [
    ("list", "get", Action::List),
    ("create", "post", Action::Post),
    ("deletecollection", "delete", Action::DeleteCollection),
];
const OBJECT: [(&str, &str, Action); 4] = [
    ("get", "get", Action::Get),
    ("update", "put", Action::Put),
    ("delete", "delete", Action::Delete),
    ("patch", "patch", Action::Patch),
];
/// Subresources that hand the connection on.
const CONNECTS: [&str; 4] = ["attach", "exec", "portforward", "proxy"];

fn operations(verbs: &[Box<str>], table: &[(&str, &'static str, Action)]) -> Vec<Operation> {
    table
        .iter()
        .filter(|(verb, _, _)| verbs.iter().any(|v| v.as_ref() == *verb))
        .map(|(_, method, action)| Operation {
            method,
            action: *action,
        })
        .collect()
}

/// The paths of one resource below `root` (`/apis/apps/v1`).
pub(super) fn paths<'a>(resource: &'a Resource, root: &str) -> Vec<PathItem<'a>> {
    let plural = &resource.plural;
    let scope = if resource.is_namespaced() {
        "/namespaces/{namespace}"
    } else {
        ""
    };
    let collection = format!("{root}{scope}/{plural}");
    let object = format!("{collection}/{{name}}");
    let of =
        |path: String, table| PathItem::new(resource, path, operations(&resource.verbs, table));
    let mut paths = vec![
        of(collection, &COLLECTION[..]),
        of(object.clone(), &OBJECT[..]),
    ];
    if resource.has_verb("list") && resource.is_namespaced() {
        let list = Operation::get(Action::List);
        paths.push(PathItem::new(
            resource,
            format!("{root}/{plural}"),
            vec![list],
        ));
    }
    let parts = resource.subresources.iter();
    paths.extend(parts.map(|part| PathItem {
        part: Some(part),
        ..PathItem::new(
            resource,
            format!("{object}/{}", part.name),
            part_operations(part),
        )
    }));
    if resource.has_verb("watch") {
        paths.extend(watch_paths(resource, root, scope));
    }
    paths.retain(|path| !path.operations.is_empty());
    paths
}

fn part_operations(part: &Subresource) -> Vec<Operation> {
    let mut operations = operations(&part.verbs, &OBJECT);
    if part.verbs.iter().any(|verb| verb.as_ref() == "create") {
        operations.push(Operation {
            method: "post",
            action: Action::Post,
        });
    }
    if CONNECTS.contains(&part.name.as_ref()) {
        for operation in &mut operations {
            operation.action = Action::Connect;
        }
    }
    operations
}

/// The old paths of watches: of one object, of the collection, of all namespaces.
fn watch_paths<'a>(
    resource: &'a Resource,
    root: &str,
    scope: &str,
) -> impl Iterator<Item = PathItem<'a>> {
    let plural = &resource.plural;
    let below = format!("{root}/watch{scope}/{plural}");
    let everywhere = resource
        .is_namespaced()
        .then(|| (format!("{root}/watch/{plural}"), Action::WatchList));
    [
        (format!("{below}/{{name}}"), Action::Watch),
        (below, Action::WatchList),
    ]
    .into_iter()
    .chain(everywhere)
    .map(|(path, action)| PathItem::new(resource, path, vec![Operation::get(action)]))
}

/// The id of an operation, unique within all documents.
pub(super) fn id(item: &PathItem<'_>, operation: &Operation) -> String {
    let mut id = operation.action.word().to_owned();
    let group = item.resource.group.trim_end_matches(".k8s.io");
    for word in if group.is_empty() { "core" } else { group }.split(['.', '-']) {
        capitalised(&mut id, word);
    }
    capitalised(&mut id, &item.resource.version);
    if operation.action == Action::Connect {
        capitalised(&mut id, operation.method);
    }
    if operation.action == Action::DeleteCollection {
        id.push_str("Collection");
    }
    let everywhere = item.resource.is_namespaced() && !item.path_parameters.contains(&"namespace");
    if item.resource.is_namespaced() && !everywhere {
        id.push_str("Namespaced");
    }
    id.push_str(&item.resource.kind);
    if let Some(part) = item.part {
        capitalised(&mut id, &part.name);
    }
    if operation.action == Action::WatchList {
        id.push_str("List");
    }
    if everywhere {
        id.push_str("ForAllNamespaces");
    }
    id
}

fn capitalised(out: &mut String, word: &str) {
    let mut letters = word.chars();
    out.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
    out.push_str(letters.as_str());
}
