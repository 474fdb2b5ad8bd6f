//! [`Namespace`]: where all objects of a run are, so that nothing else is touched.

use std::time::{Duration, Instant};

use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::client::{Call, Client, ClientError};
use super::connection::Connection;

/// Controllers wait 5 s before they empty a namespace. Where it is still there after this long,
/// nobody does it, and the finalizer is taken away from here.
const CONTROLLER_PATIENCE: Duration = Duration::from_secs(9);
const POLL_PERIOD: Duration = Duration::from_millis(200);
/// A server may end a long deletion of many objects half-way, so it is asked again.
const SWEEPS_MAX: u32 = 100;
/// What a run makes, and what controllers add to every namespace.
const RESOURCES: [&str; 3] = ["configmaps", "pods", "serviceaccounts"];

/// A namespace of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Namespace {
    name: String,
}

impl Namespace {
    /// Named by `suffix`; not made yet.
    pub(super) fn new(suffix: &str) -> Self {
        Self {
            name: format!("masthead-bench-{suffix}"),
        }
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The path of all its objects of `resource`.
    pub(super) fn path(&self, resource: &str) -> String {
        format!("/api/v1/namespaces/{}/{resource}", self.name)
    }

    fn own_path(&self) -> String {
        format!("/api/v1/namespaces/{}", self.name)
    }

    /// Makes it.
    pub(super) async fn create(&self, connection: &mut Connection) -> Result<(), ClientError> {
        let body = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": self.name, "labels": {"masthead-bench": "true"}},
        });
        let call = Call::new(Method::POST, "/api/v1/namespaces").body(body.to_string());
        connection.json(&call).await.map(drop)
    }

    /// Deletes it with all that is in it, and waits until it is gone.
    pub(super) async fn delete(&self, client: &Client) -> Result<(), ClientError> {
        let mut connection = client.connect().await?;
        let call = Call::new(Method::DELETE, self.own_path());
        match connection.json(&call).await {
            Err(error) if error.is_not_found() => return Ok(()),
            // It is being deleted already.
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        let asked = Instant::now();
        for resource in RESOURCES {
            self.sweep(&mut connection, resource).await?;
        }
        while asked.elapsed() < CONTROLLER_PATIENCE {
            if self.present(&mut connection).await?.is_none() {
                return Ok(());
            }
            sleep(POLL_PERIOD).await;
        }
        self.finalize(&mut connection).await
    }

    async fn sweep(&self, connection: &mut Connection, resource: &str) -> Result<(), ClientError> {
        let path = self.path(resource);
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0});
        let delete = Call::new(Method::DELETE, path.clone()).body(options.to_string());
        let look = Call::get(format!("{path}?limit=1"));
        for _ in 0..SWEEPS_MAX {
            match connection.stream(&delete, |_| {}).await {
                // Ended by the server's bound of time: what is left is asked for again.
                Ok(_) | Err(ClientError::Refused { .. }) => {}
                Err(error) => return Err(error),
            }
            let list = connection.json(&look).await?;
            if list.pointer("/items/0").is_none() {
                return Ok(());
            }
            sleep(POLL_PERIOD).await;
        }
        Err(ClientError::Answer {
            what: "end of a deletion",
        })
    }

    async fn present(&self, connection: &mut Connection) -> Result<Option<Value>, ClientError> {
        match connection.json(&Call::get(self.own_path())).await {
            Ok(namespace) => Ok(Some(namespace)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes the finalizer of the controller away that is not there.
    async fn finalize(&self, connection: &mut Connection) -> Result<(), ClientError> {
        let Some(mut namespace) = self.present(connection).await? else {
            return Ok(());
        };
        if let Some(spec) = namespace.get_mut("spec") {
            *spec = json!({"finalizers": []});
        }
        let path = format!("{}/finalize", self.own_path());
        let call = Call::new(Method::PUT, path).body(namespace.to_string());
        match connection.json(&call).await {
            Err(error) if error.is_not_found() => Ok(()),
            // The controller came after all and is at it.
            Err(error) if error.is_conflict() => Ok(()),
            done => done.map(drop),
        }
    }
}
