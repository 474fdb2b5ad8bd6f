//! The log on disk, in the storage engine fjall.
//!
//! One keyspace holds all. An engine key is one byte of kind and then:
//! ```text
//! 0x00  a fact:   its name
//! 0x01  a record: its position, 12 bytes
//! ```
//! Every append is one engine batch, written to the engine's journal and synced (`fdatasync`) before
//! it returns, removals included: so at most one batch, the last, can be torn by a crash (L3), which
//! is what [`journal`](super::journal) relies on to tell a torn tail from damage.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use bytes::{BufMut, Bytes, BytesMut};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode, Readable, Snapshot};

use super::{AppendError, Log, LogBatch, LogError, LogView, Visit, journal};
use crate::record::{Damage, seal, unseal};
use crate::{DataDir, OpenError, Position};

/// The fact whose value is the store's number.
const STORE: &[u8] = b"store";
const FACT: u8 = 0;
const RECORD: u8 = 1;

/// Blocks of tables kept in memory. Small: what is read often is cached above the store.
const CACHE_BYTES: u64 = 8 * 1024 * 1024;
/// New records kept in memory before they become a table. A writer that outruns the disk keeps at
/// most five of these.
const MEMTABLE_BYTES: u64 = 8 * 1024 * 1024;
/// The least that the engine allows; journals go away as their records become tables.
const JOURNALS_BYTES: u64 = 64 * 1024 * 1024;
const OPEN_FILES_MAX: usize = 128;

/// A log in a directory of its own.
pub struct FjallLog {
    database: Database,
    keyspace: Keyspace,
    /// Last, so that the directory's lock outlives the engine.
    dir: DataDir,
}

impl std::fmt::Debug for FjallLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FjallLog")
            .field("path", &self.keyspace.path())
            .finish_non_exhaustive()
    }
}

impl FjallLog {
    /// Opens the log in a data directory, or makes an empty one there.
    ///
    /// # Errors
    /// [`LogError::Journal`] if acknowledged writes are damaged; the directory is then unchanged.
    pub fn open(dir: DataDir) -> Result<Self, OpenError> {
        let mut log = Self::open_unfinished(dir)?;
        log.finish()?;
        Ok(log)
    }

    /// Opens the log, but leaves a directory that is being made unfinished.
    pub(crate) fn open_unfinished(dir: DataDir) -> Result<Self, LogError> {
        let directory = dir.log_path();
        if dir.is_ready() {
            check_complete(&directory)?;
        }
        journal::check_directory(&directory)?;
        let log = Self::open_engine(dir).map_err(|error| journal::locate(&directory, error))?;
        if log.dir.is_ready() {
            log.check_store()?;
        }
        Ok(log)
    }

    fn open_engine(dir: DataDir) -> Result<Self, LogError> {
        let directory = dir.log_path();
        let database = Database::builder(directory)
            .cache_size(CACHE_BYTES)
            .max_cached_files(Some(OPEN_FILES_MAX))
            .max_journaling_size(JOURNALS_BYTES)
            .journal_compression(fjall::CompressionType::None)
            .worker_threads(1)
            .open()
            .map_err(engine)?;
        let options = || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(MEMTABLE_BYTES)
                .expect_point_read_hits(true)
        };
        let keyspace = database.keyspace("log", options).map_err(engine)?;
        Ok(Self {
            database,
            keyspace,
            dir,
        })
    }

    /// Makes a new directory count. The store's number goes into the log before: a log without it
    /// has lost what it held.
    pub(crate) fn finish(&mut self) -> Result<(), OpenError> {
        if !self.dir.is_ready() {
            let facts = vec![(Bytes::from_static(STORE), Some(seal(STORE, &self.number())))];
            let batch = LogBatch {
                facts,
                ..LogBatch::default()
            };
            self.append(batch).map_err(|error| match error {
                AppendError::Untouched(source) | AppendError::Unknown(source) => source,
            })?;
        }
        Ok(self.dir.finish()?)
    }

    fn number(&self) -> [u8; 8] {
        self.dir.id().0.to_be_bytes()
    }

    /// Is the log that was opened this store's? The engine makes an empty one where it finds none.
    fn check_store(&self) -> Result<(), LogError> {
        let found = self.keyspace.get(fact_key(STORE)).map_err(engine)?;
        let number = found.and_then(|sealed| unseal(STORE, Bytes::from(sealed)).ok());
        if number.is_some_and(|number| number == self.number().as_slice()) {
            return Ok(());
        }
        Err(LogError::Missing {
            path: self.dir.log_path(),
        })
    }

    /// The directory.
    pub fn dir(&self) -> &DataDir {
        &self.dir
    }
}

