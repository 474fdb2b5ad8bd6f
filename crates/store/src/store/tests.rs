use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::*;
use crate::log::{LogView, Visit};
use crate::{
    Branch, Change, FreeSpace, KeyMeta, KeyRange, LeaseId, Op, Position, ReadError, Relation,
    Response, Target,
};

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn revision(number: u64) -> Revision {
    Revision::new(number).unwrap()
}

fn one(store: &mut Store, txn: Txn) -> TxnResult {
    store.commit(vec![txn]).unwrap().remove(0).unwrap()
}

fn refused(store: &mut Store, txn: Txn) -> TxnError {
    store.commit(vec![txn]).unwrap().remove(0).unwrap_err()
}

fn value(store: &Store, key: &str) -> Option<String> {
    let kv = store.reader().get(key.as_bytes(), None).unwrap()?;
    Some(String::from_utf8(kv.value.to_vec()).unwrap())
}

#[test]
fn only_what_changes_something_takes_a_revision_and_exactly_one() {
    let mut store = Store::in_memory();
    assert_eq!(store.revision(), Revision::FIRST);
    let puts = vec![Op::put("a", "1"), Op::put("b", "1"), Op::put("c", "1")];
    let commit = one(&mut store, Txn::of(puts)).commit.unwrap();
    assert_eq!((commit.revision.get(), commit.changes.len()), (2, 3));

    assert_eq!(one(&mut store, Txn::delete("missing")).commit, None);
    assert_eq!(one(&mut store, Txn::default()).commit, None);
    let never = Txn::put("a", "2").when_unchanged("a", None);
    let result = one(&mut store, never);
    assert_eq!((result.branch, result.commit), (Branch::Otherwise, None));
    assert_eq!(store.revision().get(), 2);

    // Writing the same value again is a change.
    assert!(one(&mut store, Txn::put("a", "1")).commit.is_some());
    assert_eq!(store.revision().get(), 3);
}

#[test]
fn a_change_carries_the_facts_before_and_after() {
    let mut store = Store::in_memory();
    one(&mut store, Txn::put("k", "1"));
    one(&mut store, Txn::put("k", "2"));
    let commit = one(&mut store, Txn::delete("k")).commit.unwrap();
    let meta = |create, modified, version| KeyMeta {
        create_revision: revision(create),
        mod_revision: revision(modified),
        version,
        lease: None,
    };
    let key = Bytes::from_static(b"k");
    let deletion = Change {
        key,
        value: None,
        meta: meta(2, 4, 0),
        previous: Some(meta(2, 3, 2)),
    };
    assert_eq!(commit.changes, [deletion]);
    let reborn = one(&mut store, Txn::put("k", "3")).commit.unwrap();
    assert_eq!(
        (reborn.changes[0].meta, reborn.changes[0].previous),
        (meta(5, 5, 1), None)
    );
}

#[test]
fn each_transaction_of_a_batch_sees_the_ones_before() {
    let mut store = Store::in_memory();
    let lease = store.grant(None, secs(5), secs(0)).unwrap();
    let leased = Op::Put {
        key: "a".into(),
        value: "1".into(),
        lease: Some(lease),
    };
    let batch = vec![
        Txn::of(vec![leased]).when_unchanged("a", None),
        Txn::put("a", "2").when_unchanged("a", None),
        Txn::put("a", "3")
            .when("a", Relation::Equal, Target::Value("1".into()))
            .when("a", Relation::Equal, Target::Lease(lease.get())),
        Txn::delete("a").when("a", Relation::Equal, Target::Version(2)),
    ];
    let results: Vec<_> = store
        .commit(batch)
        .unwrap()
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let revisions: Vec<_> = results
        .iter()
        .map(|result| result.commit.as_ref().map(|c| c.revision.get()))
        .collect();
    assert_eq!(revisions, [Some(2), None, Some(3), Some(4)]);
    let change = &results[2].commit.as_ref().unwrap().changes[0];
    assert_eq!(
        (change.previous.unwrap().lease, change.meta.lease),
        (Some(lease), None)
    );
    assert_eq!(value(&store, "a"), None);
    assert_eq!(store.lease_keys(lease).count(), 0);
}

