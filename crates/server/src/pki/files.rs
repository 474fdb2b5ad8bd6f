//! Small files: read with a bound, written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::PkiError;

/// Certificates and keys are far smaller.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The text of `file`, `None` if there is no such file.
pub(crate) fn read(file: &Path) -> Result<Option<String>, PkiError> {
    let opened = match File::open(file) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(PkiError::Read {
                file: file.to_owned(),
                source,
            });
        }
    };
    let mut text = String::new();
    match opened.take(FILE_BYTES_MAX).read_to_string(&mut text) {
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(PkiError::damaged(file, "it is no text"))
        }
        Err(source) => Err(PkiError::Read {
            file: file.to_owned(),
            source,
        }),
    }
}

/// Writes `bytes` to `file` for the owner's eyes only.
///
/// Whole or not at all: they are written beside it, made durable, and moved into place.
pub(crate) fn write_private(file: &Path, bytes: &[u8]) -> Result<(), PkiError> {
    write(file, bytes, 0o600).map_err(|source| PkiError::Write {
        file: file.to_owned(),
        source,
    })
}

/// Writes `bytes` to `file` for everybody to read, whole or not at all.
pub(crate) fn write_public(file: &Path, bytes: &[u8]) -> Result<(), PkiError> {
    write(file, bytes, 0o644).map_err(|source| PkiError::Write {
        file: file.to_owned(),
        source,
    })
}

/// Makes `dir` and what is above it; `dir` is for its owner only.
pub(crate) fn make_dir(dir: &Path) -> Result<(), PkiError> {
    let made = fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir);
    made.map_err(|source| PkiError::Write {
        file: dir.to_owned(),
        source,
    })
}

fn write(file: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let beside = beside(file);
    let written = write_beside(&beside, bytes, mode).and_then(|()| fs::rename(&beside, file));
    if written.is_err()
        && let Err(error) = fs::remove_file(&beside)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::debug!(file = %beside.display(), %error, "left behind");
    }
    written
}

fn write_beside(beside: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    // A file left by a crash may have another mode: never write a secret into it.
    if let Err(error) = fs::remove_file(beside)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut opened = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(beside)?;
    opened.write_all(bytes)?;
    opened.sync_data()
}

fn beside(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn private_files_are_private_and_replaced_whole() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        fs::write(&file, "old").unwrap();
        fs::write(beside(&file), "left by a crash").unwrap();
        write_private(&file, b"new").unwrap();
        assert_eq!(read(&file).unwrap().as_deref(), Some("new"));
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert!(!beside(&file).exists());
    }

    #[test]
    fn absent_is_no_error_and_unwritable_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(&dir.path().join("no")).unwrap().is_none());
        let error = write_public(&dir.path().join("no/such"), b"")
            .unwrap_err()
            .to_string();
        assert!(error.contains("no/such"), "{error}");
    }
}
