//! [`Config`]: everything about one server that its owner may choose.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::CacheSizes;
use crate::clock::VirtualClock;

/// The shortest history that every watcher may rely on.
const WINDOW_MIN: Duration = Duration::from_secs(75);
/// What a client has to come back after a request that ran its full time.
const WINDOW_MARGIN: Duration = Duration::from_secs(15);

/// Where the objects live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// In this directory, durably.
    DataDir(PathBuf),
    /// In memory; gone when the server ends.
    Ephemeral,
}

/// What is spoken on the listening port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// HTTPS, with the server's own certificate authority.
    Tls,
    /// Plain HTTP: tokens and objects are readable on the way.
    InsecureHttp,
}

/// Settings of one server. Plain values: nothing below reads the environment.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to listen on; port 0 lets the system choose. Default 127.0.0.1:6443.
    pub listen: SocketAddr,
    /// Where the objects live. Default `./masthead-data`.
    pub storage: Storage,
    /// Where a kubeconfig is written at start; `None` writes none.
    pub kubeconfig_out: Option<PathBuf>,
    /// What is spoken. Default TLS.
    pub transport: Transport,
    /// More DNS names or IP addresses for the server's certificate.
    pub tls_names: Vec<String>,
    /// What one client may take.
    pub limits: Limits,
    /// Watches without a timeout of their own end after this much to twice this much.
    /// Default 1800 s.
    pub min_request_timeout: Duration,
    /// Requests that are no watch end after this long. Default 60 s.
    pub request_timeout: Duration,
    /// How long an Event object lives. Default 1 h.
    pub event_ttl: Duration,
    /// How often old revisions are dropped; zero never drops any. Default 5 min.
    pub compaction_interval: Duration,
    /// The clock that the server goes by, where it is not the machine's: one that stands still until
    /// it is advanced.
    pub virtual_clock: Option<VirtualClock>,
    /// Whether there are watch caches at all; without, every resource is served by the store's
    /// rules. Default true.
    pub watch_cache: bool,
    /// Which resources are served without a cache. Default: Events.
    pub watch_cache_sizes: CacheSizes,
    /// The range of which the `kubernetes` Service gets the first address, and later other Services
    /// theirs. Default 10.96.0.0/16.
    pub service_cidr: Cidr,
    /// How long requests in flight may still take after a stop was asked for. Default 10 s.
    pub shutdown_grace: Duration,
}

/// What one client, and all of them together, may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Open connections; more wait in the system's backlog. Default 16384, a guess: an idle one
    /// costs about 20 KB.
    pub connections_max: usize,
    /// URL and headers of one request, together. Default 128 KiB: long label selectors are URLs.
    pub header_bytes_max: usize,
    /// From the end of a response (or the connect) to the end of the next request's headers.
    /// Default 32 s.
    pub header_read_timeout: Duration,
    /// From the connect to the end of the TLS handshake. Default 10 s.
    pub handshake_timeout: Duration,
    /// Requests at a time on one HTTP/2 connection. Default 250.
    pub http2_streams_max: u32,
    /// Bytes of one HTTP/2 response that wait for the client to take them. Default 64 KiB.
    pub http2_send_buffer_bytes_max: usize,
    /// An HTTP/2 connection without any traffic is asked for a sign of life after this long.
    /// Default 30 s.
    pub http2_ping_interval: Duration,
    /// And ended after this long without one. Default 15 s.
    pub http2_ping_timeout: Duration,
    /// Body of one request. Default 3 MiB.
    pub body_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 16_384,
            header_bytes_max: 128 << 10,
            header_read_timeout: Duration::from_secs(32),
            handshake_timeout: Duration::from_secs(10),
            http2_streams_max: 250,
            http2_send_buffer_bytes_max: 64 << 10,
            http2_ping_interval: Duration::from_secs(30),
            http2_ping_timeout: Duration::from_secs(15),
            body_bytes_max: 3 << 20,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 6443)),
            storage: Storage::DataDir(PathBuf::from("masthead-data")),
            kubeconfig_out: None,
            transport: Transport::Tls,
            tls_names: Vec::new(),
            limits: Limits::default(),
            min_request_timeout: Duration::from_mins(30),
            request_timeout: Duration::from_mins(1),
            event_ttl: Duration::from_hours(1),
            compaction_interval: Duration::from_mins(5),
            virtual_clock: None,
            watch_cache: true,
            watch_cache_sizes: CacheSizes::default(),
            service_cidr: Cidr {
                first: IpAddr::V4(Ipv4Addr::new(10, 96, 0, 0)),
                prefix: 16,
            },
            shutdown_grace: Duration::from_secs(10),
        }
    }
}

