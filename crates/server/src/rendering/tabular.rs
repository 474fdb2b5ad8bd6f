//! [`Tabular`]: objects as Tables, what `kubectl get` prints.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use jiff::Timestamp;
use masthead_api::{Event, Form, MetaVersion, Object, Revision, Status, WatchEventType};
use masthead_objects::table::{ColumnDefinitions, IncludeObject, Table, TableFormat};
use masthead_objects::{BookmarkKind, SharedResource, bookmark_json};

use super::{partial_version, shown};
use crate::app::App;
use crate::handle::Call;
use crate::hub::Hub;

/// Forms of tables come after those of metadata alone.
const FORM_BASE: u16 = 8;

/// A Table rendering of one answer.
pub(super) struct Tabular {
    hub: Arc<Hub>,
    resource: SharedResource,
    table: &'static Table,
    format: TableFormat,
    columns: ColumnDefinitions,
    /// First form of the resource.
    forms: u16,
}

impl Tabular {
    /// The table of the call's resource, with what its rows are to carry.
    pub(super) fn new(
        app: &App,
        call: &Call,
        version: MetaVersion,
        forms: u16,
    ) -> Result<Self, Status> {
        let include = call.query.get("includeObject").unwrap_or_default();
        let include =
            IncludeObject::parse(include).map_err(|e| Status::bad_request(e.to_string()))?;
        Ok(Self {
            hub: Arc::clone(&app.hub),
            resource: call.resource.clone(),
            table: Table::of(&call.resource),
            format: TableFormat {
                version: partial_version(version),
                include,
            },
            columns: ColumnDefinitions::Shown,
            forms,
        })
    }

    fn now(&self) -> Timestamp {
        self.hub.clock().now()
    }

    /// One object as the whole answer.
    pub(super) fn object(&self, json: &Bytes) -> Option<Bytes> {
        self.one(json, &shown(&self.resource, json.clone()))
    }

    /// A table of one row: cells from `json`, which is as it is stored, and what it carries from
    /// `shown`.
    fn one(&self, json: &[u8], shown: &[u8]) -> Option<Bytes> {
        self.table
            .one(json, shown, self.format, self.columns, self.now())
            .ok()
    }

    fn of(&self, object: &Object) -> Bytes {
        let shown = shown(&self.resource, object.json_bytes());
        self.one(object.json(), &shown).unwrap_or(shown)
    }

    /// The frame of an object of the initial state.
    pub(super) fn initial(&mut self, object: &Object) -> Bytes {
        let table = self.of(object);
        self.columns = ColumnDefinitions::Omitted;
        WatchEventType::Added.frame(&table)
    }

    /// The frame of a change. The first of a stream says what the columns are; later ones do not,
    /// and are shared with all watchers of the same table.
    pub(super) fn event(&mut self, event: &Event, seen: WatchEventType) -> Option<Bytes> {
        if self.columns == ColumnDefinitions::Shown {
            let object = event.object(seen)?;
            let table = self.of(object);
            self.columns = ColumnDefinitions::Omitted;
            return Some(seen.frame(&table));
        }
        event.frame(self.form(), seen, |object| self.of(object))
    }

    fn form(&self) -> Form {
        let include = match self.format.include {
            IncludeObject::Metadata => 0,
            IncludeObject::Object => 1,
            IncludeObject::None => 2,
        };
        let version = u16::from(self.format.version != masthead_objects::PartialVersion::V1);
        Form(self.forms + FORM_BASE + include * 2 + version)
    }

    /// A bookmark as a Table of one row.
    pub(super) fn bookmark(&mut self, revision: Revision, kind: BookmarkKind) -> Bytes {
        let whole = bookmark_json(&self.resource, revision, kind);
        let table = self.one(&whole, &whole).unwrap_or(whole);
        self.columns = ColumnDefinitions::Omitted;
        table
    }

    /// What stands before the rows of a list.
    pub(super) fn list_head(&mut self, metadata: &str, out: &mut BytesMut) {
        out.put_slice(&self.table.head(metadata, self.format, self.columns));
    }

    /// One row of a list.
    pub(super) fn list_item(&mut self, object: &Object, out: &mut BytesMut) {
        let mut row = Vec::with_capacity(object.json().len());
        let (json, shown) = (object.json(), shown(&self.resource, object.json_bytes()));
        if self
            .table
            .row(&mut row, json, &shown, self.format, self.now())
            .is_ok()
        {
            out.put_slice(&row);
        } else {
            out.put_slice(br#"{"cells":[],"object":null}"#);
        }
    }
}
