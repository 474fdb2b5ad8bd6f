use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::{CompactProgress, KeyRange, LeaseId, Op, ReadError, SpaceGuard, Store, Txn};

const ID: StoreId = StoreId(0xabc);

/// A store with history, a deletion, a lease and a compaction that is half done.
fn filled() -> Store {
    let mut store = Store::in_memory();
    let lease = store
        .grant(LeaseId::new(5), Duration::from_mins(1), Duration::ZERO)
        .unwrap();
    for round in 0..4 {
        let leased = Op::Put {
            key: "leased".into(),
            value: "v".into(),
            lease: Some(lease),
        };
        let put = Op::put(format!("k{round}"), format!("{round}"));
        store
            .commit(vec![Txn::of(vec![
                leased,
                put,
                Op::put("same", format!("{round}")),
            ])])
            .unwrap();
    }
    store.commit(vec![Txn::delete("k1")]).unwrap();
    store.compact(Revision::new(3).unwrap()).unwrap();
    store
}

fn open(directory: &Path) -> Store {
    Store::open_dir(directory, ID, SpaceGuard::RESERVE_BYTES, Duration::ZERO).unwrap()
}

#[test]
fn a_snapshot_brings_everything_back() {
    let temp = tempfile::tempdir().unwrap();
    let (file, directory) = (temp.path().join("snap"), temp.path().join("data"));
    let store = filled();
    let written = store.reader().snapshot_to(&file, ID).unwrap();
    assert_eq!((written.store, written.records), (ID, 13));
    assert_eq!(written.bytes, fs::metadata(&file).unwrap().len());
    assert_eq!(
        restore(&file, &directory, StoreId(1), Raise::Not).unwrap(),
        written
    );

    let mut back = open(&directory);
    let (old, new) = (store.reader(), back.reader());
    assert_eq!(old.revision(), new.revision());
    for number in 3..=6 {
        let at = Revision::new(number);
        let state = |reader: &Reader| reader.range(&KeyRange::all(), at, 99).unwrap();
        assert_eq!(state(&old), state(&new));
    }
    let after = Revision::new(2).unwrap();
    assert_eq!(
        old.commits_after(after, 99).unwrap(),
        new.commits_after(after, 99).unwrap()
    );
    assert!(matches!(
        new.get(b"same", Some(after)),
        Err(ReadError::Compacted { .. })
    ));
    while back.compact_step().unwrap() == CompactProgress::More {}
    let revoked = back.revoke(LeaseId::new(5).unwrap()).unwrap().unwrap();
    assert_eq!((revoked.revision.get(), revoked.changes.len()), (7, 1));
}

#[test]
fn raised_revisions_give_up_the_history_before() {
    let temp = tempfile::tempdir().unwrap();
    let (file, directory) = (temp.path().join("snap"), temp.path().join("data"));
    let store = filled();
    store.reader().snapshot_to(&file, ID).unwrap();
    restore(&file, &directory, StoreId(1), Raise::By(1000)).unwrap();
    let mut back = open(&directory);
    assert_eq!(back.revision().get(), 1006);
    let reader = back.reader();
    let all = |reader: &Reader| reader.range(&KeyRange::all(), None, 99).unwrap().kvs;
    assert_eq!(all(&reader), all(&store.reader()));
    let lost = reader.commits_after(Revision::new(6).unwrap(), 9);
    assert!(matches!(lost, Err(ReadError::Compacted { .. })));
    let commit = back
        .commit(vec![Txn::put("new", "")])
        .unwrap()
        .remove(0)
        .unwrap()
        .commit;
    assert_eq!(commit.unwrap().revision.get(), 1007);
    while back.compact_step().unwrap() == CompactProgress::More {}
    assert_eq!(all(&reader).len(), all(&store.reader()).len() + 1);
    let far = temp.path().join("far");
    let error = restore(&file, &far, StoreId(1), Raise::By(u64::MAX)).unwrap_err();
    assert!(matches!(error, SnapshotError::TooFar { .. }));
    // What was interrupted can be done again.
    restore(&file, &far, StoreId(1), Raise::Not).unwrap();
}

#[test]
fn every_flipped_bit_and_every_cut_is_refused_before_anything_is_written() {
    let temp = tempfile::tempdir().unwrap();
    let (file, bad) = (temp.path().join("snap"), temp.path().join("bad"));
    filled().reader().snapshot_to(&file, ID).unwrap();
    let good = fs::read(&file).unwrap();
    for byte in 0..good.len() {
        let mut flipped = good.clone();
        flipped[byte] ^= 1 << (byte % 8);
        fs::write(&bad, &flipped).unwrap();
        assert!(check_snapshot(&bad).is_err(), "flip in byte {byte}");
        fs::write(&bad, &good[..byte]).unwrap();
        assert!(check_snapshot(&bad).is_err(), "cut at byte {byte}");
    }
    fs::write(&bad, [good.as_slice(), b"x"].concat()).unwrap();
    let directory = temp.path().join("data");
    let error = restore(&bad, &directory, ID, Raise::Not).unwrap_err();
    assert!(matches!(error, SnapshotError::Damaged { .. }));
    assert!(!directory.exists());
}

#[test]
fn nothing_is_overwritten() {
    let temp = tempfile::tempdir().unwrap();
    let (file, directory) = (temp.path().join("snap"), temp.path().join("data"));
    let reader = filled().reader();
    reader.snapshot_to(&file, ID).unwrap();
    assert!(matches!(
        reader.snapshot_to(&file, ID),
        Err(SnapshotError::Io { .. })
    ));
    restore(&file, &directory, ID, Raise::Not).unwrap();
    let error = restore(&file, &directory, ID, Raise::Not).unwrap_err();
    assert!(matches!(
        error,
        SnapshotError::Dir(DirError::NotEmpty { .. })
    ));
    let error = check_snapshot(&directory.join("FORMAT")).unwrap_err();
    assert!(matches!(error, SnapshotError::Foreign { .. }));
    assert!(Arc::strong_count(&reader.shared) == 1);
}
