//! JSON patch (RFC 6902), with the readings of the decoder that clients of Kubernetes know:
//!
//! - an index may be negative and counts from the end;
//! - `replace` of a missing member of an object sets it, `copy` of one copies null;
//! - a path's first segment is not looked at: `data/a` means the member `a` of the whole object;
//! - `add`, `replace` without a value set null.
//!
//! Bounds: [`OPERATIONS_MAX`] operations, [`COPY_BYTES_MAX`] copied bytes, and no result nested
//! deeper than [`DEPTH_MAX`](crate::write::DEPTH_MAX).

mod pointer;

use masthead_api::json_type;
use serde_json::{Map, Value};

use crate::patch::PatchError;
use crate::write::DEPTH_MAX;
use pointer::{add, get, remove, replace, test};

/// How many operations one patch may have.
pub const OPERATIONS_MAX: usize = 10_000;

/// How many bytes the `copy` operations of one patch may add together.
pub const COPY_BYTES_MAX: usize = 3 * 1024 * 1024;

/// Why an operation cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonPatchError {
    /// The operation's `op` is none that exists.
    #[error("unexpected kind: {0}")]
    UnknownOperation(String),
    /// The operation lacks its path, or `from`.
    #[error("operation lacks {0}")]
    Lacks(&'static str),
    /// There is nothing at the path.
    #[error("nothing at {0:?}")]
    Missing(String),
    /// The path leads past the end of a list, or its index is no number.
    #[error("no such index in {0:?}")]
    Index(String),
    /// A `test` found something else.
    #[error("testing value {0:?} failed")]
    Differs(String),
    /// The copies of this patch would add too much.
    #[error("copies exceed {COPY_BYTES_MAX} bytes")]
    CopyTooLarge,
    /// The result would be nested too deep.
    #[error("the result is nested deeper than {DEPTH_MAX}")]
    TooDeep,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Add,
    Remove,
    Replace,
    Move,
    Copy,
    Test,
}

/// One operation, read but not yet understood.
#[derive(Clone, Debug)]
struct Operation {
    verb: Result<Verb, String>,
    path: Option<String>,
    from: Option<String>,
    value: Option<Value>,
}

/// A patch that can be applied.
#[derive(Clone, Debug)]
pub struct JsonPatch(Vec<Operation>);

impl JsonPatch {
    /// Reads the list of operations.
    ///
    /// # Errors
    /// It is no list of objects, or a list of more than [`OPERATIONS_MAX`].
    pub fn decode(patch: Value) -> Result<Self, PatchError> {
        let operations = match patch {
            Value::Array(operations) => operations,
            Value::Null => Vec::new(),
            other => return Err(wrong_type(&other, "value of type []handlers.jsonPatchOp")),
        };
        if operations.len() > OPERATIONS_MAX {
            return Err(PatchError::TooManyOperations(operations.len()));
        }
        operations
            .into_iter()
            .map(Operation::decode)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Applies every operation in turn.
    ///
    /// # Errors
    /// The first operation that cannot be done; `document` is then half done and to be dropped.
    pub fn apply(self, document: &mut Value) -> Result<(), JsonPatchError> {
        let mut copied = 0;
        for operation in self.0 {
            operation.apply(document, &mut copied)?;
        }
        Ok(())
    }
}

fn wrong_type(value: &Value, wanted: &str) -> PatchError {
    let word = json_type(value);
    PatchError::Decode(format!(
        "error decoding patch: json: cannot unmarshal {word} into Go {wanted}"
    ))
}

impl Operation {
    fn decode(value: Value) -> Result<Self, PatchError> {
        let mut members = match value {
            Value::Object(members) => members,
            Value::Null => Map::new(),
            other => return Err(wrong_type(&other, "value of type handlers.jsonPatchOp")),
        };
        let mut text = |name: &str| match members.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(
                &other,
                &format!("struct field jsonPatchOp.{name} of type string"),
            )),
        };
        let verb = match text("op")?.unwrap_or_else(|| "unknown".to_owned()).as_str() {
            "add" => Ok(Verb::Add),
            "remove" => Ok(Verb::Remove),
            "replace" => Ok(Verb::Replace),
            "move" => Ok(Verb::Move),
            "copy" => Ok(Verb::Copy),
            "test" => Ok(Verb::Test),
            other => Err(other.to_owned()),
        };
        let (path, from) = (text("path")?, text("from")?);
        Ok(Self {
            verb,
            path,
            from,
            value: members.remove("value"),
        })
    }

    fn apply(self, document: &mut Value, copied: &mut usize) -> Result<(), JsonPatchError> {
        let verb = self.verb.map_err(JsonPatchError::UnknownOperation)?;
        let path = self.path.ok_or(JsonPatchError::Lacks("path"))?;
        let from = || self.from.as_deref().ok_or(JsonPatchError::Lacks("from"));
        match verb {
            Verb::Add => add(document, &path, self.value.unwrap_or_default()),
            Verb::Remove => remove(document, &path).map(drop),
            Verb::Replace => replace(document, &path, self.value.unwrap_or_default()),
            Verb::Test => test(document, &path, self.value.as_ref().unwrap_or(&Value::Null)),
            Verb::Move => {
                let from = from()?;
                let value = remove(document, from)?;
                add(document, &path, value)
            }
            Verb::Copy => {
                let from = from()?;
                let value = get(document, from)?.cloned().unwrap_or_default();
                *copied += bytes_of(&value);
                if *copied > COPY_BYTES_MAX {
                    return Err(JsonPatchError::CopyTooLarge);
                }
                add(document, &path, value)
            }
        }
    }
}

