//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use masthead::{CacheSizes, Cidr, Config, Limits, Storage, Transport, VirtualClock};

use crate::bench::BenchArgs;
use crate::clock::ClockCommand;
use crate::duration;
use crate::snapshot::SnapshotCommand;

/// A Kubernetes-compatible API server: List-Watch, exact and fast.
#[derive(Debug, Parser)]
#[command(
    name = "masthead",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Without a command it serves on https://127.0.0.1:6443 and keeps its objects in \
                  ./masthead-data."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the server (the default)
    Serve(ServeArgs),
    /// Save the objects to a file, or put them back
    #[command(subcommand)]
    Snapshot(SnapshotCommand),
    /// Put load on a Kubernetes API server and measure what it costs
    Bench(BenchArgs),
    /// Look at the clock of a server with --virtual-clock, or advance it
    #[command(subcommand)]
    Clock(ClockCommand),
}

/// How log lines look: for people, or one JSON object a line. The variants carry no docs, for clap
/// would spread the whole help over two screens to show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Settings of `masthead serve`.
#[derive(Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of its own on the command line"
)]
pub(crate) struct ServeArgs {
    /// Address to listen on
    #[arg(long, value_name = "IP:PORT", default_value = "127.0.0.1:6443")]
    pub(crate) listen: SocketAddr,
    /// Where the objects are kept
    #[arg(long, value_name = "DIR", default_value = "masthead-data")]
    pub(crate) data_dir: PathBuf,
    /// Keep everything in memory instead
    #[arg(long, conflicts_with = "data_dir")]
    pub(crate) ephemeral: bool,
    /// The admin's kubeconfig
    #[arg(long, value_name = "FILE", default_value = "masthead.kubeconfig")]
    pub(crate) kubeconfig_out: PathBuf,
    /// Speak plain HTTP: tokens are readable on the way
    #[arg(long)]
    pub(crate) insecure_http: bool,
    /// One more name or IP in the certificate (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(crate) tls_san: Vec<String>,
    /// Address of the kubernetes Service
    #[arg(long, value_name = "CIDR", default_value = "10.96.0.0/16")]
    pub(crate) service_cluster_ip_range: Cidr,
    /// Life of Event objects
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = duration::parse)]
    pub(crate) event_ttl: Duration,
    /// Least length of a watch
    #[arg(long, value_name = "TIME", default_value = "1800", value_parser = duration::parse)]
    pub(crate) min_request_timeout: Duration,
    /// End of any other request
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = duration::parse)]
    pub(crate) request_timeout: Duration,
    /// Old revisions go this often; 0: never
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = duration::parse)]
    pub(crate) etcd_compaction_interval: Duration,
    /// Time stands still but for `masthead clock advance`
    #[arg(long)]
    pub(crate) virtual_clock: bool,
    /// false: serve everything by the store's rules
    #[arg(
        long,
        hide = true,
        value_name = "BOOL",
        default_value_t = true,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set
    )]
    pub(crate) watch_cache: bool,
    /// resource[.group]#size,…; 0 serves it by the store's rules
    #[arg(long, hide = true, value_name = "SIZES", default_value = "")]
    pub(crate) watch_cache_sizes: CacheSizes,
    /// Accepted, as by kube-apiserver, and without effect
    #[arg(long, hide = true, value_name = "N", default_value_t = 100)]
    pub(crate) default_watch_cache_size: i64,
    /// Requests at a time on one connection
    #[arg(long, hide = true, value_name = "N", default_value_t = Limits::default().http2_streams_max)]
    pub(crate) http2_max_streams_per_connection: u32,
    /// Time for requests in flight at a stop
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse)]
    pub(crate) shutdown_grace: Duration,
    /// error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: String,
    /// Look of the log and the start lines
    #[arg(
        long,
        value_name = "text|json",
        default_value = "text",
        hide_possible_values = true
    )]
    pub(crate) log_format: LogFormat,
}

