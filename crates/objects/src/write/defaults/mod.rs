//! What an object has where its writer said nothing.
//!
//! First the table (`rules`), then what a table cannot say (`special`), last the members that a
//! kind prints even if they are empty (`zero`). Applying twice is applying once.

mod path;
mod rules;
mod special;
mod zero;

use serde_json::Value;

use crate::catalog::{Resource, Wire};

/// Fills in the defaults of an object of `resource` that has been decoded.
pub fn apply(resource: &Resource, object: &mut Value) {
    if resource.wire == Wire::Custom {
        return;
    }
    special::before(&resource.kind, object);
    rules::apply(&resource.kind, object);
    special::after(&resource.kind, object);
    zero::fill(resource, object);
}

#[cfg(test)]
mod tests;