impl Config {
    /// A server in memory on a port of the system's choice: what a test wants.
    pub fn ephemeral() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            storage: Storage::Ephemeral,
            ..Self::default()
        }
    }

    /// Refuses settings with which no server could work.
    ///
    /// # Errors
    /// The first setting that is out of its bounds.
    pub fn check(&self) -> Result<(), ConfigError> {
        let limits = &self.limits;
        let bounds: [(&'static str, u64, u64, u64); 5] = [
            ("connections", limits.connections_max as u64, 1, 1 << 24),
            (
                "header bytes",
                limits.header_bytes_max as u64,
                8 << 10,
                16 << 20,
            ),
            (
                "HTTP/2 streams",
                u64::from(limits.http2_streams_max),
                1,
                1 << 20,
            ),
            (
                "HTTP/2 send buffer",
                limits.http2_send_buffer_bytes_max as u64,
                1 << 10,
                1 << 30,
            ),
            ("body bytes", limits.body_bytes_max as u64, 1 << 10, 1 << 30),
        ];
        for (setting, value, min, max) in bounds {
            if !(min..=max).contains(&value) {
                return Err(ConfigError::OutOfBounds {
                    setting,
                    value,
                    min,
                    max,
                });
            }
        }
        let longest = Duration::from_hours(100 * 365 * 24);
        let times: [(&'static str, Duration); 6] = [
            ("min-request-timeout", self.min_request_timeout),
            ("request-timeout", self.request_timeout),
            ("event-ttl", self.event_ttl),
            ("header read timeout", limits.header_read_timeout),
            ("TLS handshake timeout", limits.handshake_timeout),
            ("HTTP/2 ping interval", limits.http2_ping_interval),
        ];
        for (setting, value) in times {
            if value.is_zero() || value > longest {
                return Err(ConfigError::NotATime { setting });
            }
        }
        for name in &self.tls_names {
            if name.is_empty() || !name.is_ascii() || name.len() > 253 {
                return Err(ConfigError::TlsName { name: name.clone() });
            }
        }
        Ok(())
    }

    /// How old an event must be before the history may let go of it: long enough for a client whose
    /// request ran its full time to go on from there, and never less than 75 s.
    pub(crate) fn window(&self) -> Duration {
        let request = self.request_timeout.saturating_add(WINDOW_MARGIN);
        request.max(WINDOW_MIN)
    }

    /// The URL of the server for a client on the same machine, once it listens on `address`.
    pub fn url(&self, address: SocketAddr) -> String {
        let scheme = match self.transport {
            Transport::Tls => "https",
            Transport::InsecureHttp => "http",
        };
        let ip = match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        format!("{scheme}://{}", SocketAddr::new(ip, address.port()))
    }
}

/// A setting with which no server could work.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ConfigError {
    /// A number outside its bounds.
    #[error("{setting} must be from {min} to {max}, not {value}")]
    OutOfBounds {
        /// Which one.
        setting: &'static str,
        /// What it is.
        value: u64,
        /// The least allowed.
        min: u64,
        /// The most allowed.
        max: u64,
    },
    /// A duration that is zero or beyond a century.
    #[error("{setting} must be more than zero and less than a century")]
    NotATime {
        /// Which one.
        setting: &'static str,
    },
    /// Not a name that a certificate can carry.
    #[error("{name:?} is neither a DNS name nor an IP address")]
    TlsName {
        /// The name.
        name: String,
    },
}

