//! What happens to a store on disk whose newest journal was cut or changed: a torn tail of the last
//! batch is cut off, anything before it is refused with the place, and nothing is lost silently.
#![expect(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use masthead_store::{
    DataDir, FjallLog, LogError, OpenError, Reader, SpaceGuard, Store, StoreId, Txn,
};

/// How many commits; each but the first writes about 1,700 bytes, so that they span disk sectors.
const COMMITS: u64 = 8;

fn open(path: &Path) -> Result<Store, OpenError> {
    let log = FjallLog::open(DataDir::open(path, StoreId(1))?)?;
    Store::open(Arc::new(log), SpaceGuard::off(), Duration::ZERO)
}

fn value(number: u64) -> String {
    format!("{number}-").repeat(800)
}

fn commit(store: &mut Store, number: u64) {
    let txn = Txn::put(format!("key-{number}"), value(number));
    let result = store.commit(vec![txn]).unwrap().remove(0).unwrap();
    assert_eq!(result.commit.unwrap().revision.get(), number + 1);
}

/// Whether the store holds exactly the first commits, and how many.
fn whole(reader: &Reader) -> u64 {
    let commits = reader.revision().get() - 1;
    for number in 1..=COMMITS {
        let found = reader
            .get(format!("key-{number}").as_bytes(), None)
            .unwrap();
        let expected = (number <= commits).then(|| value(number));
        assert_eq!(
            found.map(|kv| String::from_utf8(kv.value.to_vec()).unwrap()),
            expected
        );
    }
    commits
}

/// A closed store with its journal: the file, its bytes, and where each commit ends in it.
struct Sample {
    temp: tempfile::TempDir,
    journal: PathBuf,
    bytes: Vec<u8>,
    /// Where the first commit begins: behind the store's number.
    begin: usize,
    ends: Vec<usize>,
}

fn journal_of(path: &Path) -> PathBuf {
    let entries = fs::read_dir(path.join("log"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|ext| ext == "jnl"))
        .max()
        .unwrap()
}

fn data_end(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1)
}

fn sample() -> Sample {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).unwrap();
    let journal = journal_of(temp.path());
    let begin = data_end(&fs::read(&journal).unwrap());
    let mut ends = Vec::new();
    for number in 1..=COMMITS {
        commit(&mut store, number);
        ends.push(data_end(&fs::read(&journal).unwrap()));
    }
    drop(store);
    let mut bytes = fs::read(&journal).unwrap();
    bytes.truncate(*ends.last().unwrap());
    Sample {
        temp,
        journal,
        bytes,
        begin,
        ends,
    }
}

impl Sample {
    /// Opens with other bytes in the journal; how many commits are there.
    fn open_with(&self, bytes: &[u8]) -> Result<u64, OpenError> {
        fs::write(&self.journal, bytes).unwrap();
        let mut store = open(self.temp.path())?;
        let commits = whole(&store.reader());
        if commits < COMMITS {
            // It goes on, and what is written now stays.
            commit(&mut store, commits + 1);
            drop(store);
            assert_eq!(whole(&open(self.temp.path())?.reader()), commits + 1);
        }
        Ok(commits)
    }
}

#[test]
fn a_cut_at_any_place_keeps_exactly_the_batches_before_it() {
    let sample = sample();
    let places = (sample.begin..sample.bytes.len())
        .step_by(397)
        .chain(sample.ends.iter().copied());
    for place in places {
        let expected = sample.ends.iter().filter(|end| **end <= place).count() as u64;
        assert_eq!(
            sample.open_with(&sample.bytes[..place]).unwrap(),
            expected,
            "cut at {place}"
        );
        // The same with the preallocated zeros behind.
        let mut padded = sample.bytes[..place].to_vec();
        padded.resize(place + 10_000, 0);
        assert_eq!(
            sample.open_with(&padded).unwrap(),
            expected,
            "zeros from {place}"
        );
    }
}

#[test]
fn a_changed_byte_before_the_last_batch_never_loses_a_commit_silently() {
    let sample = sample();
    let last_start = sample.ends[sample.ends.len() - 2];
    let mut refused = 0;
    for (round, place) in (4..last_start).step_by(149).enumerate() {
        let mut bytes = sample.bytes.clone();
        bytes[place] ^= 1 << (place % 8);
        match sample.open_with(&bytes) {
            // Only the engine's own counter of batches may be off without harm.
            Ok(commits) => assert_eq!(commits, COMMITS, "changed byte {place}"),
            Err(OpenError::Log(LogError::Journal { byte, .. })) => {
                // A changed number of a batch shows at the next one.
                assert!((byte as usize) < place + 1000);
                refused += 1;
            }
            Err(OpenError::Log(LogError::EngineDamaged { .. } | LogError::Record { .. })) => {
                refused += 1;
            }
            Err(other) => unreachable!("changed byte {place}: {other}"),
        }
        // A refusal changes nothing: with the old bytes back, all is there.
        if round % 16 == 0 {
            assert_eq!(sample.open_with(&sample.bytes).unwrap(), COMMITS);
        }
    }
    assert!(refused > 25, "{refused}");
}

#[test]
fn a_changed_byte_in_the_last_batch_is_refused_but_a_missing_sector_is_a_torn_tail() {
    let sample = sample();
    let last_start = sample.ends[sample.ends.len() - 2];
    for place in (last_start..sample.bytes.len()).step_by(83) {
        let mut bytes = sample.bytes.clone();
        bytes[place] ^= 0x10;
        if let Ok(commits) = sample.open_with(&bytes) {
            assert_eq!(commits, COMMITS, "changed byte {place}");
        }
    }
    let sector = (last_start / 512 + 1) * 512;
    assert!(sector + 512 < sample.bytes.len());
    for hole in [last_start..sector, sector..sector + 512] {
        let mut bytes = sample.bytes.clone();
        bytes[hole].fill(0);
        assert_eq!(sample.open_with(&bytes).unwrap(), COMMITS - 1);
    }
}

#[test]
fn a_second_process_is_refused_while_the_first_reads_on() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = open(temp.path()).unwrap();
    commit(&mut store, 1);
    let reader = store.reader();
    drop(store);
    assert!(matches!(open(temp.path()), Err(OpenError::Dir(_))));
    assert_eq!(whole(&reader), 1);
    drop(reader);
    assert_eq!(whole(&open(temp.path()).unwrap().reader()), 1);
}
