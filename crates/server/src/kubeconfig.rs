//! [`Kubeconfig`]: what a client needs to come in, as the file that all clients read.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::auth::ADMIN;
use crate::pki::{Pair, PkiError, files};

/// The name of the cluster and of the context in the file.
pub const CONTEXT: &str = "masthead";

/// The admin's way in.
#[derive(Clone)]
pub struct Kubeconfig {
    /// The server's URL.
    pub server: String,
    /// For HTTPS: the authority's certificate as PEM, and the admin's certificate and key.
    pub tls: Option<(String, Pair)>,
    /// The admin's token.
    pub token: String,
}

impl Kubeconfig {
    /// The text of the file. Values are written as JSON, which is YAML too, so that none needs an
    /// escaping of its own.
    pub fn to_yaml(&self) -> String {
        let mut cluster = json!({"server": self.server});
        let mut user = json!({"token": self.token});
        if let (Some((ca, pair)), Some(cluster), Some(user)) =
            (&self.tls, cluster.as_object_mut(), user.as_object_mut())
        {
            cluster.insert(
                "certificate-authority-data".into(),
                STANDARD.encode(ca).into(),
            );
            let certificate = STANDARD.encode(&pair.certificate);
            user.insert("client-certificate-data".into(), certificate.into());
            user.insert("client-key-data".into(), STANDARD.encode(&pair.key).into());
        }
        let context = json!({"cluster": CONTEXT, "user": ADMIN});
        [
            "apiVersion: v1\nkind: Config\npreferences: {}\n".to_owned(),
            format!("current-context: {CONTEXT}\n"),
            part("clusters", "cluster", CONTEXT, &cluster),
            part("contexts", "context", CONTEXT, &context),
            part("users", "user", ADMIN, &user),
        ]
        .concat()
    }

    /// Writes the file, for its owner only, whole or not at all.
    ///
    /// # Errors
    /// [`PkiError::Write`] with the path.
    pub fn write(&self, file: &Path) -> Result<(), PkiError> {
        if let Some(dir) = file
            .parent()
            .filter(|dir| !dir.as_os_str().is_empty() && !dir.exists())
        {
            files::make_dir(dir)?;
        }
        files::write_private(file, self.to_yaml().as_bytes())
    }
}

/// One list of the file with its one entry, in block style.
fn part(list: &str, kind: &str, name: &str, members: &serde_json::Value) -> String {
    let members = members.as_object().into_iter().flatten();
    let line = |(key, value): (&String, &serde_json::Value)| {
        ["    ", key, ": ", &value.to_string(), "\n"].concat()
    };
    let lines: String = members.map(line).collect();
    format!("{list}:\n- name: {name}\n  {kind}:\n{lines}")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn parsed(tls: Option<(String, Pair)>) -> Value {
        let server = "https://127.0.0.1:6443".to_owned();
        let config = Kubeconfig {
            server,
            tls,
            token: "secret".to_owned(),
        };
        serde_saphyr::from_str(&config.to_yaml()).unwrap()
    }

    #[test]
    fn the_file_holds_server_authority_and_both_credentials() {
        let pair = Pair {
            certificate: "cert".to_owned(),
            key: "key".to_owned(),
        };
        let file = parsed(Some(("ca".to_owned(), pair)));
        assert_eq!(file["current-context"], "masthead");
        assert_eq!(
            file["contexts"][0]["context"]["user"],
            file["users"][0]["name"]
        );
        assert_eq!(
            file["contexts"][0]["context"]["cluster"],
            file["clusters"][0]["name"]
        );
        assert_eq!(file["contexts"][0]["name"], "masthead");
        let cluster = &file["clusters"][0]["cluster"];
        assert_eq!(cluster["server"], "https://127.0.0.1:6443");
        assert_eq!(cluster["certificate-authority-data"], STANDARD.encode("ca"));
        let user = &file["users"][0]["user"];
        assert_eq!(user["client-certificate-data"], STANDARD.encode("cert"));
        assert_eq!(user["client-key-data"], STANDARD.encode("key"));
        assert_eq!(user["token"], "secret");
    }

    #[test]
    fn plain_http_needs_no_certificates() {
        let file = parsed(None);
        assert!(file["users"][0]["user"].get("client-key-data").is_none());
        assert_eq!(file["users"][0]["user"]["token"], "secret");
    }

    #[test]
    fn the_folder_is_made_and_the_file_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a/b/kubeconfig");
        let config = Kubeconfig {
            server: String::new(),
            tls: None,
            token: String::new(),
        };
        config.write(&file).unwrap();
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
