//! Strategic merge patch: a merge patch that knows which lists are maps and sets.
//!
//! | directive | where | meaning |
//! |---|---|---|
//! | `$patch: replace` / `delete` | a map, or an item of a list | replace or empty it; replace the list, drop the item |
//! | `$retainKeys: [...]` | a map | members not listed go |
//! | `$deleteFromPrimitiveList/f: [...]` | beside the list `f` | these scalars go |
//! | `$setElementOrder/f: [...]` | beside the list `f` | the order of what is listed |

use serde_json::{Map, Value};

use crate::patch::go_text::{go_map, go_value};
use crate::patch::keys::{ListRule, list_rule};
use crate::patch::order::{Positions, positions, weave};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const ELEMENT_ORDER: &str = "$setElementOrder/";

/// Why a strategic merge patch cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrategicError {
    /// An item of a list of maps lacks the member that tells which one it is.
    #[error("map: {map} does not contain declared merge key: {key}")]
    NoMergeKey {
        /// The item.
        map: String,
        /// The member's name.
        key: &'static str,
    },
    /// `$patch` has a value that means nothing.
    #[error("unknown patch type: {directive} in map: {map}")]
    UnknownDirective {
        /// The value.
        directive: String,
        /// The map in which it stands.
        map: String,
    },
    /// An item of a list of maps is no map.
    #[error("invalid patch format of primitive list")]
    NotAMap,
    /// `$deleteFromPrimitiveList` is no list.
    #[error("invalid patch format of primitive list")]
    DeleteList,
    /// `$retainKeys` is no list of names, or does not name what the patch sets.
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    /// `$setElementOrder` is no list.
    #[error("invalid patch format of setElementOrder list")]
    ElementOrder,
}

/// Merges `patch` into `object`, an object of the built-in kind `kind`.
///
/// # Errors
/// A directive that makes no sense; `object` is then half done and to be dropped.
pub fn merge(
    kind: &str,
    object: &mut Value,
    patch: Map<String, Value>,
) -> Result<(), StrategicError> {
    if let Value::Object(members) = object {
        Merge {
            kind,
            path: Vec::new(),
        }
        .map(members, patch)?;
    }
    Ok(())
}

/// Where the merge stands.
struct Merge<'a> {
    kind: &'a str,
    path: Vec<String>,
}

impl Merge<'_> {
    fn map(
        &mut self,
        original: &mut Map<String, Value>,
        mut patch: Map<String, Value>,
    ) -> Result<(), StrategicError> {
        if let Some(directive) = patch.get(DIRECTIVE) {
            match directive.as_str() {
                Some("delete") => original.clear(),
                Some("replace") => {
                    patch.shift_remove(DIRECTIVE);
                    *original = patch;
                }
                _ => return Err(unknown_directive(directive, &patch)),
            }
            return Ok(());
        }
        retain_keys(original, &mut patch)?;
        self.element_orders(original, &mut patch)?;
        for (name, change) in patch {
            if let Some(field) = name.strip_prefix(DELETE_FROM) {
                delete_scalars(original, field, &change)?;
            } else {
                self.member(original, name, change)?;
            }
        }
        Ok(())
    }

    fn member(
        &mut self,
        original: &mut Map<String, Value>,
        name: String,
        change: Value,
    ) -> Result<(), StrategicError> {
        if change.is_null() {
            original.shift_remove(&name);
            return Ok(());
        }
        self.path.push(name.clone());
        let merged = match (original.get_mut(&name), change) {
            (Some(Value::Object(old)), Value::Object(new)) if !self.is_replaced() => {
                self.map(old, new)
            }
            (Some(Value::Array(old)), Value::Array(new)) => self
                .list(std::mem::take(old), new, None)
                .map(|list| *old = list),
            (_, change) => {
                original.insert(name, plain(change));
                Ok(())
            }
        };
        self.path.pop();
        merged
    }

    /// The one map that a patch replaces as a whole.
    fn is_replaced(&self) -> bool {
        self.kind == "PodDisruptionBudget" && self.path == ["spec", "selector"]
    }

    /// Takes the `$setElementOrder` directives, and the lists that they order, out of `patch`.
    fn element_orders(
        &mut self,
        original: &mut Map<String, Value>,
        patch: &mut Map<String, Value>,
    ) -> Result<(), StrategicError> {
        let names: Vec<String> = patch
            .keys()
            .filter(|name| name.starts_with(ELEMENT_ORDER))
            .cloned()
            .collect();
        for name in names {
            let Some(Value::Array(order)) = patch.shift_remove(&name) else {
                return Err(StrategicError::ElementOrder);
            };
            let field = name.strip_prefix(ELEMENT_ORDER).unwrap_or_default();
            if let Some(names) = patch.get(&format!("{DELETE_FROM}{field}")) {
                delete_scalars(original, field, names)?;
            }
            let new = match patch.get_mut(field) {
                Some(Value::Array(items)) => std::mem::take(items),
                Some(_) => continue,
                None => Vec::new(),
            };
            let old = match original.get_mut(field) {
                Some(Value::Array(items)) => std::mem::take(items),
                _ if new.is_empty() => continue,
                _ => Vec::new(),
            };
            patch.shift_remove(field);
            self.path.push(field.to_owned());
            let list = self.list(old, new, Some(&order));
            self.path.pop();
            original.insert(field.to_owned(), Value::Array(list?));
        }
        Ok(())
    }

    fn list(
        &mut self,
        original: Vec<Value>,
        patch: Vec<Value>,
        order: Option<&[Value]>,
    ) -> Result<Vec<Value>, StrategicError> {
        match list_rule(self.kind, &self.path) {
            ListRule::Atomic if order.is_some() && patch.is_empty() => Ok(original),
            ListRule::Atomic => Ok(patch.into_iter().map(plain).collect()),
            ListRule::Set => Ok(set(original, patch, order)),
            ListRule::Map(key) => self.list_of_maps(key, original, patch, order),
        }
    }

    fn list_of_maps(
        &mut self,
        key: &'static str,
        original: Vec<Value>,
        patch: Vec<Value>,
        order: Option<&[Value]>,
    ) -> Result<Vec<Value>, StrategicError> {
        let Specials {
            deleted,
            replace,
            plain: items,
        } = Specials::split(key, patch)?;
        if replace {
            return Ok(items
                .into_iter()
                .map(|(_, item)| Value::Object(item))
                .collect());
        }
        let mut merged: Vec<(String, Value)> = Vec::with_capacity(original.len() + items.len());
        for item in original {
            let id = item.get(key).map(Value::to_string).unwrap_or_default();
            if !deleted.contains_key(&id) {
                merged.push((id, item));
            }
        }
        let server = positions(merged.iter().map(|(id, _)| id.clone()));
        let asked = match order {
            Some(order) => positions(order.iter().map(|item| identity(key, item))),
            None => positions(items.iter().map(|(id, _)| id.clone())),
        };
        let mut found = server.clone();
        for (id, item) in items {
            let at = found.get(&id).and_then(|at| merged.get_mut(*at));
            if let Some((_, Value::Object(old))) = at {
                self.map(old, item)?;
            } else {
                found.insert(id.clone(), merged.len());
                merged.push((id, plain(Value::Object(item))));
            }
        }
        Ok(weave(merged, &asked, &server))
    }
}

