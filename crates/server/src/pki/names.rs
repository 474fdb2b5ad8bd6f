//! [`Names`]: under which names clients may reach the server.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use x509_parser::extensions::GeneralName;
use x509_parser::prelude::X509Certificate;

use crate::config::Config;

/// Names of the server inside a cluster, whatever the cluster.
const CLUSTER_NAMES: [&str; 5] = [
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];

/// A set of DNS names and addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// DNS names, in lower case.
    pub dns: BTreeSet<String>,
    /// Addresses.
    pub ips: BTreeSet<IpAddr>,
}

impl Names {
    /// What the certificate of a server with this `config` on this `host` must say.
    pub fn of(config: &Config, host: Option<&str>) -> Self {
        let mut names = Self::default();
        for name in CLUSTER_NAMES {
            names.insert(name);
        }
        names
            .ips
            .extend([Ipv4Addr::LOCALHOST.into(), IpAddr::V6(Ipv6Addr::LOCALHOST)]);
        names.ips.insert(config.service_cidr.first_host());
        let listen = config.listen.ip();
        if listen.is_unspecified() {
            names.ips.extend(outward(listen));
        } else {
            names.ips.insert(listen);
        }
        if let Some(host) = host {
            names.insert(host);
        }
        for name in &config.tls_names {
            names.insert(name);
        }
        names
    }

    /// What a certificate says.
    pub fn in_certificate(certificate: &X509Certificate<'_>) -> Self {
        let mut names = Self::default();
        let Ok(Some(alternatives)) = certificate.subject_alternative_name() else {
            return names;
        };
        for name in &alternatives.value.general_names {
            match name {
                GeneralName::DNSName(name) => names.insert(name),
                GeneralName::IPAddress(bytes) => names.ips.extend(address(bytes)),
                _ => {}
            }
        }
        names
    }

    fn insert(&mut self, name: &str) {
        if let Ok(ip) = name.parse() {
            self.ips.insert(ip);
        } else {
            self.dns.insert(name.to_ascii_lowercase());
        }
    }
}

/// The machine's name as the kernel has it.
pub fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    (!name.is_empty() && name.len() <= 253 && name.chars().all(letters)).then(|| name.to_owned())
}

/// The address under which this machine goes out, found without sending anything.
fn outward(any: IpAddr) -> Option<IpAddr> {
    // Addresses for documentation: whichever route there is, it is the default one.
    let far: IpAddr = match any {
        IpAddr::V4(_) => Ipv4Addr::new(192, 0, 2, 1).into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
    };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0)).ok()?;
    socket.connect(SocketAddr::new(far, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_unspecified())
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_the_machine_the_cluster_and_the_config() {
        let config = Config {
            listen: "192.0.2.7:1".parse().unwrap(),
            tls_names: vec!["API.example.com".to_owned(), "192.0.2.8".to_owned()],
            ..Config::default()
        };
        let names = Names::of(&config, Some("box"));
        for dns in [
            "localhost",
            "kubernetes.default.svc",
            "box",
            "api.example.com",
        ] {
            assert!(names.dns.contains(dns), "{dns}");
        }
        for ip in ["127.0.0.1", "::1", "10.96.0.1", "192.0.2.7", "192.0.2.8"] {
            assert!(names.ips.contains(&ip.parse().unwrap()), "{ip}");
        }
    }
}
