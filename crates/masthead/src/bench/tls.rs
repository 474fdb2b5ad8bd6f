//! The TLS side of the load: whom it trusts, who it is, HTTP/2 where the server speaks it.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WantsClientCert};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, ConfigBuilder, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// The protocol by its name in the handshake.
pub(super) const HTTP2: &[u8] = b"h2";

/// Which servers are believed.
pub(super) enum Trust<'a> {
    /// Those whose certificate this authority (PEM) signed.
    Authority(&'a [u8]),
    /// All.
    Blind,
}

/// Certificates of which no TLS client can be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("the {what} is no PEM: {source}")]
    Pem {
        what: &'static str,
        source: rustls::pki_types::pem::Error,
    },
    #[error("the authority has no certificate")]
    Empty,
    #[error("the certificates cannot be used: {0}")]
    Certificate(#[from] rustls::Error),
}

/// Settings for HTTPS. Sessions are not taken up again, as most clients of the API do not do it:
/// a reconnect costs the server a whole handshake.
pub(super) fn client_config(
    trust: &Trust<'_>,
    identity: Option<(&[u8], &[u8])>,
) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let builder: ConfigBuilder<ClientConfig, WantsClientCert> = match trust {
        Trust::Authority(pem) => builder.with_root_certificates(roots(pem)?),
        Trust::Blind => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Believe(provider))),
    };
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let key = PrivateKeyDer::from_pem_slice(key).map_err(|source| TlsError::Pem {
                what: "client's key",
                source,
            })?;
            builder.with_client_auth_cert(chain("client's certificate", certificate)?, key)?
        }
    };
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn roots(pem: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in chain("authority", pem)? {
        roots.add(certificate)?;
    }
    if roots.is_empty() {
        return Err(TlsError::Empty);
    }
    Ok(roots)
}

fn chain(what: &'static str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|source| TlsError::Pem { what, source })
}

/// Believes every certificate; that the server has its key is checked nevertheless.
#[derive(Debug)]
struct Believe(Arc<CryptoProvider>);

impl ServerCertVerifier for Believe {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_no_certificate_is_refused() {
        let error = client_config(&Trust::Authority(b"nonsense"), None).unwrap_err();
        assert!(matches!(error, TlsError::Empty), "{error}");
        let error = client_config(&Trust::Blind, Some((b"x", b"y"))).unwrap_err();
        assert!(matches!(error, TlsError::Pem { .. }), "{error}");
    }

    #[test]
    fn http2_is_offered_first() {
        let config = client_config(&Trust::Blind, None).unwrap();
        assert_eq!(config.alpn_protocols[0], HTTP2);
    }
}
