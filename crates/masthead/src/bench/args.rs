//! The command line of `masthead bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, value_parser};

/// Which server, and how to tell the results.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Server and output")]
pub(crate) struct Common {
    /// The file that says how to reach the server [default: ./masthead.kubeconfig, else
    /// $KUBECONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// The context of that file, if not its current one
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) context: Option<String>,
    /// The server's URL, instead of a kubeconfig
    #[arg(long, global = true, value_name = "URL", conflicts_with = "kubeconfig")]
    pub(super) url: Option<String>,
    /// A bearer token (other users of this machine can read it in the list of processes)
    #[arg(long, global = true, value_name = "TOKEN")]
    pub(super) token: Option<String>,
    /// The authority that signed the server's certificate, as PEM
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) certificate_authority: Option<PathBuf>,
    /// Do not check the server's certificate
    #[arg(long, global = true, alias = "insecure-skip-tls-verify")]
    pub(super) insecure: bool,
    /// Processes of the server on this machine, to tell their CPU time and memory
    #[arg(long, global = true, value_name = "PID,...", value_delimiter = ',')]
    pub(super) pids: Vec<u32>,
    /// Print one line of JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Show progress even if the standard error is no terminal
    #[arg(long, global = true)]
    pub(super) progress: bool,
}

/// Load for a Kubernetes API server, and what it costs there
#[derive(Args, Debug)]
#[command(
    after_help = "All objects are made in a namespace of their own, which is deleted at the end, \
                  after Ctrl-C too.\nThe figures of the server's cost come from --pids; the load's \
                  own cost is not in them."
)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(super) work: Work,
    #[command(flatten)]
    pub(super) common: Common,
}

/// What is measured.
#[derive(Debug, Subcommand)]
pub(super) enum Work {
    /// Durable creates of ConfigMaps
    Create(CreateArgs),
    /// Reads of one object
    Get(GetArgs),
    /// Lists of many objects
    List(ListArgs),
    /// Updates that many watchers see
    Fanout(FanoutArgs),
    /// Watchers to whom nothing happens: memory of each
    Idle(IdleArgs),
    /// Watchers that all come back at once after a cut
    Resume(ResumeArgs),
}

#[derive(Args, Debug)]
pub(super) struct CreateArgs {
    /// Objects to create
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = value_parser!(u64).range(1..=10_000_000))]
    pub(super) objects: u64,
    /// Clients at a time, each with a connection
    #[arg(long, value_name = "C", default_value_t = 16, value_parser = value_parser!(u32).range(1..=10_000))]
    pub(super) clients: u32,
    /// Payload of each object
    #[arg(long, value_name = "B", default_value_t = 512, value_parser = value_parser!(u32).range(0..=1_000_000))]
    pub(super) bytes: u32,
}

#[derive(Args, Debug)]
pub(super) struct GetArgs {
    /// Requests in all
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = value_parser!(u64).range(1..=1_000_000_000))]
    pub(super) requests: u64,
    /// Clients at a time, each with a connection
    #[arg(long, value_name = "C", default_value_t = 16, value_parser = value_parser!(u32).range(1..=10_000))]
    pub(super) clients: u32,
    /// Payload of the object
    #[arg(long, value_name = "B", default_value_t = 512, value_parser = value_parser!(u32).range(0..=1_000_000))]
    pub(super) bytes: u32,
}

#[derive(Args, Debug)]
pub(super) struct ListArgs {
    /// Objects to list
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = value_parser!(u64).range(1..=10_000_000))]
    pub(super) objects: u64,
    /// Whole lists in all
    #[arg(long, value_name = "T", default_value_t = 10, value_parser = value_parser!(u64).range(1..=1_000_000))]
    pub(super) times: u64,
    /// Clients at a time, each with a connection
    #[arg(long, value_name = "C", default_value_t = 2, value_parser = value_parser!(u32).range(1..=10_000))]
    pub(super) clients: u32,
    /// Payload of each object
    #[arg(long, value_name = "B", default_value_t = 512, value_parser = value_parser!(u32).range(0..=1_000_000))]
    pub(super) bytes: u32,
    /// Objects a page; 0: all on one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) limit: u32,
}

/// Which updates a watcher asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Match {
    All,
    Label,
    Name,
    Node,
}

impl Match {
    /// The word of the command line.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Label => "label",
            Self::Name => "name",
            Self::Node => "node",
        }
    }
}

