//! POST: a new object.

use std::sync::Arc;

use bytes::Bytes;
use masthead_api::{Key, Object, Reason, Status};
use masthead_objects::{SharedResource, write};
use serde_json::Value;

use super::commit;
use crate::app::{App, storage_of, to_stored};

/// Tries at a name that is free, where the server makes it up.
const NAMES_MAX: usize = 8;

/// Whether a request is carried out or only tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Run {
    /// Carried out.
    ForReal,
    /// `dryRun=All`.
    Dry,
}

impl Run {
    /// What the option `dryRun` says.
    pub(crate) const fn of(dry_run: bool) -> Self {
        if dry_run { Self::Dry } else { Self::ForReal }
    }
}

/// What a write answers with.
#[derive(Debug)]
pub(crate) enum Answer {
    /// An object as it is stored.
    Stored(Arc<Object>),
    /// An object that is not stored, in the version that would be: of a dry run, or as it was when
    /// it went away.
    Value(Value),
}

impl Answer {
    /// The object's JSON, in the version that is stored.
    pub(crate) fn json(&self) -> Bytes {
        match self {
            Self::Stored(object) => object.json_bytes(),
            Self::Value(value) => Bytes::from(value.to_string()),
        }
    }
}

/// A creation.
pub(crate) struct Creation<'a> {
    /// Of what.
    pub(crate) resource: &'a SharedResource,
    /// Where, as the path says; empty for cluster scope.
    pub(crate) namespace: &'a str,
    /// The object as it was sent.
    pub(crate) object: Value,
    /// Or only tried?
    pub(crate) run: Run,
}

impl Creation<'_> {
    /// Creates the object.
    pub(crate) async fn run(mut self, app: &Arc<App>) -> Result<Answer, Status> {
        if self
            .object
            .pointer("/metadata/name")
            .is_none_or(|name| name == "")
        {
            for _ in 1..NAMES_MAX {
                match self.attempt(app, self.object.clone()).await {
                    Err(status) if status.reason == Reason::ALREADY_EXISTS => {}
                    answer => return answer,
                }
            }
        }
        let object = std::mem::take(&mut self.object);
        self.attempt(app, object).await
    }

    async fn attempt(&self, app: &Arc<App>, object: Value) -> Result<Answer, Status> {
        let stored = app.stored(self.resource);
        let asked = object
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let asked = asked.to_owned();
        let created = to_stored(self.resource, object)
            .and_then(|object| write::create(stored, self.namespace, object, &app.write_context()));
        // What is wrong with the request as such comes before what is wrong with the namespace,
        // and that before what is wrong with the object.
        if let Err(status) = &created
            && status.code == 400
        {
            return created.map(Answer::Value);
        }
        app.check_namespace(self.resource, self.namespace, &asked)?;
        let object = created?;
        let name = object
            .pointer("/metadata/name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let key = Key::new(self.namespace, name);
        self.refuse_existing(app, &key)?;
        if self.run == Run::Dry {
            return Ok(Answer::Value(object));
        }
        self.commit(app, key, &object).await
    }

    async fn commit(&self, app: &Arc<App>, key: Key, object: &Value) -> Result<Answer, Status> {
        let namespace = Key::new("", self.namespace);
        let requires = self.resource.is_namespaced();
        let requires = requires.then(|| commit::store_key(app.namespaces(), &namespace));
        let created = commit::create(app, self.resource, key.clone(), object, requires).await?;
        if let Some(object) = created.as_ref().and_then(|event| event.new.as_ref()) {
            return Ok(Answer::Stored(Arc::clone(object)));
        }
        self.refuse_existing(app, &key)?;
        app.check_namespace(self.resource, self.namespace, key.name())?;
        Err(already_exists(self.resource, key.name(), None))
    }

    fn refuse_existing(&self, app: &App, key: &Key) -> Result<(), Status> {
        match app.hub.get(storage_of(self.resource)?, key.as_str()) {
            Some(existing) => Err(already_exists(self.resource, key.name(), Some(&existing))),
            None => Ok(()),
        }
    }
}

fn already_exists(resource: &SharedResource, name: &str, existing: Option<&Object>) -> Status {
    let (plural, group) = (&resource.plural, &resource.group);
    if existing.is_some_and(super::is_terminating) {
        Status::already_exists_terminating(group, plural, name)
    } else {
        Status::already_exists(group, plural, name)
    }
}
