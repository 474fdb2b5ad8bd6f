//! [`Kubeconfig`]: the part of the file that says where a server is and who comes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A file longer than this is none.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// One context of a kubeconfig, with the files that it names read in.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Kubeconfig {
    /// The server's URL.
    pub(super) server: String,
    /// The name to be expected in its certificate, if not its host.
    pub(super) tls_name: Option<String>,
    /// The certificate is not to be checked.
    pub(super) insecure: bool,
    /// PEM of the authority.
    pub(super) authority: Option<Vec<u8>>,
    /// PEM of the client's certificate and of its key.
    pub(super) certificate: Option<(Vec<u8>, Vec<u8>)>,
    /// The bearer token.
    pub(super) token: Option<String>,
}

/// Why a kubeconfig cannot be used. None of these tells what the file holds: it holds secrets.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KubeconfigError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is too long for a kubeconfig", path.display())]
    TooLong { path: PathBuf },
    #[error("{} is no kubeconfig (line {line})", path.display())]
    Syntax { path: PathBuf, line: u64 },
    #[error("{} has no current-context: give --context", path.display())]
    NoContext { path: PathBuf },
    #[error("{} has no {kind} {name:?}", path.display())]
    Missing {
        path: PathBuf,
        kind: &'static str,
        name: String,
    },
    #[error("{field} is not in base64")]
    Base64 { field: &'static str },
    #[error("user {name:?} logs in by {means}, which is not supported: give --token")]
    Means { name: String, means: &'static str },
    #[error("a client certificate needs both the certificate and its key")]
    Half,
    #[error("cluster {name:?} is behind a proxy, which is not supported")]
    Proxy { name: String },
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    current_context: String,
    #[serde(default)]
    contexts: Vec<NamedContext>,
    #[serde(default)]
    clusters: Vec<NamedCluster>,
    #[serde(default)]
    users: Vec<NamedUser>,
}

#[derive(Deserialize)]
struct NamedContext {
    name: String,
    context: Context,
}

#[derive(Deserialize)]
struct Context {
    cluster: String,
    #[serde(default)]
    user: String,
}

#[derive(Deserialize)]
struct NamedCluster {
    name: String,
    cluster: Cluster,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster {
    server: String,
    certificate_authority: Option<PathBuf>,
    certificate_authority_data: Option<String>,
    #[serde(default)]
    insecure_skip_tls_verify: bool,
    tls_server_name: Option<String>,
    proxy_url: Option<String>,
}

#[derive(Deserialize)]
struct NamedUser {
    name: String,
    user: User,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct User {
    token: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<PathBuf>,
    client_certificate: Option<PathBuf>,
    client_certificate_data: Option<String>,
    client_key: Option<PathBuf>,
    client_key_data: Option<String>,
    #[serde(flatten)]
    means: Means,
}

/// Ways to log in that are not supported.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Means {
    exec: Option<IgnoredAny>,
    auth_provider: Option<IgnoredAny>,
    username: Option<IgnoredAny>,
}

impl Kubeconfig {
    /// Reads `context`, or the current one, of the file at `path`.
    pub(super) fn read(path: &Path, context: Option<&str>) -> Result<Self, KubeconfigError> {
        let text = read(path)?;
        let file: File =
            serde_saphyr::from_slice(&text).map_err(|error| KubeconfigError::Syntax {
                path: path.to_owned(),
                line: error.location().map_or(0, |location| location.line()),
            })?;
        let missing = |kind, name: &str| KubeconfigError::Missing {
            path: path.to_owned(),
            kind,
            name: name.to_owned(),
        };
        let wanted = context.unwrap_or(&file.current_context);
        if wanted.is_empty() {
            return Err(KubeconfigError::NoContext {
                path: path.to_owned(),
            });
        }
        let named = |entry: &NamedContext| entry.name == wanted;
        let context = file.contexts.into_iter().find(named);
        let context = context.ok_or_else(|| missing("context", wanted))?.context;
        let named = |entry: &NamedCluster| entry.name == context.cluster;
        let cluster = file.clusters.into_iter().find(named);
        let cluster = cluster.ok_or_else(|| missing("cluster", &context.cluster))?;
        let named = |entry: &NamedUser| entry.name == context.user;
        let user = match file.users.into_iter().find(named) {
            Some(user) => user.user,
            None if context.user.is_empty() => User::default(),
            None => return Err(missing("user", &context.user)),
        };
        let dir = path.parent().unwrap_or(Path::new(""));
        join(cluster, user, &context.user, dir)
    }
}

fn join(
    NamedCluster { name, cluster }: NamedCluster,
    user: User,
    user_name: &str,
    dir: &Path,
) -> Result<Kubeconfig, KubeconfigError> {
    if cluster.proxy_url.is_some_and(|url| !url.is_empty()) {
        return Err(KubeconfigError::Proxy { name });
    }
    let (data, file) = (
        cluster.certificate_authority_data,
        cluster.certificate_authority,
    );
    let authority = pem("certificate-authority-data", data, file, dir)?;
    let (data, file) = (user.client_certificate_data, user.client_certificate);
    let certificate = pem("client-certificate-data", data, file, dir)?;
    let key = pem(
        "client-key-data",
        user.client_key_data,
        user.client_key,
        dir,
    )?;
    let certificate = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => return Err(KubeconfigError::Half),
    };
    let token = match (
        user.token.filter(|token| !token.is_empty()),
        user.token_file,
    ) {
        (None, Some(file)) => {
            let bytes = read(&dir.join(file))?;
            Some(String::from_utf8_lossy(&bytes).trim().to_owned())
        }
        (token, _) => token,
    };
    if token.is_none() && certificate.is_none() {
        check_means(&user.means, user_name)?;
    }
    Ok(Kubeconfig {
        server: cluster.server,
        tls_name: cluster.tls_server_name,
        insecure: cluster.insecure_skip_tls_verify,
        authority,
        certificate,
        token,
    })
}

/// Refuses a user who can come by none of the ways that are supported, but by another.
fn check_means(means: &Means, user: &str) -> Result<(), KubeconfigError> {
    let means = [
        (means.exec.is_some(), "a program (exec)"),
        (means.auth_provider.is_some(), "an auth-provider"),
        (means.username.is_some(), "a password"),
    ];
    match means.into_iter().find(|(there, _)| *there) {
        None => Ok(()),
        Some((_, means)) => Err(KubeconfigError::Means {
            name: user.to_owned(),
            means,
        }),
    }
}

/// PEM given in the file itself or, else, in another file beside it.
fn pem(
    field: &'static str,
    data: Option<String>,
    file: Option<PathBuf>,
    dir: &Path,
) -> Result<Option<Vec<u8>>, KubeconfigError> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let bytes = STANDARD.decode(data.trim());
        return bytes
            .map(Some)
            .map_err(|_| KubeconfigError::Base64 { field });
    }
    let file = file.filter(|file| !file.as_os_str().is_empty());
    file.map(|file| read(&dir.join(file))).transpose()
}

/// A whole file of moderate length.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, KubeconfigError> {
    let told = |source| KubeconfigError::Read {
        path: path.to_owned(),
        source,
    };
    if fs::metadata(path).map_err(told)?.len() > FILE_BYTES_MAX {
        return Err(KubeconfigError::TooLong {
            path: path.to_owned(),
        });
    }
    fs::read(path).map_err(told)
}

#[cfg(test)]
mod tests;
