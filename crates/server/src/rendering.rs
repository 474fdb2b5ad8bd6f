//! [`Rendering`]: how the objects of one answer are written: as they are, as metadata alone, or as
//! a table. A rendering of an event is made once and shared by all watchers that want it.

use bytes::{BufMut, Bytes, BytesMut};
use masthead_api::{
    Event, Form, MediaType, MetaVersion, Object, Revision, Status, Transform, WatchEventType,
};
use masthead_objects::{
    BookmarkKind, PartialVersion, SharedResource, Wire, bookmark_json, convert, partial,
    partial_list_head,
};

use crate::app::App;
use crate::handle::Call;
use crate::stream::ListHead;

mod tabular;

use tabular::Tabular;

/// Forms of a resource whose objects are stored in another version: each has a block of its own,
/// behind that of the stored versions.
const FORMS: u16 = 16;

/// How objects are written. They come in the version that is stored, and are written in that of the
/// resource.
pub(crate) struct Rendering {
    resource: SharedResource,
    style: Style,
    /// First form of the resource's block.
    forms: u16,
    /// Was the list form of metadata alone asked for?
    listed: bool,
}

enum Style {
    /// As it is stored.
    Object,
    /// In another version than the stored one.
    Converted,
    Partial(PartialVersion),
    Table(Box<Tabular>),
}

impl Rendering {
    /// The rendering that `media` asks for.
    pub(crate) fn new(app: &App, call: &Call, media: MediaType) -> Result<Self, Status> {
        let forms = forms(app, &call.resource);
        let style = match media.transform {
            Transform::None if forms == 0 => Style::Object,
            Transform::None => Style::Converted,
            Transform::PartialMetadata(v) | Transform::PartialMetadataList(v) => {
                Style::Partial(partial_version(v))
            }
            Transform::Table(version) => {
                Style::Table(Box::new(Tabular::new(app, call, version, forms)?))
            }
        };
        let listed = matches!(media.transform, Transform::PartialMetadataList(_));
        Ok(Self {
            resource: call.resource.clone(),
            style,
            forms,
            listed,
        })
    }

    /// This rendering, for one object.
    pub(crate) fn of_one(self) -> Result<Self, Status> {
        if self.listed {
            return Err(self.misfit(
                "PartialObjectMetadataList",
                "not a list",
                &self.resource.kind,
            ));
        }
        Ok(self)
    }

    /// This rendering, for a list.
    pub(crate) fn of_list(self) -> Result<Self, Status> {
        if matches!(self.style, Style::Partial(_)) && !self.listed {
            return Err(self.misfit("PartialObjectMetadata", "a list", &self.resource.list_kind));
        }
        Ok(self)
    }

    /// 406, with the name that upstream's own code has for the type.
    fn misfit(&self, wanted: &str, found: &str, kind: &str) -> Status {
        let group = self
            .resource
            .group
            .split('.')
            .next()
            .filter(|group| !group.is_empty());
        let package = group.unwrap_or("core");
        Status::not_acceptable(format!(
            "you requested {wanted}, but the requested object is {found} (*{package}.{kind})"
        ))
    }

    /// One object as the whole answer.
    pub(crate) fn object(&self, json: Bytes) -> Bytes {
        match &self.style {
            Style::Object => json,
            Style::Converted => convert::from_stored_bytes(&self.resource, &json),
            Style::Partial(version) => {
                let json = shown(&self.resource, json);
                partial(&json, *version).unwrap_or(json)
            }
            Style::Table(table) => table.object(&json).unwrap_or(json),
        }
    }

    /// The frame of an object of the initial state.
    pub(crate) fn initial(&mut self, object: &Object) -> Bytes {
        let event = WatchEventType::Added;
        match &mut self.style {
            Style::Object if object.frame().starts_with(event.head()) => object.frame().clone(),
            Style::Object => event.frame(object.json()),
            Style::Converted => event.frame(&shown(&self.resource, object.json_bytes())),
            Style::Partial(version) => event.frame(&metadata_of(&self.resource, object, *version)),
            Style::Table(table) => table.initial(object),
        }
    }

    /// The frame of a change, as a watcher sees it.
    pub(crate) fn event(&mut self, event: &Event, seen: WatchEventType) -> Option<Bytes> {
        let (resource, forms) = (&self.resource, self.forms);
        match &mut self.style {
            Style::Object => event.frame(Form::JSON, seen, Object::json_bytes),
            Style::Converted => event.frame(Form(forms), seen, |object| {
                shown(resource, object.json_bytes())
            }),
            Style::Partial(version) => {
                let form = Form(forms + form_of(*version));
                event.frame(form, seen, |object| metadata_of(resource, object, *version))
            }
            Style::Table(table) => table.event(event, seen),
        }
    }

