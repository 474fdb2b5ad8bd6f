//! [`Access`]: how the server is reached, from the command line and the kubeconfig it names.

use std::ffi::OsStr;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use http::HeaderValue;
use http::uri::{Scheme, Uri};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use super::args::Common;
use super::kubeconfig::{self, Kubeconfig, KubeconfigError};
use super::tls::{self, TlsError};

/// Where a server writes its kubeconfig by default.
const KUBECONFIG: &str = "masthead.kubeconfig";

/// A server, and the credentials for it.
pub(super) struct Access {
    /// The server's URL without a slash at the end.
    pub(super) url: String,
    /// `host:port`.
    pub(super) authority: String,
    /// What the paths of the API stand behind; mostly nothing.
    pub(super) prefix: String,
    /// For HTTPS: the settings and the name in the certificate.
    pub(super) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    /// The value of the header.
    pub(super) authorization: Option<HeaderValue>,
    host: String,
}

/// Why no server can be reached with what the command line says.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AccessError {
    #[error(
        "which server? There is no ./masthead.kubeconfig and no $KUBECONFIG: give --kubeconfig \
         or --url"
    )]
    Nowhere,
    #[error(transparent)]
    Kubeconfig(#[from] KubeconfigError),
    #[error("{url:?} is no URL of a server, like https://127.0.0.1:6443")]
    Url { url: String },
    #[error("the token has characters that no header may have")]
    Token,
    #[error("{host:?} is no name that a certificate can have")]
    Name { host: String },
    #[error("--context is about a kubeconfig, and --url is there instead of one")]
    Context,
    #[error(
        "nothing to check the server's certificate with: give --certificate-authority FILE or --insecure"
    )]
    NoAuthority,
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl Access {
    /// What `common` asks for; `environment` is the value of `$KUBECONFIG`.
    pub(super) fn of(common: &Common, environment: Option<&OsStr>) -> Result<Self, AccessError> {
        let mut config = match &common.url {
            Some(_) if common.context.is_some() => return Err(AccessError::Context),
            Some(url) => Kubeconfig {
                server: url.clone(),
                tls_name: None,
                insecure: false,
                authority: None,
                certificate: None,
                token: None,
            },
            None => {
                let path = choose(common.kubeconfig.clone(), environment)?;
                Kubeconfig::read(&path, common.context.as_deref())?
            }
        };
        if let Some(file) = &common.certificate_authority {
            config.authority = Some(kubeconfig::read(file)?);
        }
        config.insecure |= common.insecure;
        if common.token.is_some() {
            config.token.clone_from(&common.token);
        }
        Self::new(&config)
    }

    fn new(config: &Kubeconfig) -> Result<Self, AccessError> {
        let wrong = || AccessError::Url {
            url: config.server.clone(),
        };
        let url = config.server.trim_end_matches('/').to_owned();
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let is_tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(wrong()),
        };
        let host = uri.host().ok_or_else(wrong)?.to_owned();
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let authorization = config.token.as_deref().map(bearer).transpose()?;
        let tls = if is_tls {
            Some(secure(config, bare(&host))?)
        } else {
            None
        };
        Ok(Self {
            authority: format!("{host}:{port}"),
            prefix: uri.path().trim_end_matches('/').to_owned(),
            url,
            tls,
            authorization,
            host,
        })
    }

    /// Whether the server is on this machine for sure.
    pub(super) fn is_loopback(&self) -> bool {
        let host = bare(&self.host);
        host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }
}

/// The kubeconfig of the command line, of this directory or of the environment, in this order: a
/// load must not go to whatever cluster one happens to be logged in to.
fn choose(given: Option<PathBuf>, environment: Option<&OsStr>) -> Result<PathBuf, AccessError> {
    let here = || Some(PathBuf::from(KUBECONFIG)).filter(|file| file.exists());
    let there = || {
        let files = std::env::split_paths(environment?);
        files.into_iter().find(|file| !file.as_os_str().is_empty())
    };
    given
        .or_else(here)
        .or_else(there)
        .ok_or(AccessError::Nowhere)
}

fn bearer(token: &str) -> Result<HeaderValue, AccessError> {
    let value = HeaderValue::try_from(format!("Bearer {token}"));
    let mut value = value.map_err(|_| AccessError::Token)?;
    value.set_sensitive(true);
    Ok(value)
}

fn secure(
    config: &Kubeconfig,
    host: &str,
) -> Result<(Arc<ClientConfig>, ServerName<'static>), AccessError> {
    let host = config.tls_name.as_deref().unwrap_or(host).to_owned();
    let name = ServerName::try_from(host.clone()).map_err(|_| AccessError::Name { host })?;
    let trust = match (&config.authority, config.insecure) {
        (_, true) => tls::Trust::Blind,
        (Some(pem), false) => tls::Trust::Authority(pem),
        (None, false) => return Err(AccessError::NoAuthority),
    };
    let identity = config.certificate.as_ref();
    let identity = identity.map(|(certificate, key)| (certificate.as_slice(), key.as_slice()));
    Ok((Arc::new(tls::client_config(&trust, identity)?), name))
}

/// An IPv6 address without its brackets.
fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(url: &str) -> Common {
        Common {
            url: Some(url.to_owned()),
            token: Some("t".to_owned()),
            insecure: true,
            ..Common::default()
        }
    }

    #[test]
    fn a_url_says_host_port_and_prefix() {
        let check = |text: &str, authority: &str, prefix: &str, loopback: bool| {
            let access = Access::of(&url(text), None).ok().unwrap();
            assert_eq!(access.authority, authority, "{text}");
            assert_eq!(access.prefix, prefix, "{text}");
            assert_eq!(access.is_loopback(), loopback, "{text}");
            assert_eq!(access.tls.is_some(), text.starts_with("https"), "{text}");
        };
        check("https://127.0.0.1:6443", "127.0.0.1:6443", "", true);
        check("https://[::1]:6443/", "[::1]:6443", "", true);
        check(
            "https://example.org/k8s/c1/",
            "example.org:443",
            "/k8s/c1",
            false,
        );
        check("http://localhost:8001", "localhost:8001", "", true);
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        for text in ["127.0.0.1:6443", "ftp://a", "https://", ""] {
            let error = Access::of(&url(text), None).err().unwrap();
            assert!(matches!(error, AccessError::Url { .. }), "{text}: {error}");
        }
        let strict = Common {
            insecure: false,
            ..url("https://127.0.0.1:1")
        };
        let error = Access::of(&strict, None).err().unwrap();
        assert!(matches!(error, AccessError::NoAuthority), "{error}");
        let split = Common {
            token: Some("a\nb".to_owned()),
            ..url("https://127.0.0.1:1")
        };
        let error = Access::of(&split, None).err().unwrap();
        assert!(matches!(error, AccessError::Token), "{error}");
    }

    #[test]
    fn the_file_of_the_command_line_comes_before_that_of_the_environment() {
        let environment = OsStr::new("/a/config:/b/config");
        let chosen = choose(Some(PathBuf::from("mine")), Some(environment)).ok();
        assert_eq!(chosen, Some(PathBuf::from("mine")));
        let chosen = choose(None, Some(environment)).ok();
        assert_eq!(chosen, Some(PathBuf::from("/a/config")));
        assert!(matches!(choose(None, None), Err(AccessError::Nowhere)));
    }
}
