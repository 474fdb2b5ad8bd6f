//! What the tests of the whole program share: the binary as a process of its own, an HTTP client
//! over TLS, the reader of a watch, and kubectl.
//!
//! Every wait in here has a bound; a test that would hang fails instead and says what it waited
//! for.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "each test program takes only its part of this module, and a failure here is a test's"
)]

mod client;
mod dice;
mod kubectl;
mod process;
mod watch;

use std::time::Duration;

use serde_json::{Value, json};

pub(crate) use client::{Answer, Client, ClientError, Connection, Protocol};
pub(crate) use dice::{Dice, seed, setting};
pub(crate) use kubectl::{Child, Kubectl, Printed};
pub(crate) use process::{Masthead, Options, Refusal};
pub(crate) use watch::{Event, Next, Watch};

/// Where ConfigMaps of the namespace `default` are.
pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// How long anything may take that ought to be there at once: generous, for slow machines.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The output of `future`, which must come within `bound`.
pub(crate) async fn within<T>(bound: Duration, what: &str, future: impl Future<Output = T>) -> T {
    let Ok(output) = tokio::time::timeout(bound, future).await else {
        panic!("waited {bound:?} in vain for {what}");
    };
    output
}

/// A ConfigMap with one entry, `k`.
pub(crate) fn config_map(name: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"k": value},
    })
}

/// The `metadata.resourceVersion` of an object or a list, as a number.
pub(crate) fn version(object: &Value) -> u64 {
    let text = object["metadata"]["resourceVersion"]
        .as_str()
        .unwrap_or_default();
    text.parse()
        .unwrap_or_else(|_| panic!("no resourceVersion in {object}"))
}
