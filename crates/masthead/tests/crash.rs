//! The server is killed at random moments under concurrent writers, and started again on the same
//! data: no acknowledged write is missing, no object is torn, no version stands for two commits,
//! and watchers go on from their last version without a gap and without a repetition.
//!
//! `MASTHEAD_CRASH_SEED` and `MASTHEAD_CRASH_KILLS` repeat a run or make it longer.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are not \"in tests\" for clippy"
)]

#[path = "crash/check.rs"]
mod check;
#[path = "crash/fault.rs"]
mod fault;
#[path = "crash/history.rs"]
mod history;
mod support;
#[path = "crash/watchers.rs"]
mod watchers;
#[path = "crash/writers.rs"]
mod writers;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::block_in_place;

use check::Round;
use history::{HistoryClock, Stamp, State, Version, read_object};
use support::{Client, Dice, Masthead, Options, seed, setting, version};
use watchers::{Habit, Watcher};
use writers::{OBJECTS, WRITERS, Writer, object};

/// Kills, if nothing else is said.
const KILLS: u64 = 110;
/// Kills on one data directory: its history is kept whole, so it grows.
const KILLS_PER_DIRECTORY: u64 = 22;
/// The longest time between a start and a kill.
const LIFE_MAX: Duration = Duration::from_millis(450);
/// The writer that stands for the test itself.
const TESTER: u32 = 1000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_survive_sigkill_and_watchers_go_on() {
    let seed = seed("MASTHEAD_CRASH_SEED");
    let kills = setting("MASTHEAD_CRASH_KILLS", KILLS);
    println!("MASTHEAD_CRASH_SEED={seed} MASTHEAD_CRASH_KILLS={kills}");
    let mut done = 0;
    let mut writes = 0;
    while done < kills {
        let rounds = KILLS_PER_DIRECTORY.min(kills - done);
        let dice = Dice::new(seed).split(done);
        match Life::begin(dice).await.rounds(rounds).await {
            Ok(count) => writes += count,
            Err(fault) => panic!("seed {seed}, after {done} kills and a few more: {fault}"),
        }
        done += rounds;
    }
    println!("{done} kills, {writes} writes");
    assert!(
        writes > done * 10,
        "only {writes} writes in {done} rounds: nothing was tested"
    );
}

/// One data directory, with the servers that lived on it.
struct Life {
    directory: tempfile::TempDir,
    dice: Dice,
    server: Masthead,
    clock: Arc<HistoryClock>,
    watchers: Vec<Watcher>,
    state: State,
}

impl Life {
    async fn begin(dice: Dice) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let server = start(directory.path());
        let client = server.client();
        let namespace = json!({"metadata": {"name": "crash"}});
        client.post("/api/v1/namespaces", &namespace).await.ok();
        let state = list(&client).await.unwrap();
        let habits = [Habit::Steady, Habit::Steady, Habit::Late];
        let mut watchers: Vec<Watcher> = habits
            .into_iter()
            .map(|habit| Watcher::new(habit, state.revision))
            .collect();
        for watcher in &mut watchers[..2] {
            watcher.connect(&client);
        }
        Self {
            directory,
            dice,
            server,
            clock: Arc::default(),
            watchers,
            state,
        }
    }

    /// That many kills; the number of writes that were answered.
    async fn rounds(mut self, rounds: u64) -> Result<u64, String> {
        let mut answered = 0;
        for number in 0..rounds {
            let round = self.round(u32::try_from(number).unwrap_or(0)).await;
            let (mut life, round) = round.map_err(|fault| format!("round {number}: {fault}"))?;
            round
                .check()
                .map_err(|fault| format!("round {number}: {fault}"))?;
            answered += round
                .writes
                .iter()
                .filter(|write| write.done != u64::MAX)
                .count() as u64;
            life.state = next_base(&round, u32::try_from(number).unwrap_or(0));
            self = life;
        }
        self.server.kill();
        Ok(answered)
    }

    /// Writers write, the server dies and comes again, watchers go on.
    async fn round(mut self, number: u32) -> Result<(Self, Round), String> {
        let client = self.server.client();
        let chance = Dice::new(self.dice.roll());
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let dice = chance.split(u64::from(writer));
                let clock = Arc::clone(&self.clock);
                let writer = Writer {
                    round: number,
                    number: writer,
                    dice,
                    clock,
                };
                tokio::spawn(writer.run(client.apart()))
            })
            .collect();
        let life = self.dice.roll() % LIFE_MAX.as_micros() as u64;
        tokio::time::sleep(Duration::from_micros(life)).await;
        self.server.kill();
        let mut writes = Vec::new();
        for writer in writers {
            writes.extend(writer.await.map_err(|error| error.to_string())?);
        }
        for watcher in &mut self.watchers {
            watcher.drain().await?;
        }
        if self.dice.once_in(4) {
            let instant = Duration::from_micros(self.dice.roll() % 300_000);
            block_in_place(|| kill_while_starting(self.directory.path(), instant));
        }
        self.server = start(self.directory.path());
        let client = self.server.client();
        let after = list(&client).await?;
        for watcher in &mut self.watchers {
            watcher.connect(&client);
        }
        let sentinel = sentinel(&client, number).await;
        self.clock.acknowledge(sentinel);
        let mut streams = Vec::new();
        for watcher in &mut self.watchers {
            watcher.until(sentinel).await?;
            streams.push(watcher.finish_round());
        }
        let base = self.state.clone();
        Ok((
            self,
            Round {
                base,
                writes,
                streams,
                after,
                sentinel,
            },
        ))
    }
}

/// The state from which the next round starts.
fn next_base(round: &Round, number: u32) -> State {
    let mut state = round.after.clone();
    state.revision = round.sentinel;
    let stamp = Stamp {
        round: number,
        writer: TESTER,
        number: 0,
    };
    let version = Version {
        revision: round.sentinel,
        stamp,
    };
    state.objects.insert(format!("sentinel-{number}"), version);
    state
}

fn start(directory: &Path) -> Masthead {
    let words = ["--etcd-compaction-interval", "0"];
    let options = Options {
        data_dir: Some(directory.to_owned()),
        arguments: words.map(str::to_owned).to_vec(),
    };
    block_in_place(|| Masthead::start(&options))
}

/// A server that dies before, or just after, it is ready.
fn kill_while_starting(directory: &Path, after: Duration) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_masthead"))
        .args(["serve", "--listen", "127.0.0.1:0", "--kubeconfig-out"])
        .arg(directory.join("kubeconfig"))
        .arg("--data-dir")
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + after;
    std::thread::sleep(until.saturating_duration_since(Instant::now()));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// All objects, each of which must be whole.
async fn list(client: &Client) -> Result<State, String> {
    let list = client.get(OBJECTS).await.ok();
    let mut state = State {
        revision: version(&list),
        ..State::default()
    };
    for item in list["items"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
    {
        let (key, version) = read_object(item).map_err(|torn| torn.to_string())?;
        state.objects.insert(key, version);
    }
    Ok(state)
}

/// The first write after a restart; everything before it has a smaller version.
async fn sentinel(client: &Client, round: u32) -> u64 {
    let stamp = Stamp {
        round,
        writer: TESTER,
        number: 0,
    };
    let object: Value = object(&format!("sentinel-{round}"), stamp);
    version(&client.post(OBJECTS, &object).await.ok())
}