#[derive(Args, Debug)]
pub(super) struct FanoutArgs {
    /// Watchers
    #[arg(long, value_name = "W", default_value_t = 1000, value_parser = value_parser!(u32).range(1..=200_000))]
    pub(super) watchers: u32,
    /// Updates in all
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = value_parser!(u64).range(1..=10_000_000))]
    pub(super) writes: u64,
    /// Updates a second; 0: as fast as the writers can
    #[arg(long, value_name = "R", default_value_t = 50, value_parser = value_parser!(u32).range(0..=1_000_000))]
    pub(super) rate: u32,
    /// Payload of each object
    #[arg(long, value_name = "B", default_value_t = 512, value_parser = value_parser!(u32).range(0..=1_000_000))]
    pub(super) bytes: u32,
    /// Watches a connection (HTTP/2)
    #[arg(long, value_name = "S", default_value_t = 100, value_parser = value_parser!(u32).range(1..=10_000))]
    pub(super) streams: u32,
    /// Writers, each with a connection and objects of its own
    #[arg(long, value_name = "C", default_value_t = 4, value_parser = value_parser!(u32).range(1..=1000))]
    pub(super) writers: u32,
    /// all: each sees every update; else each selects its own object, by label, metadata.name or
    /// (pods) spec.nodeName
    #[arg(
        long = "match",
        value_name = "all|label|name|node",
        default_value = "all",
        hide_possible_values = true
    )]
    pub(super) selection: Match,
}

#[derive(Args, Debug)]
pub(super) struct IdleArgs {
    /// Watchers
    #[arg(long, value_name = "W", default_value_t = 5000, value_parser = value_parser!(u32).range(1..=200_000))]
    pub(super) watchers: u32,
    /// Watches a connection (HTTP/2)
    #[arg(long, value_name = "S", default_value_t = 100, value_parser = value_parser!(u32).range(1..=10_000))]
    pub(super) streams: u32,
    /// How long to look at them, in seconds
    #[arg(long, value_name = "TIME", default_value_t = 5, value_parser = value_parser!(u32).range(1..=3600))]
    pub(super) seconds: u32,
}

#[derive(Args, Debug)]
pub(super) struct ResumeArgs {
    /// Watchers
    #[arg(long, value_name = "W", default_value_t = 1000, value_parser = value_parser!(u32).range(1..=200_000))]
    pub(super) watchers: u32,
    /// Updates that they miss
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u64).range(1..=100_000))]
    pub(super) writes: u64,
    /// Payload of each object
    #[arg(long, value_name = "B", default_value_t = 512, value_parser = value_parser!(u32).range(0..=1_000_000))]
    pub(super) bytes: u32,
    /// Watches a connection (HTTP/2)
    #[arg(long, value_name = "S", default_value_t = 100, value_parser = value_parser!(u32).range(1..=10_000))]
    pub(super) streams: u32,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        bench: BenchArgs,
    }

    fn parse(words: &str) -> Result<BenchArgs, clap::Error> {
        let words = std::iter::once("bench").chain(words.split_whitespace());
        Line::try_parse_from(words).map(|line| line.bench)
    }

    #[test]
    fn every_help_fits_a_screen() {
        let mut command = Line::command();
        command.clone().debug_assert();
        command.build();
        for sub in command.get_subcommands_mut() {
            let help = sub.render_help().to_string();
            assert!(help.lines().count() <= 40, "{help}");
        }
    }

    #[test]
    fn options_of_the_server_stand_before_or_behind_the_work() {
        for words in [
            "--pids 1,2 --json fanout",
            "fanout --json --pids 1 --pids 2",
        ] {
            let args = parse(words).unwrap();
            assert_eq!(args.common.pids, [1, 2], "{words}");
            assert!(args.common.json);
        }
    }

    #[test]
    fn fanout_takes_its_figures() {
        let args = parse("fanout --watchers 7 --rate 0 --match node").unwrap();
        let Work::Fanout(args) = args.work else {
            panic!("{args:?}");
        };
        assert_eq!((args.watchers, args.rate, args.writes), (7, 0, 400));
        assert_eq!(args.selection, Match::Node);
    }

    #[test]
    fn figures_without_sense_are_refused() {
        for words in [
            "",
            "fanout --watchers 0",
            "fanout --match some",
            "create --clients 0",
            "create --bytes 1000001",
            "get --requests -1",
            "idle --streams 0",
            "list --pids x",
            "get --url https://a --kubeconfig b",
        ] {
            assert!(parse(words).is_err(), "{words}");
        }
    }
}
