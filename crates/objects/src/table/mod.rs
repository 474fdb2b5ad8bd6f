//! Tables: what `kubectl get` prints, as rows of cells made by the server.
//!
//! A list is a head, rows with commas between them and a tail, each written when its turn comes; a
//! single object, an event and a bookmark are a Table of one row ([`Table::one`]). The column
//! definitions stand in the first event of a watch only.
//!
//! ```text
//! {"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{…},"columnDefinitions":[…],"rows":[ROW,ROW]}
//! └─ head ────────────────────────────────────────────────────────────────────────────────────┘       └┘ tail
//! ```

mod age;
mod cell;
mod columns;
mod pod;
mod selector;
mod service;
mod special;
#[cfg(test)]
mod tests;
mod view;
mod workload;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Map, Value};

pub use age::human;
pub use columns::Table;

use crate::partial::{PartialVersion, write_partial};
use crate::scan::{DecodeError, Scanner, Span};
use crate::wire;
use view::View;

/// What ends a Table after its last row.
pub const TAIL: &[u8] = b"]}";

/// What each row carries of its object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum IncludeObject {
    /// The metadata, as `PartialObjectMetadata`.
    #[default]
    Metadata,
    /// The whole object.
    Object,
    /// Nothing.
    None,
}

/// The query parameter includeObject has a value it cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Unable to convert to Table as requested: includeObject: Invalid value: {0:?}: must be 'Metadata', 'Object', 'None', or empty"
)]
pub struct InvalidIncludeObject(pub String);

impl IncludeObject {
    /// The value of the query parameter; the error's text is the message of the 400.
    ///
    /// # Errors
    /// The text is none of the known values.
    pub fn parse(text: &str) -> Result<Self, InvalidIncludeObject> {
        match text {
            "" | "Metadata" => Ok(Self::Metadata),
            "Object" => Ok(Self::Object),
            "None" => Ok(Self::None),
            other => Err(InvalidIncludeObject(other.to_owned())),
        }
    }
}

/// How a Table was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TableFormat {
    /// Version of `meta.k8s.io`.
    pub version: PartialVersion,
    /// What rows carry.
    pub include: IncludeObject,
}

/// Whether a Table says what its columns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnDefinitions {
    /// A list, a single object, the first event of a watch.
    Shown,
    /// Every later event.
    Omitted,
}

impl Table {
    /// What stands before the first row; `list_metadata` is the list's metadata as JSON.
    pub fn head(
        &self,
        list_metadata: &str,
        format: TableFormat,
        columns: ColumnDefinitions,
    ) -> Bytes {
        let definitions = match columns {
            ColumnDefinitions::Shown => self.definitions(),
            ColumnDefinitions::Omitted => "null",
        };
        Bytes::from(format!(
            r#"{{"kind":"Table","apiVersion":"{}","metadata":{list_metadata},"columnDefinitions":{definitions},"rows":["#,
            format.version.api_version()
        ))
    }

    /// Appends the row of one object. `json` is the object in its stored version, from which the
    /// cells are made; `shown` is what a row carries of it (the same bytes, or the object in another
    /// version).
    ///
    /// # Errors
    /// `json` or `shown` is no object with metadata.
    pub fn row(
        &self,
        out: &mut Vec<u8>,
        json: &[u8],
        shown: &[u8],
        format: TableFormat,
        now: Timestamp,
    ) -> Result<(), DecodeError> {
        let object = parse(json)?;
        self.write_row(out, &object, shown, format, now)
    }

    fn write_row(
        &self,
        out: &mut Vec<u8>,
        object: &Value,
        shown: &[u8],
        format: TableFormat,
        now: Timestamp,
    ) -> Result<(), DecodeError> {
        out.extend_from_slice(br#"{"cells":"#);
        out.extend_from_slice(&wire::to_vec(&self.cells(&View::new(object, now))));
        if let Some(conditions) = self.conditions(object) {
            out.extend_from_slice(br#","conditions":"#);
            out.extend_from_slice(conditions.as_bytes());
        }
        out.extend_from_slice(br#","object":"#);
        match format.include {
            IncludeObject::None => out.extend_from_slice(b"null"),
            IncludeObject::Object => out.extend_from_slice(shown),
            IncludeObject::Metadata => write_partial(out, shown, format.version)?,
        }
        out.push(b'}');
        Ok(())
    }

    /// A Table of one row: a single object, an event's object, a bookmark. Its resourceVersion is
    /// the object's. The bookmark that ends the initial events carries its metadata even where rows
    /// carry nothing, since its annotation must stay readable.
    ///
    /// # Errors
    /// `json` or `shown` is no object with metadata.
    pub fn one(
        &self,
        json: &[u8],
        shown: &[u8],
        mut format: TableFormat,
        columns: ColumnDefinitions,
        now: Timestamp,
    ) -> Result<Bytes, DecodeError> {
        let object = parse(json)?;
        let metadata = object.get("metadata").ok_or(DecodeError::NoMetadata)?;
        let version = view::text(metadata, "resourceVersion");
        let annotations = metadata.get("annotations");
        let ends = annotations.is_some_and(|a| a.get("k8s.io/initial-events-end").is_some());
        if ends && view::text(metadata, "uid").is_empty() && format.include == IncludeObject::None {
            format.include = IncludeObject::Metadata;
        }
        let list_metadata = if version.is_empty() {
            "{}".to_owned()
        } else {
            format!(r#"{{"resourceVersion":"{version}"}}"#)
        };
        let mut out = Vec::with_capacity(2 * json.len() + 256);
        out.extend_from_slice(&self.head(&list_metadata, format, columns));
        self.write_row(&mut out, &object, shown, format, now)?;
        out.extend_from_slice(TAIL);
        Ok(out.into())
    }
}

/// The object as a tree, without its managedFields: no cell shows them, and they are long.
fn parse(json: &[u8]) -> Result<Value, DecodeError> {
    let mut object = Map::new();
    let mut scanner = Scanner::new(json);
    scanner.object(|s, key, _| {
        let value = if key == "metadata" && s.peek() == Some(b'{') {
            let mut metadata = Map::new();
            s.object(|s, key, _| {
                let value = tree(json, s.skip()?, key != "managedFields")?;
                metadata.insert(key.to_owned(), value);
                Ok(())
            })?;
            Value::Object(metadata)
        } else {
            tree(json, s.skip()?, true)?
        };
        object.insert(key.to_owned(), value);
        Ok(())
    })?;
    scanner.end()?;
    Ok(Value::Object(object))
}

fn tree(json: &[u8], span: Span, is_wanted: bool) -> Result<Value, DecodeError> {
    if !is_wanted {
        return Ok(Value::Null);
    }
    serde_json::from_slice(json.get(span.from..span.until).unwrap_or_default())
        .map_err(|_| DecodeError::Malformed { at: span.from })
}