/// Are the files there without which the engine would begin anew in silence?
fn check_complete(directory: &Path) -> Result<(), LogError> {
    if !journal::exists(directory)? {
        let path = directory.join("0.jnl");
        return Err(LogError::Missing { path });
    }
    let keyspaces = directory.join("keyspaces");
    let io_error = |source| LogError::Io {
        path: keyspaces.clone(),
        source,
    };
    for entry in fs::read_dir(&keyspaces).map_err(io_error)? {
        let path = entry.map_err(io_error)?.path().join("current");
        if fs::metadata(&path).map_or(0, |found| found.len()) == 0 {
            return Err(LogError::Missing { path });
        }
    }
    Ok(())
}

fn engine(source: fjall::Error) -> LogError {
    use fjall::{Error, LsmError};
    let damaged = matches!(
        source,
        Error::JournalRecovery(_)
            | Error::InvalidTag(_)
            | Error::InvalidTrailer
            | Error::Decompress(_)
            | Error::Unrecoverable
            | Error::Storage(LsmError::ChecksumMismatch { .. } | LsmError::Unrecoverable)
    );
    let source = Box::new(source);
    if damaged {
        LogError::EngineDamaged { source }
    } else {
        LogError::Engine { source }
    }
}

fn record_key(at: Position) -> [u8; 13] {
    let mut key = [RECORD; 13];
    for (place, byte) in key.iter_mut().skip(1).zip(at.to_bytes()) {
        *place = byte;
    }
    key
}

fn fact_key(name: &[u8]) -> Bytes {
    let mut key = BytesMut::with_capacity(1 + name.len());
    key.put_u8(FACT);
    key.put_slice(name);
    key.freeze()
}

impl Log for FjallLog {
    fn append(&self, batch: LogBatch) -> Result<(), AppendError> {
        let mut writes = self
            .database
            .batch()
            .durability(Some(PersistMode::SyncData));
        for (at, bytes) in batch.records {
            writes.insert(&self.keyspace, record_key(at), bytes);
        }
        for at in batch.removed {
            writes.remove(&self.keyspace, record_key(at));
        }
        for (name, fact) in batch.facts {
            match fact {
                Some(fact) => writes.insert(&self.keyspace, fact_key(&name), fact),
                None => writes.remove(&self.keyspace, fact_key(&name)),
            }
        }
        writes
            .commit()
            .map_err(engine)
            .map_err(AppendError::Unknown)
    }

    fn read(&self, at: Position) -> Result<Option<Bytes>, LogError> {
        Ok(self
            .keyspace
            .get(record_key(at))
            .map_err(engine)?
            .map(Bytes::from))
    }

    fn scan(&self, from: Position, visit: Visit<'_>) -> Result<(), LogError> {
        scan(&self.database.snapshot(), &self.keyspace, from, visit)
    }

    fn view(&self) -> Result<Box<dyn LogView + '_>, LogError> {
        Ok(Box::new(View {
            snapshot: self.database.snapshot(),
            keyspace: &self.keyspace,
        }))
    }
}

struct View<'a> {
    snapshot: Snapshot,
    keyspace: &'a Keyspace,
}

impl LogView for View<'_> {
    fn scan(&self, from: Position, visit: Visit<'_>) -> Result<(), LogError> {
        scan(&self.snapshot, self.keyspace, from, visit)
    }

    fn facts(&self, prefix: &[u8]) -> Result<Vec<(Bytes, Bytes)>, LogError> {
        let mut facts = Vec::new();
        for guard in self.snapshot.prefix(self.keyspace, fact_key(prefix)) {
            let (key, value) = guard.into_inner().map_err(engine)?;
            facts.push((Bytes::from(key).slice(1..), Bytes::from(value)));
        }
        Ok(facts)
    }
}

fn scan(
    snapshot: &Snapshot,
    keyspace: &Keyspace,
    from: Position,
    visit: Visit<'_>,
) -> Result<(), LogError> {
    for guard in snapshot.range(keyspace, record_key(from)..[RECORD + 1; 13]) {
        let (key, value) = guard.into_inner().map_err(engine)?;
        let at = key.strip_prefix(&[RECORD]).and_then(Position::from_bytes);
        let Some(at) = at else {
            return Err(LogError::Record {
                at: from,
                damage: Damage::Content,
            });
        };
        if let ControlFlow::Break(()) = visit(at, Bytes::from(value)) {
            break;
        }
    }
    Ok(())
}
