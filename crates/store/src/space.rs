//! [`SpaceGuard`]: writes stop while the disk still has room for the engine's own needs.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::CommitError;

/// How many batches may pass between two looks at the disk, and
const BATCHES_MAX: u32 = 64;
/// how many bytes. A look costs about a microsecond; these bounds cost nothing next to the reserve.
const BYTES_MAX: u64 = 1024 * 1024;

/// Tells how much room there is. A trait, so that tests can fill a disk.
pub trait FreeSpace: Send {
    /// Free bytes for this process.
    fn free_bytes(&mut self) -> io::Result<u64>;
}

/// The filesystem that holds a directory.
#[derive(Debug)]
pub struct Filesystem(PathBuf);

impl FreeSpace for Filesystem {
    fn free_bytes(&mut self) -> io::Result<u64> {
        let facts = rustix::fs::statvfs(&self.0)?;
        Ok(facts.f_bavail.saturating_mul(facts.f_frsize))
    }
}

/// Refuses batches while less than a reserve would be left on the disk.
pub struct SpaceGuard {
    probe: Option<Box<dyn FreeSpace>>,
    reserve: u64,
    batches: u32,
    bytes: u64,
}

impl SpaceGuard {
    /// The default reserve: 32 MiB, room for the engine to move its memory to disk and to compact.
    pub const RESERVE_BYTES: u64 = 32 * 1024 * 1024;

    /// No guard: for stores in memory.
    pub fn off() -> Self {
        Self {
            probe: None,
            reserve: 0,
            batches: 0,
            bytes: 0,
        }
    }

    /// Guards the filesystem of a directory.
    pub fn filesystem(directory: impl Into<PathBuf>, reserve_bytes: u64) -> Self {
        Self::new(Box::new(Filesystem(directory.into())), reserve_bytes)
    }

    /// Guards by any probe.
    pub fn new(probe: Box<dyn FreeSpace>, reserve_bytes: u64) -> Self {
        // The first batch looks.
        Self {
            probe: Some(probe),
            reserve: reserve_bytes,
            batches: BATCHES_MAX,
            bytes: 0,
        }
    }

    /// Looks at the disk, not at every call, and refuses if these bytes would eat into the reserve.
    /// After a refusal every call looks, so writes go on as soon as there is room.
    pub(crate) fn check(&mut self, bytes: u64) -> Result<(), CommitError> {
        let Some(probe) = &mut self.probe else {
            return Ok(());
        };
        self.batches = self.batches.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.batches < BATCHES_MAX && self.bytes < BYTES_MAX {
            return Ok(());
        }
        let free = probe
            .free_bytes()
            .map_err(|source| CommitError::Space { source })?;
        // What was written is not yet seen by the filesystem as used, so all of it counts.
        if free < self.reserve.saturating_add(self.bytes) {
            self.batches = BATCHES_MAX;
            self.bytes = self.bytes.saturating_sub(bytes);
            return Err(CommitError::DiskFull {
                free,
                reserve: self.reserve,
            });
        }
        self.batches = 0;
        self.bytes = 0;
        Ok(())
    }
}

impl fmt::Debug for SpaceGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpaceGuard")
            .field("reserve", &self.reserve)
            .finish_non_exhaustive()
    }
}
