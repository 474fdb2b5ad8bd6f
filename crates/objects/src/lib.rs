//! What an object is: the table of kinds, metadata rules, patches, field selectors, tables, discovery.
//!
//! Pure: time, uids and random suffixes are arguments.

pub mod catalog;
pub mod convert;
pub mod discovery;
mod encode;
mod fields;
pub mod meta;
pub mod openapi;
mod partial;
pub mod patch;
mod scan;
pub mod table;
mod wire;
pub mod write;

pub use catalog::{
    BookmarkKind, Catalog, DeleteAnswer, Resource, Scope, SharedResource, StorageId, Subresource,
    Wire, bookmark_json, store_key, store_prefix,
};
pub use encode::{encode, index};
pub use fields::fields;
pub use partial::{PartialVersion, partial, partial_list_head};
pub use scan::DecodeError;
pub use wire::to_vec;
