//! The store against a model that is a list of whole states: random transactions, batches,
//! compactions and reopenings.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test: a panic is its way to fail"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use masthead_api::Revision;
use masthead_store::{
    Commit, CompactProgress, DataDir, FjallLog, KeyRange, LeaseId, Log, MemoryLog, Op, ReadError,
    Relation, SpaceGuard, Store, StoreId, Target, Txn,
};
use proptest::prelude::*;

/// A key's value, create revision, mod revision, version, lease.
type Version = (Bytes, u64, u64, u64, i64);
type State = BTreeMap<Bytes, Version>;

/// Every state that there ever was; `states[i]` is the state at revision `i + 1`.
struct Model {
    states: Vec<State>,
    compacted: u64,
}

#[derive(Debug, Clone)]
enum Step {
    Batch(Vec<Txn>),
    Compact(u8),
    Remove,
    Revoke(i64),
    Reopen,
}

impl Model {
    fn new() -> Self {
        Self {
            states: vec![State::new()],
            compacted: 0,
        }
    }

    fn head(&self) -> u64 {
        self.states.len() as u64
    }

    fn now(&self) -> &State {
        self.states.last().unwrap()
    }

    /// What the transaction changes; `None` if nothing.
    fn run(&mut self, txn: &Txn) -> Option<u64> {
        let now = self.now().clone();
        let holds = txn.compares.iter().all(|compare| {
            let found = now.get(&compare.key);
            let ordering = match &compare.target {
                Target::ModRevision(operand) => found.map_or(0, |v| v.2).cmp(operand),
                Target::CreateRevision(operand) => found.map_or(0, |v| v.1).cmp(operand),
                Target::Version(operand) => found.map_or(0, |v| v.3).cmp(operand),
                Target::Lease(operand) => found.map_or(0, |v| v.4).cmp(operand),
                Target::Value(operand) => match found {
                    Some(version) => version.0.cmp(operand),
                    None => return false,
                },
            };
            match compare.relation {
                Relation::Equal => ordering.is_eq(),
                Relation::NotEqual => ordering.is_ne(),
                Relation::Greater => ordering.is_gt(),
                Relation::Less => ordering.is_lt(),
            }
        });
        let revision = self.head() + 1;
        let (mut next, mut changed) = (now, false);
        for op in if holds { &txn.then } else { &txn.otherwise } {
            match op {
                Op::Put { key, value, lease } => {
                    let (create, version) = next
                        .get(key)
                        .map_or((revision, 1), |old| (old.1, old.3 + 1));
                    let lease = lease.map_or(0, LeaseId::get);
                    next.insert(
                        key.clone(),
                        (value.clone(), create, revision, version, lease),
                    );
                    changed = true;
                }
                Op::DeleteRange { keys } => {
                    let before = next.len();
                    next.retain(|key, _| !keys.contains(key));
                    changed |= next.len() < before;
                }
                Op::Range { .. } => {}
            }
        }
        changed.then(|| self.states.push(next)).map(|()| revision)
    }

    fn revoke(&mut self, lease: i64) -> Option<u64> {
        let mut next = self.now().clone();
        next.retain(|_, version| version.4 != lease);
        (next.len() < self.now().len())
            .then(|| self.states.push(next))
            .map(|()| self.head())
    }
}

fn key() -> impl Strategy<Value = Bytes> {
    prop::sample::select(vec!["a", "a/1", "a/2", "b", "b/\u{0}", "c"]).prop_map(Bytes::from)
}

fn range() -> impl Strategy<Value = KeyRange> {
    prop_oneof![
        key().prop_map(KeyRange::One),
        (key(), key()).prop_map(|(from, until)| KeyRange::Between { from, until }),
        key().prop_map(|key| KeyRange::prefix(&key)),
        key().prop_map(KeyRange::From),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (key(), 0..4u8, prop::option::weighted(0.3, 1..3i64)).prop_map(|(key, value, lease)| {
            Op::Put { key, value: vec![value].into(), lease: lease.and_then(LeaseId::new) }
        }),
        1 => range().prop_map(|keys| Op::DeleteRange { keys }),
        1 => (range(), 0..4usize).prop_map(|(keys, limit)| Op::Range { keys, at: None, limit }),
    ]
}

