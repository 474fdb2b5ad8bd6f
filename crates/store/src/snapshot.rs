//! Snapshots: a whole store in one file, and back.
//!
//! Revisions, versions, leases and the compacted revision come back as they were; the file's layout is
//! told in its own module.

mod file;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use masthead_api::Revision;

use self::file::{FACT, Frame, RECORD, Source, VERSION, Writer};
use crate::log::{FjallLog, Log, LogBatch, LogError};
use crate::store::{OpenError, facts_at, rebuild_check};
use crate::{AppendError, DataDir, DirError, Position, Reader, StoreId};

/// How much is restored with one sync.
const STEP_BYTES: u64 = 4 * 1024 * 1024;

/// Why a snapshot could not be written or restored.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The operating system refused.
    #[error("{path}: {source}; check the path and the disk")]
    Io {
        /// Which file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The file is no snapshot.
    #[error("{path} is not a Masthead snapshot; choose another file")]
    Foreign {
        /// Which file.
        path: PathBuf,
    },
    /// It was written by a newer program.
    #[error(
        "{path} has format version {version}, this program knows {VERSION}; use a newer Masthead"
    )]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// It is not as it was written.
    #[error("{path} is damaged near byte {byte}; choose another snapshot")]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Where.
        byte: u64,
    },
    /// The revisions cannot be raised so far.
    #[error("revisions cannot be raised by {by}; choose a smaller number")]
    TooFar {
        /// By how much.
        by: u64,
    },
    /// The directory cannot be used.
    #[error(transparent)]
    Dir(#[from] DirError),
    /// The log refused.
    #[error(transparent)]
    Log(#[from] LogError),
    /// What was restored does not open.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// What a snapshot holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SnapshotSummary {
    /// The number of the store that it was taken of.
    pub store: StoreId,
    /// How many records.
    pub records: u64,
    /// How many bytes the file has.
    pub bytes: u64,
}

impl Reader {
    /// Writes the whole store, as it is now, to a new file. Writers go on meanwhile.
    ///
    /// The file appears under its name only when it is complete and durable; an existing file is not
    /// overwritten.
    pub fn snapshot_to(
        &self,
        path: &Path,
        store: StoreId,
    ) -> Result<SnapshotSummary, SnapshotError> {
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        let part = PathBuf::from(name);
        if path.exists() {
            let source = io::ErrorKind::AlreadyExists.into();
            return Err(SnapshotError::Io {
                path: path.to_owned(),
                source,
            });
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&part)
            .map_err(io_error(&part))?;
        let written = write_all(self.shared.log.as_ref(), file, store, &part);
        let place = written.and_then(|summary| {
            fs::rename(&part, path).map_err(io_error(path))?;
            let parent = path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty());
            let parent = parent.unwrap_or(Path::new("."));
            File::open(parent)
                .and_then(|dir| dir.sync_all())
                .map_err(io_error(parent))?;
            Ok(summary)
        });
        if place.is_err() && part.exists() {
            // Best effort: the first error is what the user must hear of.
            drop(fs::remove_file(&part));
        }
        place
    }
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> SnapshotError {
    let path = path.to_owned();
    move |source| SnapshotError::Io {
        path: path.clone(),
        source,
    }
}

fn write_all(
    log: &dyn Log,
    file: File,
    store: StoreId,
    path: &Path,
) -> Result<SnapshotSummary, SnapshotError> {
    let failed = io_error(path);
    let view = log.view()?;
    let mut out = Writer::new(file, store).map_err(&failed)?;
    let (mut records, mut broken) = (0, None);
    view.scan(Position::first(Revision::FIRST), &mut |at, bytes| {
        records += 1;
        match out.frame(RECORD, &at.to_bytes(), &bytes) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                broken = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    if let Some(error) = broken {
        return Err(failed(error));
    }
    let facts = view.facts(b"")?;
    for (name, fact) in &facts {
        out.frame(FACT, name, fact).map_err(&failed)?;
    }
    let bytes = out.end(records + facts.len() as u64).map_err(&failed)?;
    Ok(SnapshotSummary {
        store,
        records,
        bytes,
    })
}

/// Reads a snapshot from end to end and says what is in it; an error if anything is wrong.
pub fn check_snapshot(path: &Path) -> Result<SnapshotSummary, SnapshotError> {
    let (mut source, store) = Source::open(path)?;
    let mut records = 0;
    while let Some(frame) = source.next()? {
        records += u64::from(matches!(frame, Frame::Record(..)));
    }
    Ok(SnapshotSummary {
        store,
        records,
        bytes: source.bytes(),
    })
}

/// How the revisions of a restored store go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Raise {
    /// Where the snapshot ends. Right if nobody remembers anything newer.
    #[default]
    Not,
    /// So much later, with the history before given up: whoever followed the lost store is told that
    /// its revision is gone, and lists anew.
    By(u64),
}

/// Makes a new data directory from a snapshot. The store gets a new number.
///
/// The snapshot is checked from end to end before anything is written. The directory must be empty or
/// new; if this is interrupted, it can be done again.
pub fn restore(
    path: &Path,
    directory: &Path,
    new_id: StoreId,
    raise: Raise,
) -> Result<SnapshotSummary, SnapshotError> {
    let summary = check_snapshot(path)?;
    let mut log = FjallLog::open_unfinished(DataDir::create(directory, new_id)?)?;
    let (mut source, _) = Source::open(path)?;
    let (mut batch, mut bytes) = (LogBatch::default(), 0);
    while let Some(frame) = source.next()? {
        match frame {
            Frame::Record(at, content) => {
                bytes += content.len() as u64;
                batch.records.push((at, content));
            }
            Frame::Fact(name, content) => batch.facts.push((name, Some(content))),
        }
        if bytes >= STEP_BYTES {
            append(&log, std::mem::take(&mut batch))?;
            bytes = 0;
        }
    }
    append(&log, batch)?;
    // Opening checks what no checksum can: that no revision is missing.
    let head = rebuild_check(&log)?;
    if let Raise::By(by) = raise {
        let raised = head
            .get()
            .checked_add(by)
            .filter(|raised| i64::try_from(*raised).is_ok());
        let raised = raised
            .and_then(Revision::new)
            .ok_or(SnapshotError::TooFar { by })?;
        append(
            &log,
            LogBatch {
                facts: facts_at(raised),
                ..LogBatch::default()
            },
        )?;
    }
    log.finish()?;
    Ok(summary)
}

fn append(log: &FjallLog, batch: LogBatch) -> Result<(), LogError> {
    if batch.is_empty() {
        return Ok(());
    }
    log.append(batch).map_err(|error| match error {
        AppendError::Untouched(error) | AppendError::Unknown(error) => error,
    })
}

#[cfg(test)]
mod tests;
