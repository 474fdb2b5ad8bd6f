//! A look at the engine's journal files before the engine opens them.
//!
//! The engine repairs a journal that it cannot read by cutting it where the trouble begins. That is
//! right for the torn tail of a batch whose sync never returned, and wrong for anything before it: a
//! single bad byte in the middle would silently cost every acknowledged write behind it. So this
//! check comes first, walks the batches and tells the two apart:
//!
//! ```text
//! batch batch batch 000…           clean: the rest of the preallocated file is zeros
//! batch batch bat|000…             torn: the last batch was being written; cut before it
//! batch ba?ch batch                damaged: a later batch proves that this one was acknowledged
//! batch batch ba?ch                damaged, if it is complete by length and no disk sector of it is
//!                                  missing (all zeros), because then it was written in full once
//! ```
//! One batch is under way at a time, because every append is synced before the next begins (L3).
//!
//! The engine's batch, numbers little-endian: `1`, item count u32, sequence number u64; each item `2`,
//! type u8, compression u8 (0), keyspace u64, key length u16, value length u32, stored length u32, key,
//! value; at the end `3`, checksum u64, `FJL` and the byte 3. Sequence numbers rise. Every byte that the
//! engine would stumble over is looked at here; the contents have checksums of their own.
//!
//! Rejected: leaving it to the engine's checksum, which is only looked at when the structure around it
//! can be read; and a second file with the newest revision, which would double the syncs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::LogError;
use crate::record;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const TRAILER: [u8; 4] = *b"FJL\x03";
const SECTOR: u64 = 512;
/// How far apart the sequence numbers of neighbouring batches may plausibly be.
const SEQUENCE_STEP_MAX: u64 = 1 << 32;

/// What a journal file looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Clean,
    /// An unfinished batch begins here.
    Torn(u64),
    /// A batch that was once complete is broken here.
    Damaged(u64),
}

/// Checks all journals in a directory and cuts a torn tail off the newest one.
pub(super) fn check_directory(directory: &Path) -> Result<(), LogError> {
    let mut journals = list(directory).map_err(io_error(directory))?;
    let newest = journals.pop();
    for (_, path) in journals {
        match inspect(&path).map_err(io_error(&path))? {
            Verdict::Clean => {}
            // An older journal was synced to its end before the next one was begun.
            Verdict::Torn(byte) | Verdict::Damaged(byte) => {
                return Err(LogError::Journal { path, byte });
            }
        }
    }
    let Some((_, path)) = newest else {
        return Ok(());
    };
    match inspect(&path).map_err(io_error(&path))? {
        Verdict::Clean => Ok(()),
        Verdict::Torn(byte) => cut(&path, byte).map_err(io_error(&path)),
        Verdict::Damaged(byte) => Err(LogError::Journal { path, byte }),
    }
}

/// Is there any journal?
pub(super) fn exists(directory: &Path) -> Result<bool, LogError> {
    let journals = list(directory).map_err(io_error(directory))?;
    Ok(!journals.is_empty())
}

/// Says where the damage is that the engine complained about, if it is in a journal. Reads all
/// journals, so only after a failure.
pub(super) fn locate(directory: &Path, error: LogError) -> LogError {
    if !matches!(error, LogError::EngineDamaged { .. }) {
        return error;
    }
    let journals = list(directory).unwrap_or_default();
    let found = journals.into_iter().find_map(|(_, path)| {
        let byte = first_unsound(&path).ok()??;
        Some(LogError::Journal { path, byte })
    });
    found.unwrap_or(error)
}

