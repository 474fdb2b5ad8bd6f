//! The server's own certificates: an authority made at the first start, a certificate for the
//! server, one for its admin.
//!
//! ```text
//! <data dir>/pki/   ca.pem       the authority, certificate and key
//!                   ca.crt       its certificate alone, for whoever must trust it
//!                   server.pem   made anew when the names change or its end is near
//!                   admin.pem    made anew when its end is near
//!                   admin.token  the other credential of the admin
//! ```
//! Each file is written whole or not at all; those with secrets are for their owner only. A file
//! that is there and wrong is refused, never replaced: clients trust what it once said.

mod authority;
mod error;
pub(crate) mod files;
mod names;
mod pair;
#[cfg(test)]
mod tests;

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

pub use authority::Authority;
pub use error::PkiError;
pub use names::{Names, host_name};
pub use pair::Pair;

use pair::Checked;

/// A certificate with less life than this is made anew at a start.
const RENEW_BEFORE: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Certificates to serve with.
pub struct Pki {
    ca: Pair,
    ca_checked: Checked,
    server: Checked,
    admin: Pair,
}

impl Pki {
    /// Certificates that nobody keeps.
    ///
    /// # Errors
    /// [`PkiError::Make`].
    pub fn ephemeral(names: &Names, now: Timestamp) -> Result<Self, PkiError> {
        let ca = Authority::create(now)?;
        let authority = Authority::open(&ca)?;
        let ca_checked = fresh(&ca, None)?;
        let server = fresh(
            &authority.server(names, now)?,
            Some(&ca_checked.certificate),
        )?;
        let admin = authority.admin(now)?;
        Ok(Self {
            ca,
            ca_checked,
            server,
            admin,
        })
    }

    /// The certificates kept in `dir`; what is not there yet is made.
    ///
    /// # Errors
    /// [`PkiError`] for files that are damaged or cannot be read or written.
    pub fn load_or_create(dir: &Path, names: &Names, now: Timestamp) -> Result<Self, PkiError> {
        files::make_dir(dir)?;
        let (ca, ca_checked) = authority_in(dir, now)?;
        let ca_file = dir.join("ca.pem");
        let authority = Authority::open(&ca)
            .map_err(|_| PkiError::damaged(&ca_file, "it is no authority's certificate"))?;
        let public = dir.join("ca.crt");
        if files::read(&public)?.as_deref() != Some(&ca.certificate) {
            files::write_public(&public, ca.certificate.as_bytes())?;
        }
        let issuer = &ca_checked.certificate;
        let alive = |checked: &Checked| checked.not_after.duration_since(now) > RENEW_BEFORE;
        let (_, server) = leaf_in(
            &dir.join("server.pem"),
            issuer,
            |checked| alive(checked) && checked.names == *names,
            || authority.server(names, now),
        )?;
        let admin_file = dir.join("admin.pem");
        let (admin, _) = leaf_in(&admin_file, issuer, alive, || authority.admin(now))?;
        Ok(Self {
            ca,
            ca_checked,
            server,
            admin,
        })
    }

    /// The authority's certificate, as PEM.
    pub fn ca_pem(&self) -> &str {
        &self.ca.certificate
    }

    /// The admin's certificate and key, as PEM.
    pub const fn admin(&self) -> &Pair {
        &self.admin
    }

    /// The authority's certificate.
    pub(crate) fn ca_certificate(&self) -> CertificateDer<'static> {
        self.ca_checked.certificate.clone()
    }

    /// The server's certificate.
    pub(crate) fn server_chain(&self) -> Vec<CertificateDer<'static>> {
        vec![self.server.certificate.clone()]
    }

    /// The server's key.
    pub(crate) fn server_key(&self) -> PrivateKeyDer<'static> {
        self.server.key.clone_key()
    }
}

impl std::fmt::Debug for Pki {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pki")
            .field("names", &self.server.names)
            .finish_non_exhaustive()
    }
}

fn authority_in(dir: &Path, now: Timestamp) -> Result<(Pair, Checked), PkiError> {
    let file = dir.join("ca.pem");
    let Some(ca) = Pair::read(&file)? else {
        // The authority is written first: what else is there was signed by a lost one.
        if let Some(left) = ["server.pem", "admin.pem"]
            .iter()
            .find(|f| dir.join(f).exists())
        {
            let why = "the authority that signed it, ca.pem, is gone";
            return Err(PkiError::damaged(&dir.join(left), why));
        }
        let ca = Authority::create(now)?;
        ca.write(&file)?;
        let checked = fresh(&ca, None)?;
        return Ok((ca, checked));
    };
    let checked = ca
        .check(None)
        .map_err(|why| PkiError::damaged(&file, why))?;
    if checked.not_after <= now {
        return Err(PkiError::Expired {
            file,
            dir: dir.to_owned(),
        });
    }
    Ok((ca, checked))
}

/// The pair kept in `file` if it will `do`, else one that is made and kept there.
fn leaf_in(
    file: &Path,
    ca: &CertificateDer<'_>,
    will_do: impl FnOnce(&Checked) -> bool,
    make: impl FnOnce() -> Result<Pair, PkiError>,
) -> Result<(Pair, Checked), PkiError> {
    if let Some(pair) = Pair::read(file)? {
        let checked = pair
            .check(Some(ca))
            .map_err(|why| PkiError::damaged(file, why))?;
        if will_do(&checked) {
            return Ok((pair, checked));
        }
    }
    let pair = make()?;
    let checked = fresh(&pair, Some(ca))?;
    pair.write(file)?;
    Ok((pair, checked))
}

/// A pair just made, which cannot be wrong; where it is, the maker is.
fn fresh(pair: &Pair, ca: Option<&CertificateDer<'_>>) -> Result<Checked, PkiError> {
    pair.check(ca)
        .map_err(|_| PkiError::Make(rcgen::Error::CouldNotParseCertificate))
}
