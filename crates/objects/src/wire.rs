//! Compact JSON as upstream writes it: `<`, `>`, `&`, U+2028 and U+2029 escaped, numbers in Go's
//! form, members in wire order.

use std::io;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::ser::Formatter;
use serde_json::{Map, Value};

use crate::catalog::Resource;

/// Members of `metadata` in wire order; resourceVersion is put in at the commit.
const METADATA: [&str; 14] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];
/// Members that are maps in every built-in kind, and so are printed in the order of their keys.
const MAPS: [&str; 16] = [
    "labels",
    "annotations",
    "data",
    "stringData",
    "binaryData",
    "matchLabels",
    "nodeSelector",
    "limits",
    "requests",
    "capacity",
    "allocatable",
    "parameters",
    "volumeAttributes",
    "overhead",
    "hard",
    "used",
];

/// `value` as upstream would print it, without a line feed.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, GoFormatter);
    match value.serialize(&mut serializer) {
        Ok(()) => out,
        // A Vec takes every byte, and the values of this crate serialise: there is no other case.
        Err(_) => Vec::new(),
    }
}

/// Writes strings and floats as Go's encoder does.
#[derive(Clone, Copy, Debug)]
struct GoFormatter;

impl Formatter for GoFormatter {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let bytes = fragment.as_bytes();
        // Without an early exit this is a loop over whole vectors; nearly every text ends here.
        let special = |byte: &u8| matches!(byte, b'<' | b'>' | b'&' | 0xE2);
        if !bytes
            .iter()
            .fold(false, |found, byte| found | special(byte))
        {
            return writer.write_all(bytes);
        }
        let (mut done, mut at) = (0, 0);
        while let Some(byte) = bytes.get(at) {
            let (escape, width): (&[u8], usize) = match byte {
                b'<' => (b"\\u003c", 1),
                b'>' => (b"\\u003e", 1),
                b'&' => (b"\\u0026", 1),
                0xE2 => match bytes.get(at + 1..at + 3) {
                    Some([0x80, 0xA8]) => (b"\\u2028", 3),
                    Some([0x80, 0xA9]) => (b"\\u2029", 3),
                    _ => (b"", 1),
                },
                _ => (b"", 1),
            };
            if !escape.is_empty() {
                writer.write_all(bytes.get(done..at).unwrap_or_default())?;
                writer.write_all(escape)?;
                done = at + width;
            }
            at += width;
        }
        writer.write_all(bytes.get(done..).unwrap_or_default())
    }

    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let size = value.abs();
        if size != 0.0 && !(1e-6..1e21).contains(&size) {
            let text = format!("{value:e}");
            return match text.split_once('e') {
                Some((digits, exponent)) if !exponent.starts_with('-') => {
                    write!(writer, "{digits}e+{exponent}")
                }
                _ => writer.write_all(text.as_bytes()),
            };
        }
        write!(writer, "{value}")
    }
}

/// An object of a built-in kind: `kind`, `apiVersion`, `metadata`, then the rest as it stands.
#[derive(Debug)]
pub(crate) struct Canonical<'a> {
    pub(crate) resource: &'a Resource,
    pub(crate) object: &'a Value,
}

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let empty = Map::new();
        let members = self.object.as_object().unwrap_or(&empty);
        let metadata = members
            .get("metadata")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", &self.resource.kind)?;
        map.serialize_entry("apiVersion", &self.resource.api_version)?;
        map.serialize_entry("metadata", &Metadata(metadata))?;
        for (key, value) in members {
            if !matches!(key.as_str(), "kind" | "apiVersion" | "metadata") {
                map.serialize_entry(key, &Member { key, value })?;
            }
        }
        map.end()
    }
}

/// `metadata` in wire order, without resourceVersion.
struct Metadata<'a>(&'a Map<String, Value>);

impl Serialize for Metadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for key in METADATA {
            if let Some(value) = self.0.get(key) {
                map.serialize_entry(key, &Member { key, value })?;
            }
        }
        for (key, value) in self.0 {
            if key != "resourceVersion" && !METADATA.contains(&key.as_str()) {
                map.serialize_entry(key, &Member { key, value })?;
            }
        }
        map.end()
    }
}

/// The value of the member `key` of a built-in kind.
struct Member<'a> {
    key: &'a str,
    value: &'a Value,
}

impl Serialize for Member<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Object(members) if MAPS.contains(&self.key) => {
                sorted(members).serialize(serializer)
            }
            Value::Object(members) if self.key == "fieldsV1" => members.serialize(serializer),
            Value::Object(members) if self.key == "metadata" => {
                Metadata(members).serialize(serializer)
            }
            Value::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (key, value) in members {
                    map.serialize_entry(key, &Member { key, value })?;
                }
                map.end()
            }
            Value::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for value in items {
                    seq.serialize_element(&Member { key: "", value })?;
                }
                seq.end()
            }
            scalar => scalar.serialize(serializer),
        }
    }
}

/// A map in the order of its keys.
struct SortedMap<'a>(Vec<(&'a String, Sorted<'a>)>);

fn sorted(members: &Map<String, Value>) -> SortedMap<'_> {
    let mut entries: Vec<_> = members
        .iter()
        .map(|(key, value)| (key, Sorted::Value(value)))
        .collect();
    entries.sort_by_key(|(key, _)| *key);
    SortedMap(entries)
}

impl Serialize for SortedMap<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// JSON whose objects are printed in the order of their keys, as custom resources are.
#[derive(Debug)]
pub(crate) enum Sorted<'a> {
    /// A whole object of a custom resource: its resource's kind, no resourceVersion.
    Object {
        /// Whose object it is.
        resource: &'a Resource,
        /// The object.
        members: &'a Value,
    },
    /// Its metadata.
    Metadata(&'a Value),
    /// Any other value.
    Value(&'a Value),
    /// A text that is not in the object.
    Text(&'a str),
}

impl<'a> Sorted<'a> {
    pub(crate) fn object(resource: &'a Resource, members: &'a Value) -> Self {
        Self::Object { resource, members }
    }
}

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let empty = Map::new();
        match self {
            Self::Object { resource, members } => {
                let members = members.as_object().unwrap_or(&empty);
                let nothing = Value::Object(Map::new());
                let mut entries = sorted(members).0;
                entries
                    .retain(|(key, _)| !matches!(key.as_str(), "kind" | "apiVersion" | "metadata"));
                let metadata = members.get("metadata").unwrap_or(&nothing);
                let names = ["apiVersion", "kind", "metadata"].map(String::from);
                let [api_version, kind, at] = &names;
                entries.push((api_version, Sorted::Text(&resource.api_version)));
                entries.push((kind, Sorted::Text(&resource.kind)));
                entries.push((at, Sorted::Metadata(metadata)));
                entries.sort_by_key(|(key, _)| *key);
                SortedMap(entries).serialize(serializer)
            }
            Self::Metadata(value) => {
                let mut map = sorted(value.as_object().unwrap_or(&empty));
                map.0.retain(|(key, _)| *key != "resourceVersion");
                map.serialize(serializer)
            }
            Self::Value(Value::Object(members)) => sorted(members).serialize(serializer),
            Self::Value(Value::Array(items)) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(&Sorted::Value(item))?;
                }
                seq.end()
            }
            Self::Value(scalar) => scalar.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}
