//! [`Call`]: one request about a resource, read from its path and query.

use std::sync::Arc;

use http::{HeaderMap, Method, Request};
use masthead_api::{
    Accept, Answer, FieldRequirement, FieldSelector, Format, Key, ListOptions, MediaType, Query,
    ResourcePath, Selector, Status, negotiate,
};
use masthead_objects::SharedResource;
use masthead_objects::write::{OptionsOf, WriteOptions};

use super::create::Run;
use super::{Answered, Payload, collection, is_known, item, subresource};
use crate::app::App;
use crate::metrics::Route;
use crate::respond::{Layout, Refusal};
use crate::warnings;

/// A request about a resource.
pub(crate) struct Call {
    pub(crate) resource: SharedResource,
    pub(crate) path: ResourcePath,
    pub(crate) query: Query,
    pub(crate) accept: Accept,
    pub(crate) headers: HeaderMap,
    pub(crate) method: Method,
    /// The namespace that objects are in, empty for cluster scope or all namespaces.
    pub(crate) namespace: String,
}

impl Call {
    /// Reads the request, and refuses paths whose scope is not the resource's.
    pub(crate) fn new(
        path: ResourcePath,
        resource: SharedResource,
        query: Query,
        accept: Accept,
        request: &Request<Payload>,
    ) -> Result<Self, Refusal> {
        let is_namespace = resource.group.is_empty() && resource.plural.as_ref() == "namespaces";
        let namespace = match &path.namespace {
            Some(namespace) if namespace.is_empty() => return Err(Status::not_found_path().into()),
            Some(namespace) if resource.is_namespaced() => namespace.clone(),
            Some(_) if !is_namespace => return Err(Status::not_found_path().into()),
            // An object of a namespaced resource has a namespace, the collection need not.
            None if resource.is_namespaced() && path.name.is_some() => {
                return Err(Status::not_found_path().into());
            }
            _ => String::new(),
        };
        let (headers, method) = (request.headers().clone(), request.method().clone());
        Ok(Self {
            resource,
            path,
            query,
            accept,
            headers,
            method,
            namespace,
        })
    }

    /// Answers the request.
    pub(crate) async fn answer(&self, app: &Arc<App>, request: Request<Payload>) -> Answered {
        if !is_known(&self.method) {
            return Err(Status::method_not_allowed().into());
        }
        if self.path.watch_prefix {
            return collection::watch_prefix(app, self);
        }
        let answered = self.dispatch(app, request).await;
        let warning = warnings::deprecation(&self.resource);
        answered.map(|mut answer| {
            if let Some(text) = warning {
                warnings::add(answer.headers_mut(), text);
            }
            answer
        })
    }

    async fn dispatch(&self, app: &Arc<App>, request: Request<Payload>) -> Answered {
        match (&self.path.name, &self.path.subresource) {
            (None, _) => collection::answer(app, self, request).await,
            (Some(name), None) => item::answer(app, self, name, request).await,
            (Some(name), Some(subresource)) => {
                subresource::answer(app, self, name, subresource, request).await
            }
        }
    }

    /// The key of the object with this name.
    pub(crate) fn key(&self, name: &str) -> Key {
        Key::new(&self.namespace, name)
    }

    /// The present version's absence.
    pub(crate) fn not_found(&self, name: &str) -> Status {
        Status::not_found(&self.resource.group, &self.resource.plural, name)
    }

    /// Refuses a verb that the resource does not have.
    pub(crate) fn require(&self, verb: &str) -> Result<(), Status> {
        if self.resource.has_verb(verb) {
            Ok(())
        } else {
            Err(Status::method_not_allowed())
        }
    }

    /// How the answer is to be written.
    pub(crate) fn negotiate(&self, answer: Answer) -> Result<MediaType, Status> {
        negotiate(&self.accept, answer)
    }

    /// The layout of a document in this media type.
    pub(crate) fn layout(&self, media: MediaType) -> Layout {
        let pretty = media.pretty || self.query.boolean("pretty") == Some(true);
        match media.format {
            Format::Yaml => Layout::Yaml,
            Format::Json if pretty => Layout::Pretty,
            Format::Json => Layout::Json,
        }
    }

    /// What the list or watch is about: scope, labels and fields.
    pub(crate) fn selector(&self, options: &ListOptions) -> Result<Selector, Status> {
        let fields = self.supported(&options.field_selector)?;
        let pinned = fields.exact("metadata.name").map(str::to_owned);
        if let (Some(name), Some(pinned)) = (&self.path.name, &pinned)
            && name != pinned
        {
            let message = "fieldSelector metadata.name doesn't match requested name";
            return Err(Status::bad_request(message));
        }
        Ok(Selector {
            namespace: (!self.namespace.is_empty()).then(|| self.namespace.clone()),
            name: self.path.name.clone(),
            labels: options.label_selector.clone(),
            fields,
        })
    }

    /// The field selector by the paths that its labels mean.
    fn supported(&self, selector: &FieldSelector) -> Result<FieldSelector, Status> {
        let path = |label: &str| {
            let path = self
                .resource
                .field(label)
                .map_err(|e| Status::bad_request(e.to_string()))?;
            Ok::<_, Status>(path.to_owned())
        };
        let requirements = selector.0.iter().map(|requirement| {
            Ok(match requirement {
                FieldRequirement::Equals { path: label, value } => FieldRequirement::Equals {
                    path: path(label)?,
                    value: value.clone(),
                },
                FieldRequirement::NotEquals { path: label, value } => FieldRequirement::NotEquals {
                    path: path(label)?,
                    value: value.clone(),
                },
            })
        });
        requirements
            .collect::<Result<Vec<_>, Status>>()
            .map(FieldSelector)
    }

    /// Is the write that the query speaks of only tried?
    ///
    /// # Errors
    /// 422 for options that make no sense.
    pub(crate) fn write_run(&self, of: OptionsOf) -> Result<Run, Status> {
        let options = WriteOptions::decode(of, &self.query)?;
        Ok(Run::of(options.dry_run))
    }

    /// What metrics call this kind of request.
    pub(crate) fn route(&self) -> Route {
        let watch = self.query.boolean("watch") == Some(true);
        let verb = match self.path.verb(self.method.as_str(), watch) {
            "get" => "GET",
            "list" => "LIST",
            "watch" => "WATCH",
            "create" => "POST",
            "update" => "PUT",
            "patch" => "PATCH",
            "delete" => "DELETE",
            "deletecollection" => "DELETECOLLECTION",
            _ => "OTHER",
        };
        let scope = match (&self.path.name, self.namespace.is_empty()) {
            (Some(_), _) => "resource",
            (None, false) => "namespace",
            (None, true) => "cluster",
        };
        let subresource = self.path.subresource.as_deref().unwrap_or_default();
        let known = self
            .resource
            .subresource(subresource)
            .map_or("", |s| s.name.as_ref());
        Route {
            verb,
            group: self.resource.group.as_ref().into(),
            version: self.resource.version.as_ref().into(),
            resource: self.resource.plural.as_ref().into(),
            subresource: known.into(),
            scope,
        }
    }
}
