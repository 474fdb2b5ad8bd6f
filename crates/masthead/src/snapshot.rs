//! `masthead snapshot`: the whole store as one file, and back.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Subcommand;
use masthead_store::{
    DataDir, DirError, FjallLog, LogError, OpenError, Raise, SnapshotError, SnapshotSummary,
    SpaceGuard, Store, StoreId, check_snapshot, restore,
};

/// What to do with a snapshot.
#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Write the objects of a stopped server to a new file
    Save {
        /// The file to write
        file: PathBuf,
        /// Where the objects are kept
        #[arg(long, value_name = "DIR", default_value = "masthead-data")]
        data_dir: PathBuf,
    },
    /// Make a new data directory of such a file
    Restore {
        /// The file to read
        file: PathBuf,
        /// The directory to make
        #[arg(long, value_name = "DIR", default_value = "masthead-data")]
        data_dir: PathBuf,
        /// Go on so many revisions later, so that clients list anew
        #[arg(long, value_name = "N", default_value_t = 0)]
        bump_revision: u64,
    },
    /// Check such a file from end to end
    Verify {
        /// The file to read
        file: PathBuf,
    },
}

/// Why a snapshot was not taken, or not put back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("there is no data in {}; name its directory with --data-dir", dir.display())]
    NoData { dir: PathBuf },
    #[error(transparent)]
    Dir(#[from] DirError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    #[error("cannot write to the standard output: {0}")]
    Output(#[from] io::Error),
}

/// Does it, and says what was done.
pub(crate) fn run(command: &SnapshotCommand) -> Result<(), CommandError> {
    let (done, file, summary) = match command {
        SnapshotCommand::Save { file, data_dir } => ("saved to", file, save(file, data_dir)?),
        SnapshotCommand::Restore {
            file,
            data_dir,
            bump_revision,
        } => {
            let raise = match bump_revision {
                0 => Raise::Not,
                more => Raise::By(*more),
            };
            (
                "restored from",
                file,
                restore(file, data_dir, new_id(), raise)?,
            )
        }
        SnapshotCommand::Verify { file } => ("found good in", file, check_snapshot(file)?),
    };
    let SnapshotSummary { records, bytes, .. } = summary;
    writeln!(
        io::stdout(),
        "{records} records ({bytes} bytes) {done} {}",
        file.display()
    )?;
    Ok(())
}

fn save(file: &Path, data_dir: &Path) -> Result<SnapshotSummary, CommandError> {
    // Opening would begin a store where there is none.
    let holds_something = fs::read_dir(data_dir).is_ok_and(|mut dir| dir.next().is_some());
    if !holds_something {
        return Err(CommandError::NoData {
            dir: data_dir.to_owned(),
        });
    }
    let directory = DataDir::open(data_dir, new_id())?;
    let id = directory.id();
    let log = Arc::new(FjallLog::open(directory)?);
    let space = SpaceGuard::filesystem(data_dir, SpaceGuard::RESERVE_BYTES);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let store = Store::open(log, space, now)?;
    Ok(store.reader().snapshot_to(file, id)?)
}

/// A number that no other store has.
fn new_id() -> StoreId {
    StoreId(uuid::Uuid::new_v4().as_u64_pair().0)
}
