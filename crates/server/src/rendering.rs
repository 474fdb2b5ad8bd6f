//! [`Rendering`]: how the objects of one answer are written: as they are, as metadata alone, or as
//! a table. A rendering of an event is made once and shared by all watchers that want it.

use bytes::{BufMut, Bytes, BytesMut};
use masthead_api::{
    Event, Form, MediaType, MetaVersion, Object, Revision, Status, Transform, WatchEventType,
};
use masthead_objects::{
    BookmarkKind, PartialVersion, SharedResource, Wire, bookmark_json, partial,
    partial_list_head,
};

use crate::app::App;
use crate::handle::Call;
use crate::stream::ListHead;

mod tabular;

use tabular::Tabular;

/// How objects are written.
pub(crate) struct Rendering {
    resource: SharedResource,
    style: Style,
    /// Was the list form of metadata alone asked for?
    listed: bool,
}

enum Style {
    Object,
    Partial(PartialVersion),
    Table(Box<Tabular>),
}

impl Rendering {
    /// The rendering that `media` asks for.
    pub(crate) fn new(app: &App, call: &Call, media: MediaType) -> Result<Self, Status> {
        let style = match media.transform {
            Transform::None => Style::Object,
            Transform::PartialMetadata(v) | Transform::PartialMetadataList(v) => {
                Style::Partial(partial_version(v))
            }
            Transform::Table(version) => Style::Table(Box::new(Tabular::new(app, call, version)?)),
        };
        let listed = matches!(media.transform, Transform::PartialMetadataList(_));
        Ok(Self { resource: call.resource.clone(), style, listed })
    }

    /// This rendering, for one object.
    pub(crate) fn of_one(self) -> Result<Self, Status> {
        if self.listed {
            return Err(self.misfit("PartialObjectMetadataList", "not a list", &self.resource.kind));
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
        let group = self.resource.group.split('.').next().filter(|group| !group.is_empty());
        let package = group.unwrap_or("core");
        Status::not_acceptable(format!(
            "you requested {wanted}, but the requested object is {found} (*{package}.{kind})"
        ))
    }

    /// One object as the whole answer.
    pub(crate) fn object(&self, json: Bytes) -> Bytes {
        match &self.style {
            Style::Object => json,
            Style::Partial(version) => partial(&json, *version).unwrap_or(json),
            Style::Table(table) => table.object(&json).unwrap_or(json),
        }
    }

    /// The frame of an object of the initial state.
    pub(crate) fn initial(&mut self, object: &Object) -> Bytes {
        let event = WatchEventType::Added;
        match &mut self.style {
            Style::Object if object.frame().starts_with(event.head()) => object.frame().clone(),
            Style::Object => event.frame(object.json()),
            Style::Partial(version) => event.frame(&or_whole(partial(object.json(), *version), object)),
            Style::Table(table) => table.initial(object),
        }
    }

    /// The frame of a change, as a watcher sees it.
    pub(crate) fn event(&mut self, event: &Event, seen: WatchEventType) -> Option<Bytes> {
        match &mut self.style {
            Style::Object => event.frame(Form::JSON, seen, Object::json_bytes),
            Style::Partial(version) => {
                let version = *version;
                event.frame(form_of(version), seen, |object| {
                    or_whole(partial(object.json(), version), object)
                })
            }
            Style::Table(table) => table.event(event, seen),
        }
    }

    /// The frame of a bookmark; `end` marks the end of the initial events.
    pub(crate) fn bookmark(&mut self, revision: Revision, end: bool) -> Bytes {
        let kind = if end { BookmarkKind::InitialEventsEnd } else { BookmarkKind::Progress };
        let json = match &mut self.style {
            Style::Object => bookmark_json(&self.resource, revision, kind),
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
            Style::Object => {
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
            Style::Partial(version) => {
                out.put_slice(&or_whole(partial(object.json(), *version), object));
            }
            Style::Table(table) => table.list_item(object, out),
        }
    }

    /// What stands behind the items of a list.
    pub(crate) fn list_tail(&mut self, out: &mut BytesMut) {
        out.put_slice(b"]}\n");
    }
}

/// A list's metadata.
fn metadata(head: &ListHead) -> String {
    let mut text = format!(r#"{{"resourceVersion":"{}""#, head.revision);
    if let Some(token) = &head.continue_token {
        text.push_str(&format!(r#","continue":"{token}""#));
    }
    if let Some(remaining) = head.remaining {
        text.push_str(&format!(r#","remainingItemCount":{remaining}"#));
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

fn form_of(version: PartialVersion) -> Form {
    match version {
        PartialVersion::V1 => Form(1),
        PartialVersion::V1beta1 => Form(2),
    }
}

/// A rendering, or the object itself where it could not be made.
fn or_whole<E>(rendered: Result<Bytes, E>, object: &Object) -> Bytes {
    rendered.unwrap_or_else(|_| object.json_bytes())
}
