//! Bad input: a hundred thousand requests, made from good ones by breaking them, get well-formed
//! refusals (or succeed, where they turned out to be fine). No panic, no failure that upstream
//! does not have, no hang; memory stays bounded, and afterwards the server works as before.
//!
//! `MASTHEAD_GARBAGE_SEED` and `MASTHEAD_GARBAGE_REQUESTS` repeat a run or make it longer;
//! `MASTHEAD_GARBAGE_ONLY` sends one request of a run alone.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests are not \"in tests\" for clippy"
)]

#[path = "garbage/bodies.rs"]
mod bodies;
#[path = "garbage/framing.rs"]
mod framing;
#[path = "garbage/judge.rs"]
mod judge;
#[path = "garbage/message.rs"]
mod message;
#[path = "garbage/mutate.rs"]
mod mutate;
#[path = "garbage/seeds.rs"]
mod seeds;
#[path = "garbage/shrink.rs"]
mod shrink;
mod support;
#[path = "garbage/survey.rs"]
mod survey;
#[path = "garbage/wire.rs"]
mod wire;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::block_in_place;

use judge::{Finding, Outcome, judge};
use message::Message;
use support::{CONFIG_MAPS, Client, Dice, Masthead, PATIENCE, config_map, seed, setting};
use wire::Way;

/// Requests, if nothing else is said.
const REQUESTS: u64 = 100_000;
/// Clients at a time.
const CLIENTS: usize = 16;
/// What the server may hold at any time: the greatest bodies of all clients a few times over, the
/// objects that the garbage made, and the caches of a debug build.
const RESIDENT_BYTES_MAX: u64 = 600 << 20;
/// More namespaces are not left by the garbage.
const NAMESPACES_MAX: usize = 60;
/// Nor more objects of one kind in one namespace.
const OBJECTS_MAX: usize = 100;
/// Of a large body the server need not read the rest before it hangs up; the system may then
/// throw the answer away.
const LARGE_BODY: usize = 60_000;

/// What all clients share.
struct Run {
    seed: u64,
    total: u64,
    next: AtomicU64,
    client: Client,
    token: String,
    writes: Vec<Message>,
    hello: Vec<u8>,
    codes: Mutex<BTreeMap<u16, u64>>,
    findings: Mutex<BTreeMap<String, Found>>,
}

/// Findings of one class.
struct Found {
    count: u64,
    first: (u64, How, Message, Finding),
}

/// How a request was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
enum How {
    Http2,
    Http1,
    /// These bytes.
    Broken(Vec<u8>),
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_is_refused_and_the_server_goes_on() {
    let seed = seed("MASTHEAD_GARBAGE_SEED");
    let total = setting("MASTHEAD_GARBAGE_REQUESTS", REQUESTS);
    println!("MASTHEAD_GARBAGE_SEED={seed} MASTHEAD_GARBAGE_REQUESTS={total}");
    let directory = tempfile::tempdir().unwrap();
    let mut server = block_in_place(|| Masthead::on(directory.path()));
    let run = Arc::new(Run {
        seed,
        total,
        next: AtomicU64::new(0),
        client: server.client(),
        token: server.token().to_owned(),
        writes: seeds::all_writes(),
        hello: framing::hello(),
        codes: Mutex::default(),
        findings: Mutex::default(),
    });
    let before = known_namespaces(&run.client).await;
    tidy(&run.client, &before).await;
    if let Ok(only) = std::env::var("MASTHEAD_GARBAGE_ONLY") {
        run.one(
            only.parse().unwrap(),
            &mut Way::new(&run.client, &run.token),
        )
        .await;
    } else {
        let began = Instant::now();
        let peak = send_all(&run, &server, &before).await;
        println!(
            "{total} requests in {:?}, at most {} MB",
            began.elapsed(),
            peak >> 20
        );
        println!("answers by code: {:?}", run.codes.lock().unwrap());
        assert!(
            peak < RESIDENT_BYTES_MAX,
            "seed {seed}: the server grew to {peak} bytes"
        );
    }
    let report = run.report().await;
    assert!(report.is_empty(), "seed {seed}:\n{report}");
    assert!(server.is_alive(), "seed {seed}: the server is gone");
    assert!(
        !server.log().contains("panicked"),
        "seed {seed}: a panic, see the log"
    );
    works(&run.client).await;
    // What was stored is readable, and no reason not to start again.
    let before = survey::all_objects(&run.client).await;
    let ended = block_in_place(|| server.terminate(PATIENCE));
    assert!(ended.success(), "seed {seed}: {ended}");
    let server = block_in_place(|| Masthead::on(directory.path()));
    let after = survey::all_objects(&server.client()).await;
    let differences = survey::differences(&before, &after);
    println!("{} objects survived a restart", after.len());
    assert!(after.len() > 100, "seed {seed}: too few to tell");
    assert!(
        differences.is_empty(),
        "seed {seed}: after a restart {}",
        differences.join("\n")
    );
}

/// All requests of the run; the most memory that the server had.
async fn send_all(run: &Arc<Run>, server: &Masthead, namespaces: &[String]) -> u64 {
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let run = Arc::clone(run);
            tokio::spawn(async move {
                let mut way = Way::new(&run.client, &run.token);
                loop {
                    let number = run.next.fetch_add(1, Ordering::Relaxed);
                    if number >= run.total {
                        return;
                    }
                    run.one(number, &mut way).await;
                }
            })
        })
        .collect();
    let mut peak = 0;
    while !clients.iter().all(tokio::task::JoinHandle::is_finished) {
        tokio::time::sleep(Duration::from_millis(300)).await;
        peak = peak.max(server.resident_bytes());
        tidy(&run.client, namespaces).await;
    }
    for client in clients {
        client.await.unwrap();
    }
    peak
}