#[test]
fn comparisons_hold_as_in_etcd() {
    use Relation::{Equal, Greater, Less, NotEqual};
    let mut store = Store::in_memory();
    one(&mut store, Txn::put("k", "m"));
    one(&mut store, Txn::put("k", "m"));
    let table = [
        ("k", Equal, Target::ModRevision(3), true),
        ("k", Equal, Target::ModRevision(2), false),
        ("k", Equal, Target::CreateRevision(2), true),
        ("k", Greater, Target::Version(1), true),
        ("k", Less, Target::Version(2), false),
        ("k", NotEqual, Target::Lease(0), false),
        ("k", Greater, Target::Value("l".into()), true),
        ("k", Less, Target::Value("l".into()), false),
        ("k", NotEqual, Target::Value("m".into()), false),
        ("none", Equal, Target::ModRevision(0), true),
        ("none", Equal, Target::CreateRevision(0), true),
        ("none", Equal, Target::Version(0), true),
        ("none", Equal, Target::Lease(0), true),
        ("none", Equal, Target::Value("".into()), false),
        ("none", NotEqual, Target::Value("x".into()), false),
    ];
    for (key, relation, target, expected) in table {
        let result = one(
            &mut store,
            Txn::default().when(key, relation, target.clone()),
        );
        assert_eq!(
            result.succeeded(),
            expected,
            "{key} {relation:?} {target:?}"
        );
    }
}

#[test]
fn a_transaction_reads_its_own_writes_and_deletes_ranges() {
    let mut store = Store::in_memory();
    one(
        &mut store,
        Txn::of(vec![
            Op::put("a/1", "1"),
            Op::put("a/2", "1"),
            Op::put("b", "1"),
        ]),
    );
    let read = Op::Range {
        keys: KeyRange::prefix(b"a/"),
        at: None,
        limit: 1,
    };
    let result = one(
        &mut store,
        Txn::of(vec![
            read.clone(),
            Op::put("a/3", "2"),
            read.clone(),
            Op::DeleteRange {
                keys: KeyRange::Between {
                    from: "a/1".into(),
                    until: "a/3".into(),
                },
            },
            read,
        ]),
    );
    let counts: Vec<_> = result
        .responses
        .iter()
        .map(|response| match response {
            Response::Put => (0, 0, 0),
            Response::DeleteRange { deleted } => (*deleted, 0, 0),
            Response::Range(range) => (
                range.count,
                range.kvs.len(),
                usize::try_from(range.revision.get()).unwrap(),
            ),
        })
        .collect();
    assert_eq!(
        counts,
        [(2, 1, 2), (0, 0, 0), (3, 1, 3), (2, 0, 0), (1, 1, 3)]
    );
    assert_eq!(store.reader().count(&KeyRange::all(), None).unwrap(), 2);
}

