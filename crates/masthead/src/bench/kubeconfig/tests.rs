//! What is read of a kubeconfig, and what is refused.

use super::*;

const FILE: &str = "
apiVersion: v1
kind: Config
preferences: {}
current-context: one
clusters:
- name: c1
  cluster: {server: 'https://127.0.0.1:6443', certificate-authority-data: Y2E=, extensions: []}
- name: c2
  cluster: {server: 'https://other:1/prefix', insecure-skip-tls-verify: true, tls-server-name: inner}
- name: c3
  cluster: {server: 'https://third', certificate-authority: ca.crt}
- name: c4
  cluster: {server: 'https://fourth', proxy-url: 'http://proxy'}
contexts:
- {name: one, context: {cluster: c1, user: both, namespace: x}}
- {name: two, context: {cluster: c2, user: token}}
- {name: three, context: {cluster: c3, user: files}}
- {name: proxy, context: {cluster: c4, user: token}}
- {name: exec, context: {cluster: c2, user: exec}}
- {name: half, context: {cluster: c2, user: half}}
- {name: garbage, context: {cluster: c2, user: garbage}}
- {name: nobody, context: {cluster: c2, user: ghost}}
- {name: nowhere, context: {cluster: c9, user: token}}
- {name: anonymous, context: {cluster: c2}}
users:
- name: both
  user: {token: secret, client-certificate-data: Y2VydA==, client-key-data: a2V5}
- {name: token, user: {token: 'secret'}}
- {name: files, user: {tokenFile: token, client-certificate: admin.crt, client-key: admin.key}}
- {name: exec, user: {exec: {command: login, args: [a]}}}
- {name: half, user: {client-certificate-data: Y2VydA==}}
- {name: garbage, user: {client-certificate-data: '%%', client-key-data: a2V5}}
";

fn check(context: Option<&str>) -> Result<Kubeconfig, KubeconfigError> {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("config", FILE);
    write("ca.crt", "CA");
    write("admin.crt", "CERT");
    write("admin.key", "KEY");
    write("token", "filed\n");
    Kubeconfig::read(&dir.path().join("config"), context)
}

#[test]
fn the_current_context_is_read_with_what_it_holds_in_base64() {
    let config = check(None).ok().unwrap();
    assert_eq!(config.server, "https://127.0.0.1:6443");
    assert_eq!(config.authority.as_deref(), Some(&b"ca"[..]));
    assert_eq!(
        config.certificate,
        Some((b"cert".to_vec(), b"key".to_vec()))
    );
    assert_eq!(config.token.as_deref(), Some("secret"));
    assert!(!config.insecure);
}

#[test]
fn another_context_is_read_by_name() {
    let config = check(Some("two")).ok().unwrap();
    assert!(config.insecure);
    assert_eq!(config.tls_name.as_deref(), Some("inner"));
    assert_eq!((config.authority, config.certificate), (None, None));
}

#[test]
fn files_stand_beside_the_kubeconfig() {
    let config = check(Some("three")).ok().unwrap();
    assert_eq!(config.authority.as_deref(), Some(&b"CA"[..]));
    assert_eq!(
        config.certificate,
        Some((b"CERT".to_vec(), b"KEY".to_vec()))
    );
    assert_eq!(config.token.as_deref(), Some("filed"));
}

#[test]
fn a_context_without_a_user_comes_as_nobody() {
    let config = check(Some("anonymous")).ok().unwrap();
    assert_eq!((config.token, config.certificate), (None, None));
}

#[test]
fn what_cannot_be_used_is_told_without_the_secrets() {
    for (context, told) in [
        ("proxy", "proxy"),
        ("exec", "a program (exec)"),
        ("half", "both"),
        ("garbage", "client-certificate-data"),
        ("nobody", "no user \"ghost\""),
        ("nowhere", "no cluster \"c9\""),
        ("missing", "no context \"missing\""),
        ("", "--context"),
    ] {
        let error = check(Some(context)).err().unwrap().to_string();
        assert!(error.contains(told), "{context}: {error}");
        assert!(!error.contains("secret"), "{context}: {error}");
    }
}

#[test]
fn text_that_is_no_kubeconfig_is_told_by_its_line_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config");
    fs::write(&path, "users: hush\n").unwrap();
    let error = Kubeconfig::read(&path, None).err().unwrap();
    assert!(matches!(error, KubeconfigError::Syntax { .. }), "{error}");
    assert!(!error.to_string().contains("hush"), "{error}");
    let error = Kubeconfig::read(&dir.path().join("none"), None)
        .err()
        .unwrap();
    assert!(matches!(error, KubeconfigError::Read { .. }), "{error}");
}