fn txn() -> impl Strategy<Value = Txn> {
    let relation = prop::sample::select(vec![
        Relation::Equal,
        Relation::NotEqual,
        Relation::Greater,
        Relation::Less,
    ]);
    let target = prop_oneof![
        (0..20u64).prop_map(Target::ModRevision),
        (0..20u64).prop_map(Target::CreateRevision),
        (0..4u64).prop_map(Target::Version),
        (0..4u8).prop_map(|value| Target::Value(vec![value].into())),
        (0..3i64).prop_map(Target::Lease),
    ];
    let compares = prop::collection::vec((key(), relation, target), 0..3);
    let ops = || prop::collection::vec(op(), 0..4);
    (compares, ops(), ops()).prop_map(|(compares, then, otherwise)| {
        let txn = Txn {
            then,
            otherwise,
            ..Txn::default()
        };
        compares
            .into_iter()
            .fold(txn, |txn, (key, relation, target)| {
                txn.when(key, relation, target)
            })
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => prop::collection::vec(txn(), 1..5).prop_map(Step::Batch),
        2 => any::<u8>().prop_map(Step::Compact),
        2 => Just(Step::Remove),
        1 => (1..3i64).prop_map(Step::Revoke),
        1 => Just(Step::Reopen),
    ]
}

fn revision(number: u64) -> Revision {
    Revision::new(number).unwrap()
}

/// What one commit must say, from the states before and after.
fn check_commit(model: &Model, commit: &Commit) {
    let number = commit.revision.get() as usize;
    let (before, after) = (&model.states[number - 2], &model.states[number - 1]);
    let mut replayed = before.clone();
    for change in &commit.changes {
        let old = before.get(&change.key);
        assert_eq!(
            old.map(|v| (v.1, v.2, v.3, v.4)),
            change.previous.map(tuple)
        );
        assert_eq!(change.meta.mod_revision, commit.revision);
        if let Some(value) = &change.value {
            let (create, modified, version, lease) = tuple(change.meta);
            replayed.insert(
                change.key.clone(),
                (value.clone(), create, modified, version, lease),
            );
        } else {
            assert_eq!((change.meta.version, change.meta.lease), (0, None));
            replayed.remove(&change.key).unwrap();
        }
    }
    assert_eq!(&replayed, after);
}

fn tuple(meta: masthead_store::KeyMeta) -> (u64, u64, u64, i64) {
    let lease = meta.lease.map_or(0, LeaseId::get);
    (
        meta.create_revision.get(),
        meta.mod_revision.get(),
        meta.version,
        lease,
    )
}

/// Compares everything that can be read.
fn check_reads(model: &Model, store: &Store) {
    let reader = store.reader();
    assert_eq!(reader.revision().get(), model.head());
    assert_eq!(reader.compacted().map_or(0, Revision::get), model.compacted);
    for number in 1..=model.head() {
        let read = reader.range(&KeyRange::all(), Some(revision(number)), 3);
        if number < model.compacted {
            assert!(matches!(read, Err(ReadError::Compacted { .. })));
            continue;
        }
        let (state, mut page) = (&model.states[number as usize - 1], read.unwrap());
        let mut found = State::new();
        assert_eq!(page.count, state.len());
        loop {
            for kv in &page.kvs {
                let (create, modified, version, lease) = tuple(kv.meta);
                found.insert(
                    kv.key.clone(),
                    (kv.value.clone(), create, modified, version, lease),
                );
            }
            if !page.more {
                break;
            }
            let rest = KeyRange::all().after(&page.kvs.last().unwrap().key);
            let next = reader.page(&rest, Some(page.revision), 3).unwrap();
            page = reader.range(&rest, Some(page.revision), 3).unwrap();
            assert_eq!((&next.kvs, next.more), (&page.kvs, page.more));
        }
        assert_eq!(&found, state, "at revision {number}");
    }
    let first = model.compacted.max(2);
    let commits = reader
        .commits_after(revision(first - 1), usize::MAX)
        .unwrap();
    assert_eq!(
        commits.len() as u64,
        (model.head() + 1).saturating_sub(first)
    );
    for (offset, commit) in commits.iter().enumerate() {
        assert_eq!(commit.revision.get(), first + offset as u64);
        check_commit(model, commit);
    }
    if model.compacted > 2 {
        let lost = reader.commits_after(revision(model.compacted - 2), 1);
        assert!(matches!(lost, Err(ReadError::Compacted { .. })));
    }
}

fn grant_leases(store: &mut Store) {
    for number in 1..3 {
        let id = LeaseId::new(number);
        store
            .grant(id, Duration::from_secs(9), Duration::ZERO)
            .unwrap();
    }
}

fn play(steps: Vec<Step>, open: &dyn Fn() -> Store) {
    let (mut model, mut store) = (Model::new(), Some(open()));
    grant_leases(store.as_mut().unwrap());
    for step in steps {
        let writer = store.as_mut().unwrap();
        match step {
            Step::Batch(txns) => {
                let results = writer.commit(txns.clone()).unwrap();
                for (txn, result) in txns.iter().zip(results) {
                    // The generator also makes transactions that write a key twice.
                    let Ok(result) = result else { continue };
                    let expected = model.run(txn);
                    assert_eq!(result.commit.as_ref().map(|c| c.revision.get()), expected);
                    if let Some(commit) = result.commit {
                        check_commit(&model, &commit);
                    }
                }
            }
            Step::Compact(part) => {
                let through = 1 + model.head() * u64::from(part) / 256;
                let accepted = writer.compact(revision(through)).is_ok();
                assert_eq!(accepted, through > model.compacted);
                model.compacted = model.compacted.max(through);
            }
            Step::Remove => while writer.compact_step().unwrap() == CompactProgress::More {},
            Step::Revoke(lease) => {
                let id = LeaseId::new(lease).unwrap();
                let commit = writer.revoke(id).unwrap();
                assert_eq!(
                    commit.map(|commit| commit.revision.get()),
                    model.revoke(lease)
                );
                writer
                    .grant(Some(id), Duration::from_secs(9), Duration::ZERO)
                    .unwrap();
            }
            Step::Reopen => {
                drop(store.take());
                store = Some(open());
            }
        }
    }
    check_reads(&model, store.as_ref().unwrap());
    drop(store);
    check_reads(&model, &open());
}

fn open_fjall(path: &Path) -> Store {
    let log = FjallLog::open(DataDir::open(path, StoreId(1)).unwrap()).unwrap();
    Store::open(Arc::new(log), SpaceGuard::off(), Duration::ZERO).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn in_memory_the_store_is_the_list_of_states(steps in prop::collection::vec(step(), 1..40)) {
        let log: Arc<dyn Log> = Arc::new(MemoryLog::new());
        play(steps, &|| Store::open(Arc::clone(&log), SpaceGuard::off(), Duration::ZERO).unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    #[test]
    fn on_disk_the_store_is_the_list_of_states(steps in prop::collection::vec(step(), 1..30)) {
        let temp = tempfile::tempdir().unwrap();
        play(steps, &|| open_fjall(temp.path()));
    }
}