#[test]
fn a_refused_transaction_leaves_nothing_and_does_not_disturb_its_batch() {
    let mut store = Store::in_memory();
    let future = Op::Range {
        keys: KeyRange::all(),
        at: Some(revision(9)),
        limit: 9,
    };
    let batch = vec![
        Txn::put("a", "1"),
        Txn::of(vec![Op::put("a", "2"), Op::put("b", "2"), future]),
        Txn::put("c", "3"),
    ];
    let results = store.commit(batch).unwrap();
    assert!(matches!(
        results[1],
        Err(TxnError::Read(ReadError::Future { .. }))
    ));
    assert_eq!(
        results[2]
            .as_ref()
            .unwrap()
            .commit
            .as_ref()
            .unwrap()
            .revision
            .get(),
        3
    );
    let values = ["a", "b", "c"].map(|key| value(&store, key));
    assert_eq!(values, [Some("1".to_owned()), None, Some("3".to_owned())]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut store = Store::in_memory();
    let nowhere = LeaseId::new(77).unwrap();
    let leased = Op::Put {
        key: "a".into(),
        value: "".into(),
        lease: Some(nowhere),
    };
    let error = refused(&mut store, Txn::of(vec![leased]));
    assert!(matches!(error, TxnError::LeaseNotFound { lease } if lease == nowhere));

    let twice = vec![Op::put("a", "1"), Op::put("a", "2")];
    let cover = vec![
        Op::DeleteRange {
            keys: KeyRange::all(),
        },
        Op::put("a", "1"),
    ];
    for ops in [twice, cover] {
        let error = refused(&mut store, Txn::default().or_else(ops));
        assert!(matches!(error, TxnError::DuplicateKey { .. }));
    }
    // Deleting twice is allowed, and so is the same key in both lists.
    let fine = Txn::of(vec![
        Op::delete("a"),
        Op::DeleteRange {
            keys: KeyRange::all(),
        },
    ]);
    one(&mut store, fine);
    one(
        &mut store,
        Txn::put("a", "1").or_else(vec![Op::put("a", "2")]),
    );

    assert!(matches!(
        refused(&mut store, Txn::put("", "1")),
        TxnError::EmptyKey
    ));
    let large = vec![0; crate::RECORD_BYTES_MAX];
    assert!(matches!(
        refused(&mut store, Txn::put("k", large)),
        TxnError::TooLarge { .. }
    ));
    let many = (0..=crate::TXN_OPS_MAX)
        .map(|n| Op::delete(format!("{n}")))
        .collect();
    assert!(matches!(
        refused(&mut store, Txn::of(many)),
        TxnError::TooManyOps { .. }
    ));
}

#[test]
fn reads_know_the_past_the_compacted_and_the_future() {
    let mut store = Store::in_memory();
    for number in 2..=6 {
        one(&mut store, Txn::put("k", format!("{number}")));
    }
    let reader = store.reader();
    store.compact(revision(4)).unwrap();
    while store.compact_step().unwrap() == CompactProgress::More {}
    let get = |number| {
        reader
            .get(b"k", Some(revision(number)))
            .map(|kv| kv.unwrap().value)
    };
    assert!(matches!(get(3), Err(ReadError::Compacted { oldest, .. }) if oldest.get() == 4));
    assert_eq!(get(4).unwrap(), "4");
    assert_eq!(get(6).unwrap(), "6");
    assert!(matches!(get(7), Err(ReadError::Future { head, .. }) if head.get() == 6));

    let after = |number, max| {
        let commits = reader.commits_after(revision(number), max)?;
        Ok::<_, ReadError>(
            commits
                .iter()
                .map(|commit| commit.revision.get())
                .collect::<Vec<_>>(),
        )
    };
    assert!(matches!(after(2, 9), Err(ReadError::Compacted { wanted, .. }) if wanted.get() == 3));
    assert_eq!(after(3, 9).unwrap(), [4, 5, 6]);
    assert_eq!(after(3, 2).unwrap(), [4, 5]);
    assert_eq!(after(6, 9).unwrap(), [0u64; 0]);
    assert!(matches!(after(7, 9), Err(ReadError::Future { .. })));
    assert!(matches!(
        store.compact(revision(4)),
        Err(CompactError::Compacted { .. })
    ));
    assert!(matches!(
        store.compact(revision(7)),
        Err(CompactError::Future { .. })
    ));
}

#[test]
fn an_ended_lease_takes_its_keys_with_it_in_one_revision() {
    let mut store = Store::in_memory();
    let lease = store.grant(LeaseId::new(-5), secs(10), secs(100)).unwrap();
    let put = |key: &'static str| Op::Put {
        key: key.into(),
        value: "".into(),
        lease: Some(lease),
    };
    one(&mut store, Txn::of(vec![put("b"), put("a"), put("c")]));
    one(&mut store, Txn::put("c", "free"));
    assert_eq!(store.keep_alive(lease, secs(105)).unwrap(), secs(10));
    assert_eq!(store.expired(secs(114)), []);
    assert_eq!(
        store.time_to_live(lease, secs(114)).unwrap().remaining,
        secs(1)
    );
    assert_eq!(store.expired(secs(115)), [lease]);
    assert!(matches!(
        store.keep_alive(lease, secs(115)),
        Err(LeaseError::NotFound { .. })
    ));

    let commit = store.revoke(lease).unwrap().unwrap();
    let keys: Vec<_> = commit
        .changes
        .iter()
        .map(|change| change.key.clone())
        .collect();
    assert_eq!(
        (commit.revision.get(), keys),
        (4, vec![Bytes::from("a"), Bytes::from("b")])
    );
    assert_eq!(value(&store, "c").as_deref(), Some("free"));
    assert!(matches!(
        store.revoke(lease),
        Err(LeaseError::NotFound { .. })
    ));
    assert!(store.time_to_live(lease, secs(0)).is_none());
}