/// A close lower bound of the JSON's length.
pub(super) fn bytes_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| bytes_of(item) + 1).sum::<usize>(),
        Value::Object(members) => {
            2 + members
                .iter()
                .map(|(key, v)| key.len() + 4 + bytes_of(v))
                .sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(document: Value, patch: &Value, expected: Option<Value>) {
        let mut result = document;
        let applied = JsonPatch::decode(patch.clone()).unwrap().apply(&mut result);
        match expected {
            Some(expected) => assert_eq!((applied, result), (Ok(()), expected), "{patch}"),
            None => assert!(applied.is_err(), "{patch} gave {result}"),
        }
    }

    #[test]
    fn operations_on_objects_do_what_clients_know() {
        let doc = json!({"data": {"a": "1", "b": "2"}});
        for (patch, data) in [
            (
                json!([{"op": "add", "path": "/data/c", "value": "3"}]),
                Some(json!({"a": "1", "b": "2", "c": "3"})),
            ),
            (
                json!([{"op": "copy", "from": "/data/a", "path": "/data/d"}]),
                Some(json!({"a": "1", "b": "2", "d": "1"})),
            ),
            (
                json!([{"op": "move", "from": "/data/a", "path": "/data/e"}]),
                Some(json!({"b": "2", "e": "1"})),
            ),
            (
                json!([{"op": "test", "path": "/data/a", "value": "1"}, {"op": "remove", "path": "/data/a"}]),
                Some(json!({"b": "2"})),
            ),
            (
                json!([{"op": "replace", "path": "/data/none", "value": "1"}]),
                Some(json!({"a": "1", "b": "2", "none": "1"})),
            ),
            (
                json!([{"op": "add", "path": "/data/a"}]),
                Some(json!({"a": null, "b": "2"})),
            ),
            (
                json!([{"op": "add", "path": "/data/x~1y~0z", "value": "1"}, {"op": "remove", "path": "/data/a"}, {"op": "remove", "path": "/data/b"}]),
                Some(json!({"x/y~z": "1"})),
            ),
            (
                json!([{"op": "test", "path": "/data/none", "value": null}]),
                Some(json!({"a": "1", "b": "2"})),
            ),
            (json!([]), Some(json!({"a": "1", "b": "2"}))),
            (
                json!([{"op": "test", "path": "/data/a", "value": "9"}]),
                None,
            ),
            (
                json!([{"op": "test", "path": "/data/none", "value": "9"}]),
                None,
            ),
            (json!([{"op": "remove", "path": "/data/none"}]), None),
            (
                json!([{"op": "add", "path": "/none/deeper", "value": "1"}]),
                None,
            ),
            (
                json!([{"op": "move", "from": "/data/none", "path": "/data/q"}]),
                None,
            ),
            (json!([{"op": "frobnicate", "path": "/data/a"}]), None),
            (json!([{"path": "/data/a", "value": "1"}]), None),
            (json!([{"op": "add", "value": "1"}]), None),
        ] {
            check(doc.clone(), &patch, data.map(|data| json!({"data": data})));
        }
        check(
            json!({"a": 1}),
            &json!([{"op": "add", "path": "data/b", "value": 2}]),
            Some(json!({"a": 1, "b": 2})),
        );
        check(
            json!({"a": 1}),
            &json!([{"op": "replace", "path": "", "value": {}}]),
            Some(json!({})),
        );
    }

    #[test]
    fn an_index_counts_from_either_end_and_must_exist() {
        for (patch, list) in [
            (
                json!([{"op": "add", "path": "/l/-", "value": 9}]),
                Some(json!([1, 2, 9])),
            ),
            (
                json!([{"op": "add", "path": "/l/0", "value": 9}]),
                Some(json!([9, 1, 2])),
            ),
            (
                json!([{"op": "add", "path": "/l/2", "value": 9}]),
                Some(json!([1, 2, 9])),
            ),
            (json!([{"op": "remove", "path": "/l/-1"}]), Some(json!([1]))),
            (
                json!([{"op": "replace", "path": "/l/1", "value": 9}]),
                Some(json!([1, 9])),
            ),
            (json!([{"op": "add", "path": "/l/3", "value": 9}]), None),
            (json!([{"op": "remove", "path": "/l/2"}]), None),
            (json!([{"op": "remove", "path": "/l/-3"}]), None),
            (
                json!([{"op": "replace", "path": "/l/9/x", "value": 9}]),
                None,
            ),
            (json!([{"op": "remove", "path": "/l/-"}]), None),
        ] {
            check(
                json!({"l": [1, 2]}),
                &patch,
                list.map(|list| json!({"l": list})),
            );
        }
    }

    #[test]
    fn too_much_is_refused() {
        let many = vec![json!({"op": "test", "path": "/a", "value": null}); OPERATIONS_MAX + 1];
        assert!(
            matches!(JsonPatch::decode(many.into()), Err(PatchError::TooManyOperations(n)) if n == OPERATIONS_MAX + 1)
        );
        let doubling = vec![json!({"op": "copy", "from": "/a", "path": "/a/-"}); 100];
        let mut doc = json!({"a": ["xxxxxxxxxxxxxxxx"]});
        let end = JsonPatch::decode(doubling.into()).unwrap().apply(&mut doc);
        assert!(matches!(
            end,
            Err(JsonPatchError::CopyTooLarge | JsonPatchError::TooDeep)
        ));
        let deeper = vec![json!({"op": "move", "from": "/a", "path": "/a/a"}); 1];
        check(json!({"a": {}}), &deeper.into(), None);
    }

    #[test]
    fn what_is_no_list_of_operations_is_no_patch() {
        let complaint = |patch| JsonPatch::decode(patch).unwrap_err().to_string();
        assert_eq!(
            complaint(json!({"op": "add"})),
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"
        );
        assert_eq!(
            complaint(json!([{"op": 1}])),
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"
        );
    }
}
