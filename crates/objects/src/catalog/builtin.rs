//! The table of built-in resources, read from `data/resources.json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::resource::{
    DeleteAnswer, Resource, Scope, SelectableFields, StorageId, Subresource, Wire,
};

const DATA: &str = include_str!("../../data/resources.json");
const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];
/// Under which every key lies.
pub(super) const ROOT: &str = "/registry/";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one line of the data file, as it stands there"
)]
struct Line<'a> {
    group: &'a str,
    version: &'a str,
    plural: &'a str,
    kind: &'a str,
    singular: Option<&'a str>,
    #[serde(default)]
    cluster: bool,
    verbs: Option<Vec<Box<str>>>,
    #[serde(default)]
    short: Vec<Box<str>>,
    #[serde(default)]
    categories: Vec<Box<str>>,
    #[serde(default, borrow)]
    sub: Vec<Sub<'a>>,
    #[serde(default, rename = "virtual")]
    no_store: bool,
    store: Option<&'a str>,
    #[serde(default)]
    converted: bool,
    #[serde(borrow)]
    empty: Option<&'a RawValue>,
    #[serde(default)]
    delete_answers_object: bool,
    #[serde(default)]
    fields: Vec<Box<str>>,
    #[serde(default)]
    refusal: Box<str>,
    #[serde(default)]
    aliases: BTreeMap<Box<str>, Box<str>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sub<'a> {
    name: &'a str,
    kind: &'a str,
    verbs: Vec<Box<str>>,
    gv: Option<(&'a str, &'a str)>,
}

/// All built-in resources in discovery order.
pub(super) fn resources() -> Result<Vec<Resource>, serde_json::Error> {
    let lines: Vec<Line<'_>> = serde_json::from_str(DATA)?;
    let mut storages: BTreeMap<String, StorageId> = BTreeMap::new();
    let mut resources = Vec::with_capacity(lines.len());
    for line in lines {
        let prefix = if line.no_store {
            String::new()
        } else {
            format!("{ROOT}{}/", line.store.unwrap_or(line.plural))
        };
        let next = StorageId(storages.len() as u16);
        let storage = (!line.no_store).then(|| *storages.entry(prefix.clone()).or_insert(next));
        resources.push(line.resource(prefix, storage));
    }
    Ok(resources)
}

impl Line<'_> {
    fn resource(self, prefix: String, storage: Option<StorageId>) -> Resource {
        let standard = || VERBS.iter().map(|verb| Box::from(*verb)).collect();
        Resource {
            group: self.group.into(),
            version: self.version.into(),
            api_version: api_version(self.group, self.version),
            plural: self.plural.into(),
            singular: self
                .singular
                .map_or_else(|| self.kind.to_lowercase().into(), Into::into),
            kind: self.kind.into(),
            list_kind: format!("{}List", self.kind).into(),
            scope: if self.cluster {
                Scope::Cluster
            } else {
                Scope::Namespaced
            },
            verbs: self.verbs.unwrap_or_else(standard).into(),
            short_names: self.short.into(),
            categories: self.categories.into(),
            subresources: self.sub.into_iter().map(Sub::subresource).collect(),
            storage,
            is_stored_version: storage.is_some() && !self.converted,
            key_prefix: prefix.into(),
            fields: SelectableFields {
                labels: self.fields.into(),
                aliases: self.aliases.into_iter().collect(),
                refusal: self.refusal,
            },
            delete_answer: if self.delete_answers_object {
                DeleteAnswer::Object
            } else {
                DeleteAnswer::Status
            },
            wire: Wire::Builtin,
            empty: self.empty.map_or("{}", RawValue::get).into(),
        }
    }
}

impl Sub<'_> {
    fn subresource(self) -> Subresource {
        let (group, version) = self.gv.unzip();
        Subresource {
            name: self.name.into(),
            group: group.map(Into::into),
            version: version.map(Into::into),
            kind: self.kind.into(),
            verbs: self.verbs.into(),
        }
    }
}

/// `group/version`, or the version alone in core.
pub(super) fn api_version(group: &str, version: &str) -> Box<str> {
    if group.is_empty() {
        version.into()
    } else {
        format!("{group}/{version}").into()
    }
}
