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
/// The last kills happen on a server that forgets its history all the time.
const KILLS_WHILE_COMPACTING: u64 = 12;
/// What becomes of old revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Past {
    /// They are kept, and watchers go on from any of them.
    Kept,
    /// They are forgotten soon after they are old, so there are no watchers.
    Forgotten,
}

impl Past {
    const fn compaction_interval(self) -> &'static str {
        match self {
            Self::Kept => "0",
            Self::Forgotten => "100ms",
        }
    }

    /// The longest time between a start and a kill. What was forgotten is removed from the log once
    /// a second only.
    const fn life_max(self) -> Duration {
        match self {
            Self::Kept => Duration::from_millis(450),
            Self::Forgotten => Duration::from_millis(2500),
        }
    }

    const fn watchers(self) -> &'static [Habit] {
        match self {
            Self::Kept => &[Habit::Steady, Habit::Steady, Habit::Late],
            Self::Forgotten => &[],
        }
    }
}

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
        let left = kills - done;
        let (rounds, past) = if left <= KILLS_WHILE_COMPACTING {
            (left, Past::Forgotten)
        } else {
            (
                KILLS_PER_DIRECTORY.min(left - KILLS_WHILE_COMPACTING),
                Past::Kept,
            )
        };
        let dice = Dice::new(seed).split(done);
        match Life::begin(dice, past).await.rounds(rounds).await {
            Ok(count) => writes += count,
            Err(fault) => {
                panic!("seed {seed}, {past:?}, after {done} kills and a few more: {fault}")
            }
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
    past: Past,
    dice: Dice,
    server: Masthead,
    clock: Arc<HistoryClock>,
    watchers: Vec<Watcher>,
    state: State,
}

impl Life {
    async fn begin(dice: Dice, past: Past) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let server = start(directory.path(), past);
        let client = server.client();
        let namespace = json!({"metadata": {"name": "crash"}});
        client.post("/api/v1/namespaces", &namespace).await.ok();
        let state = list(&client).await.unwrap();
        let mut watchers: Vec<Watcher> = past
            .watchers()
            .iter()
            .map(|habit| Watcher::new(*habit, state.revision))
            .collect();
        for watcher in watchers.iter_mut().filter(|watcher| watcher.is_steady()) {
            watcher.connect(&client);
        }
        Self {
            directory,
            past,
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
        let life = self.dice.roll() % self.past.life_max().as_micros() as u64;
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
        self.server = start(self.directory.path(), self.past);
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

fn start(directory: &Path, past: Past) -> Masthead {
    let interval = past.compaction_interval();
    let words = [
        "--etcd-compaction-interval",
        interval,
        "--log-level",
        "warn",
    ];
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