impl ServeArgs {
    /// These settings as the server takes them.
    pub(crate) fn config(&self) -> Config {
        let storage = if self.ephemeral {
            Storage::Ephemeral
        } else {
            Storage::DataDir(self.data_dir.clone())
        };
        let transport = if self.insecure_http {
            Transport::InsecureHttp
        } else {
            Transport::Tls
        };
        Config {
            listen: self.listen,
            storage,
            kubeconfig_out: Some(self.kubeconfig_out.clone()),
            transport,
            tls_names: self.tls_san.clone(),
            limits: Limits {
                http2_streams_max: self.http2_max_streams_per_connection,
                ..Limits::default()
            },
            min_request_timeout: self.min_request_timeout,
            request_timeout: self.request_timeout,
            event_ttl: self.event_ttl,
            compaction_interval: self.etcd_compaction_interval,
            virtual_clock: self.virtual_clock.then(VirtualClock::new),
            watch_cache: self.watch_cache,
            watch_cache_sizes: self.watch_cache_sizes.clone(),
            service_cidr: self.service_cluster_ip_range,
            shutdown_grace: self.shutdown_grace,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn serve(words: &[&str]) -> Config {
        let cli = Cli::try_parse_from([&["masthead"], words].concat()).unwrap();
        cli.serve.config()
    }

    #[test]
    fn the_command_line_is_consistent_and_its_help_fits_a_screen() {
        Cli::command().debug_assert();
        let help = Cli::command().render_help().to_string();
        assert!(help.lines().count() <= 40, "{help}");
    }

    #[test]
    fn no_words_are_the_defaults() {
        let config = serve(&[]);
        let defaults = Config::default();
        assert_eq!(config.listen, defaults.listen);
        assert_eq!(config.storage, defaults.storage);
        assert_eq!(config.limits, defaults.limits);
        assert_eq!(config.event_ttl, defaults.event_ttl);
        assert_eq!(config.min_request_timeout, defaults.min_request_timeout);
        assert_eq!(config.compaction_interval, defaults.compaction_interval);
        assert_eq!(config.service_cidr, defaults.service_cidr);
        assert_eq!(config.shutdown_grace, defaults.shutdown_grace);
        assert_eq!(config.check(), Ok(()));
    }

    #[test]
    fn flags_reach_the_config() {
        let config = serve(&["--ephemeral", "--listen", "[::1]:0", "--event-ttl", "1h30m"]);
        assert_eq!(config.storage, Storage::Ephemeral);
        assert_eq!(config.listen.to_string(), "[::1]:0");
        assert_eq!(config.event_ttl, Duration::from_mins(90));
    }

    #[test]
    fn cache_flags_are_kube_apiservers() {
        assert!(serve(&[]).watch_cache && serve(&["--watch-cache"]).watch_cache);
        assert!(!serve(&["--watch-cache=false"]).watch_cache);
        let config = serve(&["--watch-cache-sizes=pods#0", "--default-watch-cache-size=0"]);
        assert_eq!(config.watch_cache_sizes, "pods#0".parse().unwrap());
        let words = ["masthead", "--watch-cache-sizes", "pods#-1"];
        let error = Cli::try_parse_from(words).unwrap_err().to_string();
        assert!(
            error.contains("watch cache size cannot be negative: pods#-1"),
            "{error}"
        );
    }

    #[test]
    fn nonsense_is_refused() {
        for words in [
            &["--listen", "nowhere"][..],
            &["--ephemeral", "--data-dir", "x"],
            &["--event-ttl", "soon"],
            &["--service-cluster-ip-range", "10.0.0.0/99"],
            &["--watch-cache-sizes", "pods"],
            &["--watch-cache=maybe"],
            &["nonsense"],
        ] {
            assert!(
                Cli::try_parse_from([&["masthead"], words].concat()).is_err(),
                "{words:?}"
            );
        }
    }
}
