//! Answers that are streamed: lists and watches.

mod gzip;
mod list_body;
mod watch_body;
pub(crate) mod websocket;

pub(crate) use gzip::{GZIP_FROM_BYTES, accepts_gzip, compress};
pub(crate) use list_body::{Items, ListBody, ListHead};
pub(crate) use watch_body::{Opening, WatchBody};
