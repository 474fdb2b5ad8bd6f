//! Snapshots: a whole store in one file, and back.
//!
//! Numbers are big-endian.
//! ```text
//! head    "MASTHEAD SNAPSHOT" and a line feed (18 bytes), format version u32, store number u64,
//!         CRC-32 of all that
//! frame   kind u8 (1 record, 2 fact), name length u32, content length u32, name, content,
//!         CRC-32 of the frame until here; records in the order of the log, then the facts
//! end     kind u8 (3), number of frames u64, CRC-32 of the whole file until here; nothing follows
//! ```
//! Names and contents are as in the log: a record's name is its position. Revisions, versions, leases
//! and the compacted revision come back as they were.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use masthead_api::Revision;

use crate::log::{FjallLog, Log, LogBatch, LogError};
use crate::store::{OpenError, facts_at, rebuild_check};
use crate::{AppendError, DataDir, DirError, Position, Reader, StoreId};

const MAGIC: &[u8; 18] = b"MASTHEAD SNAPSHOT\n";
const VERSION: u32 = 1;
const RECORD: u8 = 1;
const FACT: u8 = 2;
const END: u8 = 3;
/// The longest name or content that is believed; a damaged length must not cost the memory.
const PIECE_BYTES_MAX: u32 = 64 * 1024 * 1024;
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
    #[error("{path} has format version {version}, this program knows {VERSION}; use a newer Masthead")]
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
    pub fn snapshot_to(&self, path: &Path, store: StoreId) -> Result<SnapshotSummary, SnapshotError> {
        let mut name = path.as_os_str().to_owned();
        name.push(".part");
        let part = PathBuf::from(name);
        if path.exists() {
            let source = io::ErrorKind::AlreadyExists.into();
            return Err(SnapshotError::Io { path: path.to_owned(), source });
        }
        let file = File::create(&part).map_err(io_error(&part))?;
        let written = write_all(self.shared.log.as_ref(), file, store, &part);
        let place = written.and_then(|summary| {
            fs::rename(&part, path).map_err(io_error(path))?;
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = parent.unwrap_or(Path::new("."));
            File::open(parent).and_then(|dir| dir.sync_all()).map_err(io_error(parent))?;
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
    move |source| SnapshotError::Io { path: path.clone(), source }
}

fn write_all(
    log: &dyn Log,
    file: File,
    store: StoreId,
    path: &Path,
) -> Result<SnapshotSummary, SnapshotError> {
    let failed = io_error(path);
    let view = log.view()?;
    let mut out = Writer { out: BufWriter::with_capacity(1 << 16, file), sum: Sum::default() };
    out.head(store).map_err(&failed)?;
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
    Ok(SnapshotSummary { store, records, bytes })
}

/// A running checksum and byte count.
#[derive(Default)]
struct Sum {
    hasher: crc32fast::Hasher,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    fn get(&self) -> [u8; 4] {
        self.hasher.clone().finalize().to_be_bytes()
    }
}

struct Writer {
    out: BufWriter<File>,
    sum: Sum,
}

impl Writer {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.add(bytes);
        self.out.write_all(bytes)
    }

    fn head(&mut self, store: StoreId) -> io::Result<()> {
        self.put(MAGIC)?;
        self.put(&VERSION.to_be_bytes())?;
        self.put(&store.0.to_be_bytes())?;
        let sum = self.sum.get();
        self.put(&sum)
    }

    fn frame(&mut self, kind: u8, name: &[u8], content: &[u8]) -> io::Result<()> {
        let head = frame_head(kind, name.len() as u32, content.len() as u32);
        self.put(&head)?;
        self.put(name)?;
        self.put(content)?;
        let sum = frame_sum(&head, name, content);
        self.put(&sum)
    }

    fn end(mut self, frames: u64) -> io::Result<u64> {
        self.put(&[END])?;
        self.put(&frames.to_be_bytes())?;
        let sum = self.sum.get();
        self.put(&sum)?;
        let bytes = self.sum.bytes;
        self.out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(bytes)
    }
}

fn frame_head(kind: u8, name_len: u32, content_len: u32) -> [u8; 9] {
    let ([a, b, c, d], [e, f, g, h]) = (name_len.to_be_bytes(), content_len.to_be_bytes());
    [kind, a, b, c, d, e, f, g, h]
}

fn frame_sum(head: &[u8], name: &[u8], content: &[u8]) -> [u8; 4] {
    let mut sum = Sum::default();
    sum.add(head);
    sum.add(name);
    sum.add(content);
    sum.get()
}

/// One piece of a snapshot.
enum Frame {
    Record(Position, Bytes),
    Fact(Bytes, Bytes),
}

/// Reads a snapshot; every error names the place.
struct Source<'a> {
    input: BufReader<File>,
    sum: Sum,
    path: &'a Path,
    frames: u64,
}

