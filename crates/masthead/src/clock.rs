//! `masthead clock`: the clock of a running server that was started with `--virtual-clock`.

use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use bytes::Bytes;
use clap::{Args, Subcommand};
use http::header::{AUTHORIZATION, HOST};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::duration;

/// An answer is one line; more is not from a clock.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// What to do with the clock.
#[derive(Debug, Subcommand)]
pub(crate) enum ClockCommand {
    /// Move it forward, and have everything done that becomes due
    Advance {
        /// By how much, e.g. 75s or 1h30m
        #[arg(value_name = "TIME", value_parser = duration::parse)]
        by: Duration,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Say where it stands
    Show {
        #[command(flatten)]
        server: ServerArgs,
    },
}

/// Which server, and who asks.
#[derive(Args, Debug)]
pub(crate) struct ServerArgs {
    /// The admin's kubeconfig
    #[arg(long, value_name = "FILE", default_value = "masthead.kubeconfig")]
    kubeconfig: PathBuf,
    /// The server, if not that of the kubeconfig
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The admin's token, if not that of the kubeconfig
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
}

/// Why the clock did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClockError {
    #[error("cannot read {}: {source}; name the server's kubeconfig with --kubeconfig", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} has no {what} that can be used; give --url and --token", path.display())]
    Kubeconfig { path: PathBuf, what: &'static str },
    #[error("{url:?} is not the URL of a server")]
    Url { url: String },
    #[error("no connection to {url}: {source}")]
    Connect { url: String, source: io::Error },
    #[error("the certificates cannot be used: {0}")]
    Tls(#[from] rustls::Error),
    #[error("no answer: {0}")]
    Http(#[from] hyper::Error),
    #[error("not a request: {0}")]
    Request(#[from] http::Error),
    #[error("the answer cannot be read: {0}")]
    Answer(Box<dyn std::error::Error + Send + Sync>),
    #[error("refused with {code}: {message}")]
    Refused { code: StatusCode, message: String },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Does it, and prints the server's answer, which is JSON.
pub(crate) fn run(command: &ClockCommand) -> Result<(), ClockError> {
    let (method, path, server) = match command {
        ClockCommand::Show { server } => (Method::GET, "/masthead/clock".to_owned(), server),
        ClockCommand::Advance { by, server } => {
            let path = format!("/masthead/clock/advance?by={}ms", by.as_millis());
            (Method::POST, path, server)
        }
    };
    let access = Access::new(server)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let answer = runtime.block_on(access.ask(method, &path))?;
    let mut out = io::stdout().lock();
    writeln!(out, "{}", String::from_utf8_lossy(&answer).trim_end())?;
    Ok(())
}

/// The way to a server.
struct Access {
    url: String,
    token: String,
    /// PEM of the authority, where the kubeconfig has one.
    authority: Option<Vec<u8>>,
}

impl Access {
    fn new(args: &ServerArgs) -> Result<Self, ClockError> {
        let given = args.url.clone().zip(args.token.clone());
        if let Some((url, token)) = given.filter(|(url, _)| url.starts_with("http://")) {
            let authority = None;
            return Ok(Self {
                url,
                token,
                authority,
            });
        }
        let path = &args.kubeconfig;
        let text = std::fs::read(path).map_err(|source| ClockError::Read {
            path: path.clone(),
            source,
        })?;
        // The parser's own words could tell what the file holds, and it holds secrets.
        let config: Value = serde_saphyr::from_slice(&text).unwrap_or_default();
        let missing = |what| ClockError::Kubeconfig {
            path: path.clone(),
            what,
        };
        let found = Found::in_current_context(&config);
        let url = args.url.clone().or(found.server);
        let token = args.token.clone().or(found.token);
        Ok(Self {
            url: url.ok_or_else(|| missing("server"))?,
            token: token.ok_or_else(|| missing("token"))?,
            authority: authority(found.authority_data, found.authority_file, path)?,
        })
    }

    async fn ask(&self, method: Method, path: &str) -> Result<Bytes, ClockError> {
        let wrong = || ClockError::Url {
            url: self.url.clone(),
        };
        let told = |source| ClockError::Connect {
            url: self.url.clone(),
            source,
        };
        let uri: Uri = self.url.parse().map_err(|_| wrong())?;
        let host = uri.host().ok_or_else(wrong)?.trim_matches(['[', ']']);
        let plain = uri.scheme_str() == Some("http");
        let port = uri.port_u16().unwrap_or(if plain { 80 } else { 443 });
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, authority)
            .header(AUTHORIZATION, format!("Bearer {}", self.token))
            .body(Empty::<Bytes>::new())?;
        let tcp = TcpStream::connect((host, port)).await.map_err(told)?;
        if plain {
            return exchange(tcp, request).await;
        }
        let name = match host.parse::<IpAddr>() {
            Ok(ip) => ServerName::IpAddress(ip.into()),
            Err(_) => ServerName::try_from(host.to_owned()).map_err(|_| wrong())?,
        };
        let connector = TlsConnector::from(Arc::new(self.tls()?));
        exchange(connector.connect(name, tcp).await.map_err(told)?, request).await
    }

    fn tls(&self) -> Result<ClientConfig, ClockError> {
        let mut roots = RootCertStore::empty();
        let pem = self.authority.as_deref().unwrap_or_default();
        for certificate in CertificateDer::pem_slice_iter(pem).flatten() {
            roots.add(certificate)?;
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        Ok(ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth())
    }
}

/// What the current context of a kubeconfig says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    server: Option<String>,
    token: Option<String>,
    authority_data: Option<String>,
    authority_file: Option<String>,
}

impl Found {
    fn in_current_context(config: &Value) -> Self {
        let text = |value: Option<&Value>, name: &str| {
            let text = value?.get(name)?.as_str()?;
            (!text.is_empty()).then(|| text.to_owned())
        };
        let wanted = text(Some(config), "current-context").unwrap_or_default();
        let context = named(config, "contexts", "context", &wanted);
        let of = |kind| text(context, kind).unwrap_or_default();
        let cluster = named(config, "clusters", "cluster", &of("cluster"));
        let user = named(config, "users", "user", &of("user"));
        Self {
            server: text(cluster, "server"),
            token: text(user, "token"),
            authority_data: text(cluster, "certificate-authority-data"),
            authority_file: text(cluster, "certificate-authority"),
        }
    }
}

/// The `part` of that entry of a list that has this name.
fn named<'a>(config: &'a Value, list: &str, part: &str, name: &str) -> Option<&'a Value> {
    let entries = config.get(list)?.as_array()?;
    let is_it = |entry: &&Value| entry.get("name").and_then(Value::as_str) == Some(name);
    entries.iter().find(is_it)?.get(part)
}

/// The authority's PEM: in the kubeconfig, or in a file beside it.
fn authority(
    data: Option<String>,
    file: Option<String>,
    kubeconfig: &Path,
) -> Result<Option<Vec<u8>>, ClockError> {
    if let Some(data) = data {
        let pem = base64::engine::general_purpose::STANDARD.decode(data.trim());
        return pem.map(Some).map_err(|_| ClockError::Kubeconfig {
            path: kubeconfig.to_owned(),
            what: "certificate-authority-data",
        });
    }
    let beside = |file| kubeconfig.parent().unwrap_or(Path::new("")).join(file);
    let read =
        |path: PathBuf| std::fs::read(&path).map_err(|source| ClockError::Read { path, source });
    file.map(|file| read(beside(file))).transpose()
}

async fn exchange<S>(stream: S, request: Request<Empty<Bytes>>) -> Result<Bytes, ClockError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // How it ended is told to whoever waits for the answer.
    let driver = tokio::spawn(async move { drop(connection.await) });
    let response = sender.send_request(request).await?;
    let code = response.status();
    let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX);
    let answer = body.collect().await.map_err(ClockError::Answer)?.to_bytes();
    driver.abort();
    if code == StatusCode::OK {
        return Ok(answer);
    }
    let status: Value = serde_json::from_slice(&answer).unwrap_or_default();
    let message = status.get("message").and_then(Value::as_str);
    Err(ClockError::Refused {
        code,
        message: message.map_or_else(
            || String::from_utf8_lossy(&answer).trim().to_owned(),
            ToOwned::to_owned,
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_context_says_where_the_server_is() {
        let text = "current-context: b\n\
            contexts: [{name: a, context: {cluster: x, user: x}}, {name: b, context: {cluster: c, user: u}}]\n\
            clusters: [{name: c, cluster: {server: 'https://h:1', certificate-authority: ca.pem}}]\n\
            users: [{name: u, user: {token: t}}]\n";
        let config: Value = serde_saphyr::from_str(text).unwrap();
        let wanted = Found {
            server: Some("https://h:1".to_owned()),
            token: Some("t".to_owned()),
            authority_data: None,
            authority_file: Some("ca.pem".to_owned()),
        };
        assert_eq!(Found::in_current_context(&config), wanted);
        assert_eq!(Found::in_current_context(&Value::Null), Found::default());
    }

    #[test]
    fn plain_http_with_a_token_needs_no_kubeconfig() {
        let args = |url: &str| ServerArgs {
            kubeconfig: "/nowhere/kubeconfig".into(),
            url: Some(url.to_owned()),
            token: Some("t".to_owned()),
        };
        assert!(Access::new(&args("http://127.0.0.1:1")).is_ok());
        let error = Access::new(&args("https://127.0.0.1:1")).err().unwrap();
        assert!(error.to_string().contains("--kubeconfig"), "{error}");
    }
}
