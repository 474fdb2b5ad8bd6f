//! From a tree to the bytes that are stored, and what stored bytes say about themselves.
//!
//! Encoding is serialising and then indexing: [`index`] is the only one who knows where the
//! resourceVersion goes and what an object's labels and fields are.
//!
//! ```text
//! {"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n","uid":"u","labels":{}},"spec":…}
//!                                └ item_at                                       └ splice
//! ```
//!
//! A built-in kind prints `metadata` in its own order and resourceVersion right behind uid; a custom
//! resource prints every object in alphabetical order.

use std::borrow::Cow;

use bytes::Bytes;
use masthead_api::{Comma, Encoded, Labels, Splice};
use serde_json::Value;

use crate::catalog::{Resource, Wire};
use crate::fields::Collector;
use crate::scan::{DecodeError, Scanner};
use crate::wire::{self, Canonical, Sorted};

/// Members that a list item of a built-in kind leaves out.
const LEADING: [&str; 2] = ["kind", "apiVersion"];
/// Members of `metadata` before resourceVersion.
const BEFORE_VERSION: [&str; 5] = ["name", "generateName", "namespace", "selfLink", "uid"];

/// The stored form of `object`: `kind` and `apiVersion` of `resource`, canonical order, no
/// resourceVersion. Both are in the version that is stored ([`crate::Catalog::stored`]). Cost: one
/// pass to write, one to index.
///
/// # Errors
/// `object` has labels that are no strings: nothing that passed validation does.
pub fn encode(resource: &Resource, object: &Value) -> Result<Encoded, DecodeError> {
    let json = match resource.wire {
        Wire::Builtin => wire::to_vec(&Canonical { resource, object }),
        Wire::Custom => wire::to_vec(&Sorted::object(resource, object)),
    };
    index(resource, Bytes::from(json))
}

/// What `json` says about itself: where its resourceVersion goes, its labels and fields. Walks over
/// the bytes once and builds no tree.
///
/// # Errors
/// `json` is no object with `metadata`, or holds a resourceVersion already.
pub fn index(resource: &Resource, json: impl Into<Bytes>) -> Result<Encoded, DecodeError> {
    let json = json.into();
    let mut scanner = Scanner::new(&json);
    let mut fields = Collector::new(resource);
    let mut found: Option<(Splice, Labels)> = None;
    let (mut seen, mut leading, mut item_at) = (0, 0, 1);
    scanner.object(|s, key, at| {
        if seen == leading && LEADING.get(seen) == Some(&key) {
            leading += 1;
        } else if seen == LEADING.len() && seen == leading && resource.wire == Wire::Builtin {
            item_at = at;
        }
        seen += 1;
        if key == "metadata" {
            found = Some(metadata(s, resource.wire)?);
            return Ok(());
        }
        fields.member(s, key)
    })?;
    scanner.end()?;
    let (splice, labels) = found.ok_or(DecodeError::NoMetadata)?;
    Ok(Encoded {
        splice,
        item_at,
        labels,
        fields: fields.finish(),
        json,
    })
}

/// The splice and the labels of the metadata object that starts here.
fn metadata(s: &mut Scanner<'_>, wire: Wire) -> Result<(Splice, Labels), DecodeError> {
    if s.peek() != Some(b'{') {
        return Err(DecodeError::NoMetadata);
    }
    let mut splice = Splice {
        at: s.at() + 1,
        comma: Comma::None,
    };
    let mut behind = false;
    let mut labels: Vec<(Box<str>, Box<str>)> = Vec::new();
    s.object(|s, key, _| {
        let before = match wire {
            Wire::Builtin => BEFORE_VERSION.contains(&key),
            Wire::Custom => key < "resourceVersion",
        };
        match key {
            "resourceVersion" => return Err(DecodeError::HoldsResourceVersion),
            "labels" if s.peek() == Some(b'{') => s.object(|s, key, _| {
                labels.push((Box::from(key), boxed(s.string()?)));
                Ok(())
            })?,
            _ => {
                s.skip()?;
            }
        }
        if before && !behind {
            splice = Splice {
                at: s.at(),
                comma: Comma::Before,
            };
        } else {
            behind = true;
            if splice.comma == Comma::None {
                splice.comma = Comma::After;
            }
        }
        Ok(())
    })?;
    Ok((splice, labels.into_iter().collect()))
}

fn boxed(text: Cow<'_, str>) -> Box<str> {
    match text {
        Cow::Borrowed(text) => text.into(),
        Cow::Owned(text) => text.into_boxed_str(),
    }
}

#[cfg(test)]
mod tests;
