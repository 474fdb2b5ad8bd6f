//! [`Pair`]: a certificate and its key, in one file so that they never come apart.

use std::path::Path;

use jiff::Timestamp;
use rcgen::{KeyPair, PublicKeyData as _};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::{Names, PkiError, files};

/// Where the key begins in a file that holds both.
const KEY_BEGINS: &str = "-----BEGIN PRIVATE KEY-----";

/// A certificate and its key, as PEM.
#[derive(Clone)]
pub struct Pair {
    /// The certificate.
    pub certificate: String,
    /// The private key, PKCS#8.
    pub key: String,
}

/// A pair that was found good, ready for TLS.
pub(super) struct Checked {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) key: PrivateKeyDer<'static>,
    pub(super) names: Names,
    pub(super) not_after: Timestamp,
}

impl Pair {
    /// The pair in `file`, `None` if there is no such file.
    pub(super) fn read(file: &Path) -> Result<Option<Self>, PkiError> {
        let Some(text) = files::read(file)? else {
            return Ok(None);
        };
        let Some((certificate, key)) = text.find(KEY_BEGINS).map(|at| text.split_at(at)) else {
            return Err(PkiError::damaged(file, "it holds no private key"));
        };
        Ok(Some(Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        }))
    }

    /// Keeps the pair in `file`, for its owner only.
    pub(super) fn write(&self, file: &Path) -> Result<(), PkiError> {
        files::write_private(file, format!("{}{}", self.certificate, self.key).as_bytes())
    }

    /// Whether the two belong together and the certificate is signed by `ca`, or by itself where
    /// that is `None`; if not, what is wrong.
    pub(super) fn check(&self, ca: Option<&CertificateDer<'_>>) -> Result<Checked, &'static str> {
        let der = CertificateDer::from_pem_slice(self.certificate.as_bytes())
            .map_err(|_| "its certificate is no PEM")?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes())
            .map_err(|_| "its private key is no PEM")?;
        let pair = KeyPair::from_pem(&self.key).map_err(|_| "its private key is no key")?;
        let (_, certificate) =
            X509Certificate::from_der(&der).map_err(|_| "its certificate is no certificate")?;
        let public = &certificate.public_key().subject_public_key.data;
        if pair.der_bytes() != public.as_ref() {
            return Err("certificate and private key do not belong together");
        }
        let parsed = ca.map(|ca| X509Certificate::from_der(ca)).transpose();
        let issuer = parsed.map_err(|_| "its authority is no certificate")?;
        let signer = issuer.as_ref().map(|(_, issuer)| issuer.public_key());
        if certificate.verify_signature(signer).is_err() {
            return Err("it is not signed by the authority in ca.pem");
        }
        let until = certificate.validity().not_after.timestamp();
        let not_after = Timestamp::from_second(until).map_err(|_| "its dates make no sense")?;
        let names = Names::in_certificate(&certificate);
        Ok(Checked {
            certificate: der,
            key,
            names,
            not_after,
        })
    }
}
