//! Writers: each sends one write after another, over a connection of its own, until the server is
//! dead, and writes down what it was told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde_json::{Value, json};

use super::history::{HistoryClock, Op, Outcome, Stamp, Write};
use super::support::{Client, Connection, Dice, Protocol, version};

/// Where the objects are.
pub(crate) const OBJECTS: &str = "/api/v1/namespaces/crash/configmaps";
/// Objects that all writers fight for.
const SHARED: [&str; 3] = ["shared-a", "shared-b", "shared-c"];
/// Objects of one writer alone, two each.
const OWN: [[&str; 2]; 6] = [
    ["own-0-a", "own-0-b"],
    ["own-1-a", "own-1-b"],
    ["own-2-a", "own-2-b"],
    ["own-3-a", "own-3-b"],
    ["own-4-a", "own-4-b"],
    ["own-5-a", "own-5-b"],
];
/// How many writers there are.
pub(crate) const WRITERS: u32 = OWN.len() as u32;
/// No answer takes longer, from a server that lives.
const ANSWER_BOUND: Duration = Duration::from_secs(20);

/// One writer in one round.
pub(crate) struct Writer {
    pub(crate) round: u32,
    pub(crate) number: u32,
    pub(crate) dice: Dice,
    pub(crate) clock: Arc<HistoryClock>,
}

impl Writer {
    /// Writes until the server is dead.
    pub(crate) async fn run(mut self, client: Client) -> Vec<Write> {
        let mut writes = Vec::new();
        let protocol = if self.number.is_multiple_of(2) {
            Protocol::Http2
        } else {
            Protocol::Http1
        };
        let Ok(mut connection) = client.connect(protocol).await else {
            return writes;
        };
        let mut versions: BTreeMap<&str, u64> = BTreeMap::new();
        for number in 0.. {
            let write = self.plan(number, &versions);
            let write = self.send(&client, &mut connection, write).await;
            match write.outcome {
                Outcome::Committed(revision) => {
                    versions.insert(write.key, revision);
                }
                Outcome::Deleted | Outcome::Refused => {
                    versions.remove(write.key);
                }
                Outcome::Unknown => {}
            }
            writes.push(write);
            if write.outcome == Outcome::Unknown {
                break;
            }
            tokio::time::sleep(Duration::from_micros(self.dice.roll() % 4000)).await;
        }
        writes
    }

    fn plan(&mut self, number: u32, versions: &BTreeMap<&str, u64>) -> Write {
        let own = OWN[self.number as usize];
        let key = if self.dice.once_in(3) {
            self.dice.pick(&SHARED)
        } else {
            self.dice.pick(&own)
        };
        let known = versions.get(key).copied();
        let op = match (known, self.dice.below(8)) {
            (None, 0..4) | (Some(_), 7) => Op::Create,
            (_, 4 | 5) => Op::Update,
            (_, 6) => Op::Delete,
            (None | Some(_), _) => Op::Patch,
        };
        let conditional = op != Op::Create && self.dice.once_in(2);
        Write {
            key,
            op,
            stamp: Stamp {
                round: self.round,
                writer: self.number,
                number,
            },
            of: known.filter(|_| conditional),
            floor: self.clock.floor(),
            sent: self.clock.tick(),
            done: u64::MAX,
            outcome: Outcome::Unknown,
        }
    }

    async fn send(&self, client: &Client, connection: &mut Connection, write: Write) -> Write {
        let (method, path, body) = message(&write);
        let request = client.request(method, &path, body);
        let answer = tokio::time::timeout(ANSWER_BOUND, connection.call(request));
        let answer = answer
            .await
            .unwrap_or_else(|_| panic!("no answer to {write:?}"));
        let outcome = match answer {
            Err(_) => Outcome::Unknown,
            Ok(answer) => match (answer.status, write.op) {
                (200, Op::Delete) => Outcome::Deleted,
                (200, Op::Update | Op::Patch) | (201, Op::Create) => {
                    Outcome::Committed(version(&answer.json()))
                }
                (404 | 409, _) => Outcome::Refused,
                (status, _) => panic!("{write:?} was answered {status}: {}", answer.json()),
            },
        };
        if let Outcome::Committed(revision) = outcome {
            self.clock.acknowledge(revision);
        }
        let done = if outcome == Outcome::Unknown {
            u64::MAX
        } else {
            self.clock.tick()
        };
        Write {
            done,
            outcome,
            ..write
        }
    }
}

/// What goes over the wire for a write.
fn message(write: &Write) -> (Method, String, Option<(&'static str, Bytes)>) {
    const JSON: &str = "application/json";
    let item = format!("{OBJECTS}/{}", write.key);
    let mut object = object(write.key, write.stamp);
    let of = write.of.map(|of| of.to_string());
    if let Some(of) = &of {
        object["metadata"]["resourceVersion"] = of.as_str().into();
    }
    let (method, path, kind, body) = match write.op {
        Op::Create => (Method::POST, OBJECTS.to_owned(), JSON, object),
        Op::Update => (Method::PUT, item, JSON, object),
        Op::Patch if write.stamp.number.is_multiple_of(2) => {
            (Method::PATCH, item, "application/merge-patch+json", object)
        }
        Op::Patch => {
            let mut patch = vec![json!({"op": "add", "path": "/data", "value": object["data"]})];
            let version = "/metadata/resourceVersion";
            patch.extend(of.map(|of| json!({"op": "replace", "path": version, "value": of})));
            (
                Method::PATCH,
                item,
                "application/json-patch+json",
                patch.into(),
            )
        }
        Op::Delete => {
            let options = of.map_or_else(
                || json!({}),
                |of| json!({"preconditions": {"resourceVersion": of}}),
            );
            (Method::DELETE, item, JSON, options)
        }
    };
    (method, path, Some((kind, Bytes::from(body.to_string()))))
}

/// The object that a write sends.
pub(crate) fn object(key: &str, stamp: Stamp) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": key},
        "data": stamp.data(),
    })
}