/// A range of addresses, `10.96.0.0/16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cidr {
    first: IpAddr,
    prefix: u8,
}

impl Cidr {
    /// How many leading bits all addresses share.
    pub const fn prefix(&self) -> u8 {
        self.prefix
    }

    /// The first address after the network's own: that of the `kubernetes` Service.
    pub fn first_host(&self) -> IpAddr {
        match self.first {
            IpAddr::V4(ip) => IpAddr::V4(Ipv4Addr::from_bits(ip.to_bits() | 1)),
            IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() | 1)),
        }
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let wrong = || CidrError {
            text: text.chars().take(64).collect(),
        };
        let (ip, prefix) = text.split_once('/').ok_or_else(wrong)?;
        let ip: IpAddr = ip.parse().map_err(|_| wrong())?;
        let prefix: u8 = prefix.parse().map_err(|_| wrong())?;
        // At least two addresses: the network's own and one host.
        let first = match ip {
            IpAddr::V4(ip) if prefix <= 31 => {
                IpAddr::V4(Ipv4Addr::from_bits(ip.to_bits() & !(u32::MAX >> prefix)))
            }
            IpAddr::V6(ip) if prefix <= 127 => {
                IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !(u128::MAX >> prefix)))
            }
            IpAddr::V4(_) | IpAddr::V6(_) => return Err(wrong()),
        };
        Ok(Self { first, prefix })
    }
}

/// Not a range of addresses.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{text:?} is not a range of addresses like 10.96.0.0/16")]
pub struct CidrError {
    text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_allowed() {
        assert_eq!(Config::default().check(), Ok(()));
        assert_eq!(Config::ephemeral().check(), Ok(()));
    }

    #[test]
    fn settings_out_of_bounds_are_named() {
        let mut config = Config::default();
        config.limits.http2_streams_max = 0;
        assert!(
            config
                .check()
                .unwrap_err()
                .to_string()
                .starts_with("HTTP/2 streams must be")
        );
        let config = Config {
            event_ttl: Duration::ZERO,
            ..Config::default()
        };
        assert_eq!(
            config.check(),
            Err(ConfigError::NotATime {
                setting: "event-ttl"
            })
        );
    }

    #[test]
    fn the_window_outlasts_a_request_and_is_never_under_75_seconds() {
        for (request, window) in [(1, 75), (60, 75), (300, 315)] {
            let config = Config {
                request_timeout: Duration::from_secs(request),
                ..Config::default()
            };
            assert_eq!(config.window(), Duration::from_secs(window));
        }
    }

    #[test]
    fn cidr_knows_its_first_host() {
        let check = |text: &str, host: &str| {
            assert_eq!(text.parse::<Cidr>().unwrap().first_host().to_string(), host);
        };
        check("10.96.0.0/12", "10.96.0.1");
        check("10.96.7.9/16", "10.96.0.1");
        check("0.0.0.0/0", "0.0.0.1");
        check("fd00::/108", "fd00::1");
        for wrong in [
            "",
            "10.96.0.0",
            "10.96.0.0/33",
            "10.96.0.0/32",
            "x/8",
            "fd00::/128",
        ] {
            assert!(wrong.parse::<Cidr>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn url_of_an_unspecified_address_is_loopback() {
        let config = Config::default();
        assert_eq!(
            config.url("0.0.0.0:7".parse().unwrap()),
            "https://127.0.0.1:7"
        );
        assert_eq!(config.url("[::]:7".parse().unwrap()), "https://[::1]:7");
        assert_eq!(
            config.url("192.0.2.1:7".parse().unwrap()),
            "https://192.0.2.1:7"
        );
    }
}
