//! [`DataDir`]: a directory that belongs to one store and to one process at a time.
//!
//! ```text
//! LOCK       locked (flock) while a process uses the directory; holds that process's number
//! CREATING   there while the directory is being made: an interrupted making is begun anew
//! log/       the engine's files
//! FORMAT     written last when the directory is made: what it is, the format version, the store's
//!            number
//! ```
//! A directory that holds anything but has neither FORMAT nor CREATING is somebody else's, and is
//! left as it is.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

/// The newest format of a data directory that this program knows.
const FORMAT_VERSION: u32 = 1;
const FORMAT_NAME: &str = "masthead-store";
const LOCK: &str = "LOCK";
const FORMAT: &str = "FORMAT";
const FORMAT_TEMPORARY: &str = "FORMAT.new";
const CREATING: &str = "CREATING";
const LOG: &str = "log";

/// The number of a store, drawn when it is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoreId(pub u64);

/// Why a directory cannot be used. It is left as it was.
#[derive(Debug, thiserror::Error)]
pub enum DirError {
    /// The operating system refused.
    #[error("{path}: {source}; choose a data directory that this user may write to")]
    Io {
        /// Which file or directory.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// Another process uses it.
    #[error("{path} is in use by {}; stop it or choose another directory", holder(*pid))]
    InUse {
        /// Which directory.
        path: PathBuf,
        /// The other process, if it left its number.
        pid: Option<u32>,
    },
    /// It holds something else.
    #[error("{path} is not empty and not a Masthead data directory; choose an empty or new one")]
    Foreign {
        /// Which directory.
        path: PathBuf,
    },
    /// It was written by a newer program.
    #[error(
        "{path} has format version {version}, this program knows {FORMAT_VERSION}; use a newer Masthead"
    )]
    Newer {
        /// Which directory.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Its FORMAT file makes no sense.
    #[error("{path} is damaged; restore a snapshot into a new directory to go on")]
    Damaged {
        /// Which file.
        path: PathBuf,
    },
    /// A new directory was wanted.
    #[error("{path} is not empty; choose an empty or new directory")]
    NotEmpty {
        /// Which directory.
        path: PathBuf,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(
        || "another process".to_owned(),
        |pid| format!("process {pid}"),
    )
}

/// A directory, locked until this value is dropped.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    id: StoreId,
    state: State,
    /// Holds the lock as long as it is open.
    _lock: File,
}

/// Whether a directory holds a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Since long.
    Ready,
    /// Not yet: a crash now leaves nothing of worth.
    Creating,
}

impl DataDir {
    /// Opens a data directory, or begins to make one if there is nothing yet; then `new_id` is its
    /// number. The making ends when the log is opened in it.
    pub fn open(path: &Path, new_id: StoreId) -> Result<Self, DirError> {
        let lock = lock(path)?;
        let (id, state) = match read_format(path)? {
            Some(id) => (id, State::Ready),
            None => (new_id, State::Creating),
        };
        let dir = Self {
            path: path.to_owned(),
            id,
            state,
            _lock: lock,
        };
        dir.begin()?;
        Ok(dir)
    }