#[test]
fn a_lease_without_keys_ends_without_a_revision_and_numbers_are_not_given_twice() {
    let mut store = Store::in_memory();
    let first = store.grant(None, secs(1), secs(0)).unwrap();
    let second = store
        .grant(None, Duration::from_millis(1500), secs(0))
        .unwrap();
    assert_ne!(first, second);
    assert_eq!(
        store.time_to_live(second, secs(0)).unwrap().granted,
        secs(2)
    );
    let again = store.grant(Some(first), secs(1), secs(0));
    assert!(matches!(again, Err(LeaseError::Exists { .. })));
    let long = store.grant(None, LEASE_TTL_MAX + secs(1), secs(0));
    assert!(matches!(long, Err(LeaseError::TooLong { .. })));
    assert_eq!(store.revoke(first).unwrap(), None);
    assert_eq!(store.revision(), Revision::FIRST);
}

#[test]
fn a_restart_keeps_leases_and_gives_them_their_full_time_again() {
    let log: Arc<dyn Log> = Arc::new(MemoryLog::new());
    let open = |now| Store::open(Arc::clone(&log), SpaceGuard::off(), now).unwrap();
    let mut store = open(secs(0));
    let lease = store.grant(None, secs(10), secs(0)).unwrap();
    let put = Op::Put {
        key: "k".into(),
        value: "".into(),
        lease: Some(lease),
    };
    one(&mut store, Txn::of(vec![put]));
    drop(store);
    let mut store = open(secs(9));
    assert_eq!(store.expired(secs(18)), []);
    assert_eq!(store.expired(secs(19)), [lease]);
    assert_eq!(store.revoke(lease).unwrap().unwrap().changes.len(), 1);
    drop(store);
    assert_eq!(open(secs(0)).leases().count(), 0);
}