/// Where the first batch begins whose content is not what was written.
fn first_unsound(path: &Path) -> io::Result<Option<u64>> {
    let mut contents = File::open(path)?;
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut walk = Walk {
        reader: BufReader::with_capacity(1 << 16, file),
        at: 0,
        length,
        expected_end: None,
    };
    loop {
        let start = walk.at;
        if walk.batch()?.is_none() {
            return Ok(None);
        }
        if !is_sound(&read_range(&mut contents, start, walk.at)?) {
            return Ok(Some(start));
        }
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> LogError {
    let path = path.to_owned();
    move |source| LogError::Io { path, source }
}

/// The journals in the order in which they were begun.
fn list(directory: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut journals = Vec::new();
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(journals),
        other => other?,
    };
    for entry in entries {
        let path = entry?.path();
        let number = path
            .file_stem()
            .and_then(|stem| stem.to_str()?.parse().ok());
        if let (Some(number), true) = (number, path.extension().is_some_and(|ext| ext == "jnl")) {
            journals.push((number, path));
        }
    }
    journals.sort();
    Ok(journals)
}

fn cut(path: &Path, byte: u64) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.set_len(byte)?;
    file.sync_all()
}

fn inspect(path: &Path) -> io::Result<Verdict> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let reader = BufReader::with_capacity(1 << 16, file);
    let mut walk = Walk {
        reader,
        at: 0,
        length,
        expected_end: None,
    };
    let (mut sequence, mut last) = (0, None);
    loop {
        let start = walk.at;
        let Some(number) = walk.batch()?.filter(|number| follows(*number, sequence)) else {
            let broken = Broken {
                start,
                end: walk.expected_end,
            };
            return judge_rest(walk.reader.into_inner(), &broken, sequence, last);
        };
        sequence = number;
        last = Some((start, walk.at));
    }
}

/// Where the batches with a sound structure end.
struct Broken {
    start: u64,
    /// Where the batch that begins here should end, if its head and its items can be read.
    end: Option<u64>,
}

/// Judges what follows the last batch with a sound structure, and that batch's content.
fn judge_rest(
    mut file: File,
    broken: &Broken,
    sequence: u64,
    last: Option<(u64, u64)>,
) -> io::Result<Verdict> {
    let start = broken.start;
    let rest = read_until_zeros(&mut file, start)?;
    if rest.is_empty() {
        let Some((start, end)) = last else {
            return Ok(Verdict::Clean);
        };
        let batch = read_range(&mut file, start, end)?;
        return Ok(
            match (is_sound(&batch), has_missing_sector(&batch, start)) {
                (true, _) => Verdict::Clean,
                (false, true) => Verdict::Torn(start),
                (false, false) => Verdict::Damaged(start),
            },
        );
    }
    let followed = rest
        .windows(17)
        .any(|window| is_batch_border(window, sequence));
    let full = rest.ends_with(&TRAILER) || broken.end == Some(start + rest.len() as u64);
    let complete = full && !has_missing_sector(&rest, start);
    Ok(if followed || complete {
        Verdict::Damaged(start)
    } else {
        Verdict::Torn(start)
    })
}

/// Reads batches by their structure alone.
struct Walk {
    reader: BufReader<File>,
    at: u64,
    length: u64,
    /// Where the batch under way ends, once its items are read.
    expected_end: Option<u64>,
}

impl Walk {
    /// Steps over one batch; its sequence number, or `None` if there is no whole batch here.
    fn batch(&mut self) -> io::Result<Option<u64>> {
        self.expected_end = None;
        let Some([START, head @ ..]) = self.take::<13>()? else {
            return Ok(None);
        };
        let Some((count, sequence)) = head.split_first_chunk::<4>() else {
            return Ok(None);
        };
        for _ in 0..u32::from_le_bytes(*count) {
            if !self.item()? {
                return Ok(None);
            }
        }
        self.expected_end = Some(self.at + 13);
        match self.take::<13>()? {
            Some([END, tail @ ..]) if tail.ends_with(&TRAILER) => {}
            _ => return Ok(None),
        }
        Ok(sequence.try_into().ok().map(u64::from_le_bytes))
    }

    fn item(&mut self) -> io::Result<bool> {
        let Some([ITEM, head @ ..]) = self.take::<21>()? else {
            return Ok(false);
        };
        match item_lengths(&head) {
            Some((key, value)) => self.skip(key + value),
            None => Ok(false),
        }
    }