impl<'a> Source<'a> {
    fn open(path: &'a Path) -> Result<(Self, StoreId), SnapshotError> {
        let file = File::open(path).map_err(io_error(path))?;
        let input = BufReader::with_capacity(1 << 16, file);
        let mut source = Self { input, sum: Sum::default(), path, frames: 0 };
        let foreign = || SnapshotError::Foreign { path: path.to_owned() };
        let magic = source.take::<18>().map_err(|_| foreign())?;
        if &magic != MAGIC {
            return Err(foreign());
        }
        let version = u32::from_be_bytes(source.take()?);
        let id = StoreId(u64::from_be_bytes(source.take()?));
        let sum = source.sum.get();
        if source.take::<4>()? != sum {
            return Err(source.damaged());
        }
        if version != VERSION {
            return Err(SnapshotError::Newer { path: path.to_owned(), version });
        }
        Ok((source, id))
    }

    fn damaged(&self) -> SnapshotError {
        SnapshotError::Damaged { path: self.path.to_owned(), byte: self.sum.bytes }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), SnapshotError> {
        match self.input.read_exact(bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(self.damaged());
            }
            Err(error) => return Err(io_error(self.path)(error)),
        }
        self.sum.add(bytes);
        Ok(())
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn piece(&mut self, length: [u8; 4]) -> Result<Vec<u8>, SnapshotError> {
        let length = u32::from_be_bytes(length);
        if length > PIECE_BYTES_MAX {
            return Err(self.damaged());
        }
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// The next frame; `None` at a sound end.
    fn next(&mut self) -> Result<Option<Frame>, SnapshotError> {
        let [kind] = self.take()?;
        if kind == END {
            return self.end().map(|()| None);
        }
        let (name_len, content_len) = (self.take()?, self.take()?);
        let (name, content) = (self.piece(name_len)?, self.piece(content_len)?);
        let head = frame_head(kind, name.len() as u32, content.len() as u32);
        let sum = frame_sum(&head, &name, &content);
        if self.take::<4>()? != sum {
            return Err(self.damaged());
        }
        self.frames += 1;
        match (kind, Position::from_bytes(&name)) {
            (RECORD, Some(at)) => Ok(Some(Frame::Record(at, content.into()))),
            (FACT, _) => Ok(Some(Frame::Fact(name.into(), content.into()))),
            _ => Err(self.damaged()),
        }
    }

    fn end(&mut self) -> Result<(), SnapshotError> {
        let frames = u64::from_be_bytes(self.take()?);
        let sum = self.sum.get();
        if self.take::<4>()? != sum || frames != self.frames {
            return Err(self.damaged());
        }
        match self.input.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.damaged()),
            Err(error) => Err(io_error(self.path)(error)),
        }
    }
}

/// Reads a snapshot from end to end and says what is in it; an error if anything is wrong.
pub fn check_snapshot(path: &Path) -> Result<SnapshotSummary, SnapshotError> {
    let (mut source, store) = Source::open(path)?;
    let mut records = 0;
    while let Some(frame) = source.next()? {
        records += u64::from(matches!(frame, Frame::Record(..)));
    }
    Ok(SnapshotSummary { store, records, bytes: source.sum.bytes })
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
        let raised = head.get().checked_add(by).filter(|raised| *raised <= i64::MAX as u64);
        let raised = raised.and_then(Revision::new).ok_or(SnapshotError::TooFar { by })?;
        append(&log, LogBatch { facts: facts_at(raised), ..LogBatch::default() })?;
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