    /// Begins to make a data directory where there is nothing yet.
    pub fn create(path: &Path, id: StoreId) -> Result<Self, DirError> {
        let not_empty = || DirError::NotEmpty {
            path: path.to_owned(),
        };
        let dir = match Self::open(path, id) {
            Err(DirError::Foreign { .. }) => return Err(not_empty()),
            other => other?,
        };
        match dir.state {
            State::Ready => Err(not_empty()),
            State::Creating => Ok(dir),
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The store's number.
    pub fn id(&self) -> StoreId {
        self.id
    }

    /// Whether it holds a store already, rather than being made.
    pub(crate) fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// Where the log goes.
    pub fn log_path(&self) -> PathBuf {
        self.path.join(LOG)
    }

    fn begin(&self) -> Result<(), DirError> {
        let log = self.log_path();
        match self.state {
            State::Ready if log.is_dir() => Ok(()),
            State::Ready => Err(DirError::Damaged { path: log }),
            State::Creating => {
                let marker = self.path.join(CREATING);
                File::create(&marker).map_err(io_error(&marker))?;
                sync_directory(&self.path)?;
                match fs::remove_dir_all(&log) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        Err(io_error(&log)(error))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Ends the making: from now on the directory holds a store.
    pub(crate) fn finish(&mut self) -> Result<(), DirError> {
        if self.state == State::Creating {
            write_format(&self.path, self.id)?;
            let marker = self.path.join(CREATING);
            fs::remove_file(&marker).map_err(io_error(&marker))?;
            self.state = State::Ready;
        }
        Ok(())
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> DirError {
    let path = path.to_owned();
    move |source| DirError::Io { path, source }
}

/// Whether there is something in a directory that we did not put there. What does not exist, or
/// cannot be listed, is for the next step to complain about.
fn is_foreign(path: &Path) -> bool {
    let Ok(entries) = fs::read_dir(path) else {
        return false;
    };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    let only_a_lock = names.iter().all(|name| name == LOCK);
    !only_a_lock && !names.iter().any(|name| name == FORMAT || name == CREATING)
}

/// Makes the directory if need be and locks it. A foreign directory is not touched.
/// Makes the directory, for its owner alone: it will hold secrets. One that is there is left as it
/// is.
fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

fn lock(path: &Path) -> Result<File, DirError> {
    if is_foreign(path) {
        return Err(DirError::Foreign {
            path: path.to_owned(),
        });
    }
    make_private(path).map_err(io_error(path))?;
    let lock_path = path.join(LOCK);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&lock_path)
        .map_err(io_error(&lock_path))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let mut text = String::new();
            file.read_to_string(&mut text)
                .map_err(io_error(&lock_path))?;
            return Err(DirError::InUse {
                path: path.to_owned(),
                pid: text.trim().parse().ok(),
            });
        }
        Err(errno) => return Err(io_error(&lock_path)(errno.into())),
    }
    file.set_len(0).map_err(io_error(&lock_path))?;
    writeln!(file, "{}", std::process::id()).map_err(io_error(&lock_path))?;
    Ok(file)
}

/// The store's number; `None` if there is no finished store.
fn read_format(path: &Path) -> Result<Option<StoreId>, DirError> {
    let format_path = path.join(FORMAT);
    match fs::read_to_string(&format_path) {
        Ok(text) => parse_format(path, &text).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(DirError::Damaged { path: format_path })
        }
        Err(error) => Err(io_error(&format_path)(error)),
    }
}

fn parse_format(path: &Path, text: &str) -> Result<StoreId, DirError> {
    let damaged = || DirError::Damaged {
        path: path.join(FORMAT),
    };
    let mut words = text.split_whitespace();
    if words.next() != Some(FORMAT_NAME) {
        return Err(damaged());
    }
    let version: u32 = words
        .next()
        .and_then(|word| word.parse().ok())
        .ok_or_else(damaged)?;
    if version > FORMAT_VERSION {
        return Err(DirError::Newer {
            path: path.to_owned(),
            version,
        });
    }
    let id = words
        .next()
        .and_then(|word| u64::from_str_radix(word, 16).ok());
    id.map(StoreId).ok_or_else(damaged)
}

/// Writes FORMAT so that it is there wholly or not at all, and stays.
fn write_format(path: &Path, id: StoreId) -> Result<(), DirError> {
    let temporary = path.join(FORMAT_TEMPORARY);
    let mut file = File::create(&temporary).map_err(io_error(&temporary))?;
    writeln!(file, "{FORMAT_NAME} {FORMAT_VERSION} {:016x}", id.0).map_err(io_error(&temporary))?;
    file.sync_all().map_err(io_error(&temporary))?;
    fs::rename(&temporary, path.join(FORMAT)).map_err(io_error(&temporary))?;
    sync_directory(path)
}

/// Makes the names in a directory durable.
fn sync_directory(path: &Path) -> Result<(), DirError> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(io_error(path))
}

#[cfg(test)]
mod tests;
