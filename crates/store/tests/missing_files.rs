//! A store that lost a file which holds acknowledged writes is refused, and never begins anew in
//! silence. What was taken away can be put back.
#![expect(clippy::unwrap_used, reason = "a test: a panic is its way to fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use masthead_store::{DataDir, FjallLog, LogError, OpenError, SpaceGuard, Store, StoreId, Txn};

const KEYS: u64 = 20;

fn open(path: &Path) -> Result<Store, OpenError> {
    let log = FjallLog::open(DataDir::open(path, StoreId(1))?)?;
    Store::open(Arc::new(log), SpaceGuard::off(), Duration::ZERO)
}

fn filled() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut store = open(dir.path()).unwrap();
    for number in 0..KEYS {
        store
            .commit(vec![Txn::put(format!("k{number}"), "v")])
            .unwrap();
    }
    dir
}

/// Damages one file, sees the store refused twice, undoes it, and sees everything there again.
fn check(file: &str, damage: impl Fn(&Path)) {
    let dir = filled();
    let path = dir.path().join("log").join(file);
    let whole = fs::read(&path).unwrap();
    damage(&path);
    for _ in 0..2 {
        match open(dir.path()) {
            Err(OpenError::Log(LogError::Missing { .. } | LogError::Journal { .. })) => {}
            other => unreachable!("{file}: {:?}", other.map(|store| store.revision())),
        }
    }
    fs::write(&path, whole).unwrap();
    let store = open(dir.path()).unwrap();
    assert_eq!(store.revision().get(), KEYS + 1, "{file}");
}

#[test]
fn a_journal_that_is_gone_or_empty_is_missed() {
    check("0.jnl", |path| fs::remove_file(path).unwrap());
    check("0.jnl", |path| fs::write(path, "").unwrap());
    check("0.jnl", |path| fs::write(path, vec![0; 4096]).unwrap());
}

#[test]
fn a_table_list_that_is_gone_or_empty_is_missed() {
    for keyspace in ["keyspaces/0/current", "keyspaces/1/current"] {
        check(keyspace, |path| fs::remove_file(path).unwrap());
        check(keyspace, |path| fs::write(path, "").unwrap());
    }
}

#[test]
fn damage_that_the_engine_finds_is_told_with_its_place() {
    let dir = filled();
    let path: PathBuf = dir.path().join("log/0.jnl");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes
        .windows(3)
        .position(|window| window == b"k10")
        .unwrap();
    for byte in bytes.iter_mut().skip(at).take(1) {
        *byte ^= 1;
    }
    fs::write(&path, bytes).unwrap();
    match open(dir.path()) {
        Err(OpenError::Log(LogError::Journal { path: told, byte })) => {
            assert_eq!(told, path);
            assert!(byte > 0 && byte <= at as u64);
        }
        other => unreachable!("{:?}", other.map(|store| store.revision())),
    }
}