#[test]
fn compaction_rides_along_with_writes_and_goes_on_after_a_restart() {
    let log: Arc<dyn Log> = Arc::new(MemoryLog::new());
    let open = || Store::open(Arc::clone(&log), SpaceGuard::off(), secs(0)).unwrap();
    let records = || {
        let mut count = 0;
        log.scan(Position::first(Revision::FIRST), &mut |_, _| {
            count += 1;
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
        count
    };
    let mut store = open();
    for round in 0..3 {
        let put = |n| Txn::put(format!("{n:04}"), format!("{round}"));
        store.commit((0..1000).map(put).collect()).unwrap();
    }
    let head = store.revision();
    store.compact(head).unwrap();
    assert_eq!(records(), 3000);
    one(&mut store, Txn::put("x", "x"));
    assert!(
        (1900..2100).contains(&records()),
        "one step rode along: {}",
        records()
    );
    drop(store);

    let mut store = open();
    assert_eq!(store.reader().compacted(), Some(head));
    while store.compact_step().unwrap() == CompactProgress::More {}
    assert_eq!(records(), 1001);
    assert_eq!(
        (store.revision(), value(&store, "0500").as_deref()),
        (head.next(), Some("2"))
    );
    drop(store);
    assert_eq!(open().compact_step().unwrap(), CompactProgress::Finished);
}

#[test]
fn a_compacted_trailing_deletion_does_not_lower_the_revision() {
    let log: Arc<dyn Log> = Arc::new(MemoryLog::new());
    let mut store = Store::open(Arc::clone(&log), SpaceGuard::off(), secs(0)).unwrap();
    one(&mut store, Txn::put("k", "1"));
    one(&mut store, Txn::delete("k"));
    store.compact(revision(3)).unwrap();
    while store.compact_step().unwrap() == CompactProgress::More {}
    let commits = store.reader().commits_after(revision(2), 9).unwrap();
    assert_eq!(
        commits[0].changes[0].value, None,
        "the deletion at the boundary is kept"
    );
    drop(store);
    let store = Store::open(log, SpaceGuard::off(), secs(0)).unwrap();
    assert_eq!(store.revision().get(), 3);
}

type Fault = fn(LogError) -> AppendError;

/// A log that fails on request.
#[derive(Debug)]
struct Faulty {
    inner: MemoryLog,
    fault: Mutex<Option<Fault>>,
}

impl Log for Faulty {
    fn append(&self, batch: LogBatch) -> Result<(), AppendError> {
        match self.fault.lock().unwrap().take() {
            None => self.inner.append(batch),
            Some(fault) => Err(fault(LogError::Io {
                path: "disk".into(),
                source: std::io::ErrorKind::StorageFull.into(),
            })),
        }
    }

    fn read(&self, at: Position) -> Result<Option<Bytes>, LogError> {
        self.inner.read(at)
    }

    fn scan(&self, from: Position, visit: Visit<'_>) -> Result<(), LogError> {
        self.inner.scan(from, visit)
    }

    fn view(&self) -> Result<Box<dyn LogView + '_>, LogError> {
        self.inner.view()
    }
}

#[test]
fn after_a_failed_append_nothing_of_the_batch_is_there() {
    let log = Arc::new(Faulty {
        inner: MemoryLog::new(),
        fault: Mutex::new(None),
    });
    let dynamic: Arc<dyn Log> = Arc::<Faulty>::clone(&log);
    let mut store = Store::open(dynamic, SpaceGuard::off(), secs(0)).unwrap();
    let lease = store.grant(None, secs(9), secs(0)).unwrap();
    one(
        &mut store,
        Txn::of(vec![Op::put("a", "1"), Op::put("b", "1")]),
    );
    let put = Op::Put {
        key: "a".into(),
        value: "2".into(),
        lease: Some(lease),
    };
    let batch = || {
        vec![
            Txn::of(vec![put.clone()]),
            Txn::delete("b"),
            Txn::put("c", "2"),
        ]
    };

    *log.fault.lock().unwrap() = Some(AppendError::Untouched);
    assert!(matches!(store.commit(batch()), Err(CommitError::Log(_))));
    let values = |store: &Store| ["a", "b", "c"].map(|key| value(store, key).unwrap_or_default());
    assert_eq!(
        (values(&store), store.revision().get()),
        (["1", "1", ""].map(String::from), 2)
    );
    assert_eq!(
        (store.reader().keys(), store.lease_keys(lease).count()),
        (2, 0)
    );

    // Nothing was written, so it can be tried again.
    let results = store.commit(batch()).unwrap();
    assert_eq!(
        results[0]
            .as_ref()
            .unwrap()
            .commit
            .as_ref()
            .unwrap()
            .revision
            .get(),
        3
    );
    assert_eq!(values(&store), ["2", "", "2"].map(String::from));

    // How far this one got, nobody knows.
    *log.fault.lock().unwrap() = Some(AppendError::Unknown);
    assert!(matches!(store.commit(batch()), Err(CommitError::Log(_))));
    assert!(matches!(store.commit(batch()), Err(CommitError::Stopped)));
    assert!(matches!(
        store.grant(None, secs(1), secs(0)),
        Err(LeaseError::Commit(_))
    ));
    assert_eq!(
        (values(&store), store.revision().get()),
        (["2", "", "2"].map(String::from), 5)
    );
}

#[derive(Clone)]
struct Disk(Arc<AtomicU64>);

impl FreeSpace for Disk {
    fn free_bytes(&mut self) -> std::io::Result<u64> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}

#[test]
fn a_full_disk_refuses_writes_until_there_is_room_and_reads_go_on() {
    let free = Arc::new(AtomicU64::new(1_000_000));
    let guard = SpaceGuard::new(Box::new(Disk(Arc::clone(&free))), 1000);
    let mut store = Store::open(Arc::new(MemoryLog::new()), guard, secs(0)).unwrap();
    one(&mut store, Txn::put("a", "1"));
    free.store(1010, Ordering::Relaxed);
    let mut written = 1;
    let error = loop {
        match store.commit(vec![Txn::put("a", "2")]) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
        assert!(written <= 64, "the guard looks at least every 64 batches");
    };
    assert!(matches!(
        error,
        CommitError::DiskFull {
            free: 1010,
            reserve: 1000
        }
    ));
    let head = store.revision();
    assert!(matches!(
        store.commit(vec![Txn::put("b", "")]),
        Err(CommitError::DiskFull { .. })
    ));
    assert_eq!((store.revision(), value(&store, "b")), (head, None));
    assert!(value(&store, "a").is_some());
    // What writes nothing needs no room.
    store.commit(vec![Txn::delete("none")]).unwrap();
    free.store(1_000_000, Ordering::Relaxed);
    one(&mut store, Txn::put("b", "1"));
    assert_eq!(store.revision(), head.next());
}
