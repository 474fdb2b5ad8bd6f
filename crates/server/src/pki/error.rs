//! [`PkiError`]: why there are no certificates to serve with.

use std::io;
use std::path::{Path, PathBuf};

/// Why there are no certificates, no token or no kubeconfig.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// A file that is not what was once written there.
    #[error(
        "{} is damaged: {why}; put it back, or remove the folder {} to get new certificates \
         (clients then need the new kubeconfig)",
        file.display(), dir.display()
    )]
    Damaged {
        /// Which file.
        file: PathBuf,
        /// The folder that holds all of them.
        dir: PathBuf,
        /// What is wrong.
        why: &'static str,
    },
    /// The authority's time is over.
    #[error(
        "the certificate authority {} has expired; remove the folder {} to get a new one \
         (clients then need the new kubeconfig)",
        file.display(), dir.display()
    )]
    Expired {
        /// The authority's certificate.
        file: PathBuf,
        /// The folder that holds all of them.
        dir: PathBuf,
    },
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// Which file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that cannot be written.
    #[error("cannot write {}: {source}", file.display())]
    Write {
        /// Which file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A certificate that could not be made.
    #[error("cannot make a certificate: {0}")]
    Make(#[from] rcgen::Error),
    /// The system has no randomness.
    #[error("the system has no random bytes to give")]
    Random,
}

impl PkiError {
    /// `file` is damaged.
    pub(crate) fn damaged(file: &Path, why: &'static str) -> Self {
        let dir = file.parent().unwrap_or(file).to_owned();
        Self::Damaged {
            file: file.to_owned(),
            dir,
            why,
        }
    }
}
