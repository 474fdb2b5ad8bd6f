//! The TLS side of the listener: its settings, and who the client certificate says it is.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::auth::User;
use crate::pki::Pki;

/// HTTP/2 as the protocol chosen in the handshake.
pub(super) const HTTP2: &[u8] = b"h2";

/// Settings for HTTPS with the certificates of `pki`: HTTP/2 and HTTP/1.1, client certificates
/// welcome but not needed. One that the authority did not sign ends the handshake.
///
/// # Errors
/// [`TlsError`] where the certificates do not fit together.
pub fn server_config(pki: &Pki) -> Result<ServerConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(pki.ca_certificate())?;
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone())
        .allow_unauthenticated()
        .build()?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_client_cert_verifier(verifier)
        .with_single_cert(pki.server_chain(), pki.server_key())?;
    config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The user whom a verified client certificate names.
pub(super) fn user_of(chain: Option<&[CertificateDer<'_>]>) -> Option<Arc<User>> {
    let leaf = chain?.first()?;
    User::from_certificate(leaf).map(Arc::new)
}

/// Certificates of which no TLS server can be made.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate or its key is refused.
    #[error("the server's certificate cannot be used: {0}")]
    Certificate(#[from] rustls::Error),
    /// The authority is refused as the judge of client certificates.
    #[error("the certificate authority cannot judge client certificates: {0}")]
    Verifier(#[from] rustls::server::VerifierBuilderError),
}