/// A patch's list of maps, sorted by what its items are for.
struct Specials {
    deleted: Positions,
    replace: bool,
    plain: Vec<(String, Map<String, Value>)>,
}

impl Specials {
    fn split(key: &'static str, patch: Vec<Value>) -> Result<Self, StrategicError> {
        let mut deleted = Vec::new();
        let mut specials = Self {
            deleted: Positions::new(),
            replace: false,
            plain: Vec::new(),
        };
        for item in patch {
            let Value::Object(item) = item else {
                return Err(StrategicError::NotAMap);
            };
            let id = item.get(key).map(Value::to_string);
            let lacks_key = || StrategicError::NoMergeKey {
                map: go_map(&item),
                key,
            };
            match item
                .get(DIRECTIVE)
                .map(|directive| (directive, directive.as_str()))
            {
                None => {
                    let id = id.ok_or_else(lacks_key)?;
                    specials.plain.push((id, item));
                }
                Some((_, Some("delete"))) => deleted.push(id.ok_or_else(lacks_key)?),
                Some((_, Some("replace"))) => specials.replace = true,
                Some((directive, _)) => return Err(unknown_directive(directive, &item)),
            }
        }
        specials.deleted = positions(deleted);
        Ok(specials)
    }
}

/// What tells an entry of a `$setElementOrder` list which item it means.
fn identity(key: &str, item: &Value) -> String {
    item.get(key).unwrap_or(item).to_string()
}

fn set(original: Vec<Value>, patch: Vec<Value>, order: Option<&[Value]>) -> Vec<Value> {
    let ids = |list: &[Value]| positions(list.iter().map(Value::to_string));
    let server = ids(&original);
    let asked = ids(order.unwrap_or(&patch));
    let mut seen = Positions::new();
    let mut merged = Vec::with_capacity(original.len() + patch.len());
    for item in original.into_iter().chain(patch) {
        let id = item.to_string();
        if seen.insert(id.clone(), 0).is_none() {
            merged.push((id, item));
        }
    }
    weave(merged, &asked, &server)
}

fn delete_scalars(
    original: &mut Map<String, Value>,
    field: &str,
    gone: &Value,
) -> Result<(), StrategicError> {
    let Value::Array(gone) = gone else {
        return Err(StrategicError::DeleteList);
    };
    let gone = positions(gone.iter().map(Value::to_string));
    if let Some(Value::Array(items)) = original.get_mut(field) {
        items.retain(|item| !gone.contains_key(&item.to_string()));
    }
    Ok(())
}

fn retain_keys(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), StrategicError> {
    let Some(keys) = patch.shift_remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let Value::Array(keys) = keys else {
        return Err(StrategicError::RetainKeys);
    };
    let kept = positions(keys.iter().filter_map(Value::as_str).map(str::to_owned));
    let set = patch
        .iter()
        .filter(|(name, value)| !value.is_null() && !name.starts_with('$'));
    if kept.len() != keys.len() || set.into_iter().any(|(name, _)| !kept.contains_key(name)) {
        return Err(StrategicError::RetainKeys);
    }
    original.retain(|name, _| kept.contains_key(name));
    Ok(())
}

/// What a patch sets where there was nothing: itself, without nulls and directives.
fn plain(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .filter(|(name, value)| {
                    !value.is_null()
                        && name != DIRECTIVE
                        && name != RETAIN_KEYS
                        && !name.starts_with(DELETE_FROM)
                        && !name.starts_with(ELEMENT_ORDER)
                })
                .map(|(name, value)| (name, plain(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(
            items
                .into_iter()
                .filter(|item| item.get(DIRECTIVE).and_then(Value::as_str) != Some("delete"))
                .map(plain)
                .collect(),
        ),
        scalar => scalar,
    }
}

fn unknown_directive(directive: &Value, map: &Map<String, Value>) -> StrategicError {
    StrategicError::UnknownDirective {
        directive: go_value(directive),
        map: go_map(map),
    }
}

#[cfg(test)]
mod tests;