impl Run {
    /// Sends the request with this number; it follows from the number and the seed.
    async fn one(&self, number: u64, way: &mut Way) {
        let mut dice = Dice::new(self.seed).split(number);
        let mut message = seeds::pick(&mut dice, &self.writes);
        mutate::mutate(&mut dice, &mut message);
        let how = match dice.below(1000) {
            0..600 => How::Http2,
            600..955 => How::Http1,
            955..995 => How::Broken(framing::break_bytes(&mut dice, &way.render(&message))),
            995..998 => return framing::broken_http2(&self.client, &mut dice).await,
            _ => {
                let address = self.client.address();
                return framing::broken_tls(address, &mut dice, &self.hello).await;
            }
        };
        if let Err(finding) = self.send(&how, &message, way).await {
            if std::env::var("MASTHEAD_GARBAGE_ONLY").is_ok() {
                println!("{how:?}\n{message}\n  ─▶ {}", finding.answer);
            }
            let mut findings = self.findings.lock().unwrap();
            let found = findings
                .entry(finding.class.clone())
                .or_insert_with(|| Found {
                    count: 0,
                    first: (number, how, message, finding),
                });
            found.count += 1;
        }
    }

    async fn send(&self, how: &How, message: &Message, way: &mut Way) -> Result<(), Finding> {
        let outcome = match how {
            How::Http2 => match way.over_http2(message).await {
                Some(outcome) => outcome,
                None => way.over_http1(message).await,
            },
            How::Http1 => way.over_http1(message).await,
            How::Broken(bytes) => way.broken(bytes, message).await,
        };
        if let Outcome::Reply(reply) = &outcome {
            *self.codes.lock().unwrap().entry(reply.status).or_default() += 1;
        }
        match (&outcome, how) {
            (Outcome::Closed(_), How::Broken(_)) => Ok(()),
            (Outcome::Closed(_), How::Http1) if message.body.len() > LARGE_BODY => Ok(()),
            _ => judge(message, &outcome),
        }
    }

    /// What was found, each class with its shortest known request.
    async fn report(&self) -> String {
        let findings = std::mem::take(&mut *self.findings.lock().unwrap());
        let mut report = Vec::new();
        for (
            class,
            Found {
                count,
                first: (number, how, message, finding),
            },
        ) in findings
        {
            let mut short = message;
            if !matches!(how, How::Broken(_)) && finding.class != "no answer in time" {
                short = shrink::shrink(self, &how, short, &class).await;
            }
            let how = match &how {
                How::Broken(bytes) => format!("bytes {}", message::shown(bytes, 2000)),
                How::Http1 | How::Http2 => format!("{how:?}"),
            };
            let answer = finding.answer;
            report.push(format!(
                "{count} times {class}; first in request {number}, over {how}:\n  {short}\n  \
                 was answered {answer}\n"
            ));
        }
        report.join("\n")
    }
}

async fn known_namespaces(client: &Client) -> Vec<String> {
    let list = client.get("/api/v1/namespaces").await.ok();
    let items = list["items"].as_array().cloned().unwrap_or_default();
    let name = |item: &Value| item["metadata"]["name"].as_str().map(str::to_owned);
    let known = items.iter().filter_map(name);
    known.chain(seeds::NAMESPACES.map(str::to_owned)).collect()
}

/// Removes what the garbage made where it became much, and makes anew what it removed. This is
/// traffic as usual, and it must work in between.
async fn tidy(client: &Client, namespaces: &[String]) {
    let known = known_namespaces(client).await;
    for name in known.iter().filter(|_| known.len() > NAMESPACES_MAX) {
        if !namespaces.contains(name) {
            client.delete(&format!("/api/v1/namespaces/{name}")).await;
        }
    }
    for namespace in seeds::NAMESPACES {
        client
            .post(
                "/api/v1/namespaces",
                &json!({"metadata": {"name": namespace}}),
            )
            .await;
        for (path, object) in seeds::objects() {
            let path = path.replace("{}", namespace);
            let many = client
                .get(&format!("{path}?limit={OBJECTS_MAX}"))
                .await
                .ok();
            if many["metadata"]["continue"].is_string() {
                client.delete(&path).await.ok();
            }
            let made = client.post(&path, &object).await;
            assert!(
                matches!(made.status, 201 | 403 | 404 | 409),
                "{path} {}",
                made.json()
            );
        }
    }
}

/// A life of one object, as any client has it.
async fn works(client: &Client) {
    client
        .post(CONFIG_MAPS, &config_map("normal", "1"))
        .await
        .ok();
    let path = format!("{CONFIG_MAPS}/normal");
    assert_eq!(
        client.merge(&path, &json!({"data": {"k": "2"}})).await.ok()["data"]["k"],
        "2"
    );
    assert_eq!(client.get(&path).await.ok()["data"]["k"], "2");
    client.delete(&path).await.ok();
    assert_eq!(client.get(&path).await.status, 404);
}
