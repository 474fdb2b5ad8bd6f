//! Certificates are made once, kept, and refused when damaged.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::config::Config;

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn names(more: &str) -> Names {
    let tls_names = Some(more.to_owned())
        .filter(|name| !name.is_empty())
        .into_iter()
        .collect();
    Names::of(
        &Config {
            tls_names,
            ..Config::default()
        },
        Some("box"),
    )
}

fn load(dir: &Path, more: &str, at: Timestamp) -> Result<Pki, PkiError> {
    Pki::load_or_create(dir, &names(more), at)
}

#[test]
fn a_second_start_has_the_same_certificates() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("pki");
    let first = load(&dir, "", now()).unwrap();
    let second = load(&dir, "", now()).unwrap();
    assert_eq!(first.ca_pem(), second.ca_pem());
    assert_eq!(first.server_chain(), second.server_chain());
    assert_eq!(first.admin().key, second.admin().key);
    assert_eq!(
        fs::read_to_string(dir.join("ca.crt")).unwrap(),
        first.ca_pem()
    );
    for secret in ["ca.pem", "server.pem", "admin.pem"] {
        let mode = fs::metadata(dir.join(secret)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{secret}");
    }
}

#[test]
fn new_names_and_old_age_renew_the_leaves_and_keep_the_authority() {
    let dir = tempfile::tempdir().unwrap();
    let first = load(dir.path(), "", now()).unwrap();
    let renamed = load(dir.path(), "api.example.com", now()).unwrap();
    assert_eq!(first.ca_pem(), renamed.ca_pem());
    assert_ne!(first.server_chain(), renamed.server_chain());
    assert_eq!(first.admin().certificate, renamed.admin().certificate);
    assert!(renamed.server.names.dns.contains("api.example.com"));
    let later = now() + SignedDuration::from_hours(700 * 24);
    let renewed = load(dir.path(), "api.example.com", later).unwrap();
    assert_ne!(renamed.server_chain(), renewed.server_chain());
    assert_ne!(first.admin().certificate, renewed.admin().certificate);
    assert_eq!(first.ca_pem(), renewed.ca_pem());
    let end = now() + SignedDuration::from_hours(3700 * 24);
    assert!(matches!(
        load(dir.path(), "", end),
        Err(PkiError::Expired { .. })
    ));
}

#[test]
fn damaged_files_are_refused_and_left_alone() {
    let check = |file: &str, with: &str, why: &str| {
        let dir = tempfile::tempdir().unwrap();
        load(dir.path(), "", now()).unwrap();
        fs::write(dir.path().join(file), with).unwrap();
        let error = load(dir.path(), "", now()).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains(file), "{error}");
        assert!(error.contains("remove the folder"), "{error}");
        assert_eq!(fs::read_to_string(dir.path().join(file)).unwrap(), with);
    };
    let other = tempfile::tempdir().unwrap();
    load(other.path(), "", now()).unwrap();
    let of_other = fs::read_to_string(other.path().join("server.pem")).unwrap();
    check("ca.pem", "", "holds no private key");
    check("server.pem", "garbage", "holds no private key");
    check("admin.pem", KEY_ONLY, "certificate is no PEM");
    check("server.pem", &of_other, "not signed by the authority");
}

const KEY_ONLY: &str = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";

#[test]
fn any_flipped_letter_is_refused_or_harmless() {
    let dir = tempfile::tempdir().unwrap();
    let good = load(dir.path(), "", now()).unwrap();
    let file = dir.path().join("server.pem");
    let bytes = fs::read(&file).unwrap();
    for at in (0..bytes.len()).step_by(41) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(&file, &damaged).unwrap();
        match load(dir.path(), "", now()) {
            Ok(pki) => assert_eq!(pki.ca_pem(), good.ca_pem()),
            Err(error) => assert!(matches!(error, PkiError::Damaged { .. }), "{error}"),
        }
        fs::write(&file, &bytes).unwrap();
    }
}

#[test]
fn a_lost_authority_is_not_replaced_in_silence() {
    let dir = tempfile::tempdir().unwrap();
    load(dir.path(), "", now()).unwrap();
    fs::remove_file(dir.path().join("ca.pem")).unwrap();
    let error = load(dir.path(), "", now()).unwrap_err().to_string();
    assert!(error.contains("ca.pem, is gone"), "{error}");
}

#[test]
fn tls_takes_what_is_made() {
    let pki = Pki::ephemeral(&names(""), now()).unwrap();
    crate::listen::server_config(&pki).unwrap();
    assert!(pki.ca_pem().starts_with("-----BEGIN CERTIFICATE-----"));
}