    fn take<const N: usize>(&mut self) -> io::Result<Option<[u8; N]>> {
        if self.length - self.at < N as u64 {
            return Ok(None);
        }
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes)?;
        self.at += N as u64;
        Ok(Some(bytes))
    }

    fn skip(&mut self, bytes: u64) -> io::Result<bool> {
        if self.length - self.at < bytes {
            return Ok(false);
        }
        self.reader.seek_relative(bytes.cast_signed())?;
        self.at += bytes;
        Ok(true)
    }
}

/// The lengths of key and value in an item's head (behind its tag); `None` if the head is unsound.
fn item_lengths(head: &[u8]) -> Option<(u64, u64)> {
    let ([kind, compression, _, _, _, _, _, _, _, _], head) = head.split_first_chunk::<10>()?;
    let (key_len, head) = head.split_first_chunk::<2>()?;
    let (value_len, head) = head.split_first_chunk::<4>()?;
    let (stored_len, _) = head.split_first_chunk::<4>()?;
    let value_len_number = u32::from_le_bytes(*value_len);
    let known = match *kind {
        0 => true,
        // A removal has no value.
        1 => value_len_number == 0,
        _ => false,
    };
    let sound = known && *compression == 0 && value_len == stored_len;
    sound.then(|| (u16::from_le_bytes(*key_len).into(), value_len_number.into()))
}

/// Whether a batch with this sequence number can come after one with that.
fn follows(number: u64, before: u64) -> bool {
    // The first batch of a file has none before it in sight.
    before == 0 || (number > before && number < before.saturating_add(SEQUENCE_STEP_MAX))
}

/// Whether these bytes are the end of one batch and the beginning of another.
fn is_batch_border(window: &[u8], sequence: u64) -> bool {
    let Some(next) = window.strip_prefix(&TRAILER) else {
        return false;
    };
    let Some(([START, count @ ..], number)) = next.split_first_chunk::<5>() else {
        return false;
    };
    let Ok(number) = number.try_into().map(u64::from_le_bytes) else {
        return false;
    };
    u32::from_le_bytes(*count) > 0 && follows(number, sequence)
}

/// Whether every item of a batch with a sound structure is what the store wrote.
fn is_sound(batch: &[u8]) -> bool {
    let mut rest = batch.get(13..).unwrap_or_default();
    while let Some((&ITEM, item)) = rest.split_first() {
        let Some((head, item)) = item.split_first_chunk::<20>() else {
            return false;
        };
        let Some((key_len, value_len)) = item_lengths(head) else {
            return false;
        };
        let Some((key, item)) = item.split_at_checked(key_len as usize) else {
            return false;
        };
        let Some((value, item)) = item.split_at_checked(value_len as usize) else {
            return false;
        };
        // The first byte of an engine key says what it is; the rest is the name in the checksum. An
        // item without a value is a removal.
        let name = key.get(1..).unwrap_or_default();
        if !value.is_empty() && !record::is_sealed(name, value) {
            return false;
        }
        rest = item;
    }
    true
}

/// Whether a piece of the file from `start` on lacks a disk sector: reads as all zeros.
fn has_missing_sector(piece: &[u8], start: u64) -> bool {
    let first = (SECTOR - start % SECTOR) as usize;
    let (head, rest) = piece.split_at_checked(first).unwrap_or((piece, &[]));
    let zeros = |sector: &[u8]| !sector.is_empty() && sector.iter().all(|byte| *byte == 0);
    zeros(head) || rest.chunks(SECTOR as usize).any(zeros)
}

fn read_range(file: &mut File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(end - start).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The bytes from `start` to the last one that is not zero. Holes of the file are not read.
fn read_until_zeros(file: &mut File, start: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut at = start;
    loop {
        let data = match rustix::fs::seek(&*file, rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(rustix::io::Errno::NXIO) => break,
            Err(errno) => return Err(errno.into()),
        };
        let hole = rustix::fs::seek(&*file, rustix::fs::SeekFrom::Hole(data))?;
        let piece = read_range(file, data, hole)?;
        if let Some(last) = piece.iter().rposition(|byte| *byte != 0) {
            bytes.resize((data - start) as usize, 0);
            bytes.extend_from_slice(piece.get(..=last).unwrap_or_default());
        }
        at = hole;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
