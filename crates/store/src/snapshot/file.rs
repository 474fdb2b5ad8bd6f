//! The bytes of a snapshot file, written and read.
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

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use bytes::Bytes;

use super::{SnapshotError, io_error};
use crate::{Position, StoreId};

const MAGIC: &[u8; 18] = b"MASTHEAD SNAPSHOT\n";
pub(super) const VERSION: u32 = 1;
pub(super) const RECORD: u8 = 1;
pub(super) const FACT: u8 = 2;
const END: u8 = 3;
/// The longest name or content that is believed; a damaged length must not cost the memory.
const PIECE_BYTES_MAX: u32 = 64 * 1024 * 1024;
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

pub(super) struct Writer {
    out: BufWriter<File>,
    sum: Sum,
}

impl Writer {
    pub(super) fn new(file: File, store: StoreId) -> io::Result<Self> {
        let out = BufWriter::with_capacity(1 << 16, file);
        let mut writer = Self {
            out,
            sum: Sum::default(),
        };
        writer.head(store)?;
        Ok(writer)
    }

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

    pub(super) fn frame(&mut self, kind: u8, name: &[u8], content: &[u8]) -> io::Result<()> {
        let head = frame_head(kind, name.len() as u32, content.len() as u32);
        self.put(&head)?;
        self.put(name)?;
        self.put(content)?;
        let sum = frame_sum(&head, name, content);
        self.put(&sum)
    }

    pub(super) fn end(mut self, frames: u64) -> io::Result<u64> {
        self.put(&[END])?;
        self.put(&frames.to_be_bytes())?;
        let sum = self.sum.get();
        self.put(&sum)?;
        let bytes = self.sum.bytes;
        self.out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()?;
        Ok(bytes)
    }
}

fn frame_head(kind: u8, name_len: u32, content_len: u32) -> [u8; 9] {
    let mut head = [kind; 9];
    let lengths = name_len
        .to_be_bytes()
        .into_iter()
        .chain(content_len.to_be_bytes());
    for (place, byte) in head.iter_mut().skip(1).zip(lengths) {
        *place = byte;
    }
    head
}

fn frame_sum(head: &[u8], name: &[u8], content: &[u8]) -> [u8; 4] {
    let mut sum = Sum::default();
    sum.add(head);
    sum.add(name);
    sum.add(content);
    sum.get()
}

/// One piece of a snapshot.
pub(super) enum Frame {
    Record(Position, Bytes),
    Fact(Bytes, Bytes),
}

/// Reads a snapshot; every error names the place.
pub(super) struct Source<'a> {
    input: BufReader<File>,
    sum: Sum,
    path: &'a Path,
    frames: u64,
}

impl<'a> Source<'a> {
    pub(super) fn open(path: &'a Path) -> Result<(Self, StoreId), SnapshotError> {
        let file = File::open(path).map_err(io_error(path))?;
        let input = BufReader::with_capacity(1 << 16, file);
        let mut source = Self {
            input,
            sum: Sum::default(),
            path,
            frames: 0,
        };
        let foreign = || SnapshotError::Foreign {
            path: path.to_owned(),
        };
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
            return Err(SnapshotError::Newer {
                path: path.to_owned(),
                version,
            });
        }
        Ok((source, id))
    }

    /// How many bytes were read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.sum.bytes
    }

    fn damaged(&self) -> SnapshotError {
        SnapshotError::Damaged {
            path: self.path.to_owned(),
            byte: self.sum.bytes,
        }
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
    pub(super) fn next(&mut self) -> Result<Option<Frame>, SnapshotError> {
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