    /// The frame of a bookmark; `end` marks the end of the initial events.
    pub(crate) fn bookmark(&mut self, revision: Revision, end: bool) -> Bytes {
        let kind = if end {
            BookmarkKind::InitialEventsEnd
        } else {
            BookmarkKind::Progress
        };
        let json = match &mut self.style {
            Style::Object | Style::Converted => bookmark_json(&self.resource, revision, kind),
            Style::Partial(version) => {
                let whole = bookmark_json(&self.resource, revision, kind);
                partial(&whole, *version).unwrap_or(whole)
            }
            Style::Table(table) => table.bookmark(revision, kind),
        };
        WatchEventType::Bookmark.frame(&json)
    }

    /// What stands before the items of a list.
    pub(crate) fn list_head(&mut self, head: &ListHead, out: &mut BytesMut) {
        match &mut self.style {
            Style::Object | Style::Converted => {
                let resource = &self.resource;
                out.put_slice(b"{\"kind\":\"");
                out.put_slice(resource.list_kind.as_bytes());
                out.put_slice(b"\",\"apiVersion\":\"");
                out.put_slice(resource.api_version.as_bytes());
                out.put_slice(b"\",\"metadata\":");
                out.put_slice(metadata(head).as_bytes());
                out.put_slice(b",\"items\":[");
            }
            Style::Partial(version) => {
                out.put_slice(&partial_list_head(&metadata(head), *version));
            }
            Style::Table(table) => table.list_head(&metadata(head), out),
        }
    }

    /// One item of a list.
    pub(crate) fn list_item(&mut self, object: &Object, out: &mut BytesMut) {
        match &mut self.style {
            Style::Object if self.resource.wire == Wire::Builtin => {
                out.put_u8(b'{');
                out.put_slice(object.item());
            }
            Style::Object => out.put_slice(object.json()),
            Style::Converted => {
                let json = shown(&self.resource, object.json_bytes());
                out.put_u8(b'{');
                out.put_slice(item(&self.resource, &json));
            }
            Style::Partial(version) => {
                out.put_slice(&metadata_of(&self.resource, object, *version));
            }
            Style::Table(table) => table.list_item(object, out),
        }
    }

    /// What stands behind the items of a list.
    pub(crate) fn list_tail(out: &mut BytesMut) {
        out.put_slice(b"]}\n");
    }
}

/// A list's metadata.
fn metadata(head: &ListHead) -> String {
    let mut text = format!(r#"{{"resourceVersion":"{}""#, head.revision);
    if let Some(token) = &head.continue_token {
        text.push_str(r#","continue":""#);
        text.push_str(token);
        text.push('"');
    }
    if let Some(remaining) = head.remaining {
        text.push_str(r#","remainingItemCount":"#);
        text.push_str(&remaining.to_string());
    }
    text.push('}');
    text
}

fn partial_version(version: MetaVersion) -> PartialVersion {
    match version {
        MetaVersion::V1 => PartialVersion::V1,
        MetaVersion::V1Beta1 => PartialVersion::V1beta1,
    }
}

const fn form_of(version: PartialVersion) -> u16 {
    match version {
        PartialVersion::V1 => 1,
        PartialVersion::V1beta1 => 2,
    }
}

/// The first form of a resource: several versions of one type share the events of one storage, and
/// each needs renderings of its own.
fn forms(app: &App, resource: &SharedResource) -> u16 {
    if resource.is_stored_version {
        return 0;
    }
    let place = app.catalog.iter().position(|known| {
        known.api_version == resource.api_version && known.plural == resource.plural
    });
    place
        .and_then(|place| u16::try_from((place + 1) * usize::from(FORMS)).ok())
        .unwrap_or(0)
}

/// A stored object in the version of `resource`.
fn shown(resource: &SharedResource, json: Bytes) -> Bytes {
    if resource.is_stored_version {
        json
    } else {
        convert::from_stored_bytes(resource, &json)
    }
}

/// What follows the opening brace of a list's item, which has no `kind` and `apiVersion`.
fn item<'a>(resource: &SharedResource, json: &'a [u8]) -> &'a [u8] {
    let leading = format!(
        r#"{{"kind":"{}","apiVersion":"{}","#,
        resource.kind, resource.api_version
    );
    json.strip_prefix(leading.as_bytes())
        .or_else(|| json.get(1..))
        .unwrap_or_default()
}

/// The metadata of an object alone, or the object itself where that could not be made.
fn metadata_of(resource: &SharedResource, object: &Object, version: PartialVersion) -> Bytes {
    let json = shown(resource, object.json_bytes());
    partial(&json, version).unwrap_or(json)
}
