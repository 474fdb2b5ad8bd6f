use std::ops::Range;

use bytes::Bytes;

use super::*;
use crate::log::{FjallLog, Log, LogBatch};
use crate::record::seal;
use crate::{DataDir, Position, StoreId};

/// The bytes of a real journal, and the places of its batches.
fn sample() -> (Vec<u8>, Vec<Range<usize>>) {
    let temp = tempfile::tempdir().unwrap();
    let log = FjallLog::open(DataDir::open(temp.path(), StoreId(1)).unwrap()).unwrap();
    let path = list(&temp.path().join("log")).unwrap().pop().unwrap().1;
    let data_end = || {
        let bytes = fs::read(&path).unwrap();
        bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1
    };
    // The first one says whose log it is.
    let mut end = data_end();
    let mut batches: Vec<_> = std::iter::once(0..end).collect();
    for number in 2..6 {
        let at = Position::first(masthead_api::Revision::new(number).unwrap());
        let record = seal(&at.to_bytes(), "value ".repeat(100).as_bytes());
        let fact = (Bytes::from("fact"), Some(seal(b"fact", &[7; 8])));
        let gone = (Bytes::from("gone"), None);
        let removed = vec![Position { sub: 1, ..at }];
        log.append(LogBatch {
            records: vec![(at, record)],
            removed,
            facts: vec![fact, gone],
        })
        .unwrap();
        let new_end = data_end();
        batches.push(end..new_end);
        end = new_end;
    }
    let mut bytes = fs::read(&path).unwrap();
    bytes.truncate(end);
    (bytes, batches)
}

fn verdict(path: &Path, bytes: &[u8]) -> Verdict {
    fs::write(path, bytes).unwrap();
    inspect(path).unwrap()
}

#[test]
fn a_cut_at_every_byte_is_a_torn_tail_of_the_batch_that_it_cuts() {
    let (bytes, batches) = sample();
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("0.jnl");
    for place in 0..=bytes.len() {
        let cut = batches
            .iter()
            .find(|batch| batch.start < place && place < batch.end);
        let expected = cut.map_or(Verdict::Clean, |batch| Verdict::Torn(batch.start as u64));
        assert_eq!(verdict(&path, &bytes[..place]), expected, "cut at {place}");
        if place % 16 == 0 {
            let mut padded = bytes[..place].to_vec();
            padded.resize(place + 5000, 0);
            assert_eq!(verdict(&path, &padded), expected, "zeros from {place}");
        }
    }
}

#[test]
fn no_changed_byte_is_taken_for_a_torn_tail() {
    let (bytes, batches) = sample();
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("0.jnl");
    let mut unseen = 0;
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1 << (place % 8);
        match verdict(&path, &changed) {
            Verdict::Damaged(_) => {}
            // A content, for the engine's checksum and the store's own to find.
            Verdict::Clean => unseen += usize::from(place >= batches.last().unwrap().start),
            Verdict::Torn(at) => assert_eq!(at, u64::MAX, "changed byte {place}"),
        }
    }
    // In the last batch: four keyspace numbers, the checksum, the sequence number, two kinds of
    // removals whose names have no checksum here.
    assert!(unseen < 100, "{unseen}");
}

#[test]
fn a_missing_sector_of_the_last_batch_is_a_torn_tail_and_of_another_is_damage() {
    let (bytes, batches) = sample();
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("0.jnl");
    for batch in &batches {
        let border = (batch.start / 512 + 1) * 512;
        let mut holed = bytes.clone();
        holed[batch.start..border.min(batch.end)].fill(0);
        let start = batch.start as u64;
        let last = batch.end == bytes.len();
        let expected = if last {
            Verdict::Torn(start)
        } else {
            Verdict::Damaged(start)
        };
        assert_eq!(verdict(&path, &holed), expected, "{batch:?}");
    }
}

#[test]
fn only_the_newest_journal_may_be_torn_and_its_tail_is_cut() {
    let (bytes, batches) = sample();
    let temp = tempfile::tempdir().unwrap();
    let (older, newer) = (temp.path().join("0.jnl"), temp.path().join("1.jnl"));
    let torn = &bytes[..bytes.len() - 1];
    fs::write(&older, &bytes).unwrap();
    fs::write(&newer, torn).unwrap();
    check_directory(temp.path()).unwrap();
    assert_eq!(
        fs::metadata(&newer).unwrap().len() as usize,
        batches.last().unwrap().start
    );
    fs::write(&older, torn).unwrap();
    assert!(
        matches!(check_directory(temp.path()), Err(LogError::Journal { path, .. }) if path == older)
    );
}
