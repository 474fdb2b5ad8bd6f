//! The `masthead` binary. Exit codes: 0 for a clean end, 1 for a failure, 2 for a command line
//! that makes no sense. Answers go to the standard output, everything else to the standard error.

mod bench;
mod cli;
mod clock;
mod duration;
mod open_files;
mod serve;
mod signals;
mod snapshot;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use mimalloc::MiMalloc;
use tracing_subscriber::EnvFilter;

use cli::{Cli, Command, LogFormat, ServeArgs};

/// The storage engine tells every file that it opens at level info.
const QUIET_ENGINE: &str = ",fjall=warn,lsm_tree=warn";

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let args = match cli.command {
        None => cli.serve,
        Some(Command::Serve(args)) => args,
        Some(Command::Clock(command)) => {
            let done = clock::run(&command);
            return done.map_or_else(|error| fail(&chain(&error), 1), |()| ExitCode::SUCCESS);
        }
        Some(Command::Bench(args)) => {
            let kubeconfig = std::env::var_os("KUBECONFIG");
            let done = bench::run(&args, kubeconfig.as_deref());
            return done.map_or_else(|error| fail(&chain(&error), 1), |()| ExitCode::SUCCESS);
        }
        Some(Command::Snapshot(command)) => {
            let done = snapshot::run(&command);
            return done.map_or_else(|error| fail(&chain(&error), 1), |()| ExitCode::SUCCESS);
        }
    };
    if let Err(error) = start_logging(&args) {
        return fail(&format!("--log-level {:?}: {error}", args.log_level), 2);
    }
    match serve::run(args.config(), args.log_format) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&chain(&error), 1),
    }
}

/// Prints help to the standard output, mistakes to the standard error.
fn refuse(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion if printed.is_ok() => ExitCode::SUCCESS,
        _ => ExitCode::from(2),
    }
}

fn start_logging(args: &ServeArgs) -> Result<(), tracing_subscriber::filter::ParseError> {
    // A filter says all itself; a bare level is about this server, not about its storage engine.
    let is_filter = args.log_level.contains(['=', ',']);
    let engine = if is_filter || args.log_level == "trace" {
        ""
    } else {
        QUIET_ENGINE
    };
    let filter = EnvFilter::builder().parse(format!("{}{engine}", args.log_level))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // Else a line that cannot be written is complained about on the same broken stream, by a
        // panic.
        .log_internal_errors(false)
        .with_writer(io::stderr);
    match args.log_format {
        LogFormat::Text => lines
            .with_ansi(io::IsTerminal::is_terminal(&io::stderr()))
            .init(),
        LogFormat::Json => lines.json().init(),
    }
    Ok(())
}

/// An error with those of its causes that it does not tell itself.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

fn fail(message: &str, code: u8) -> ExitCode {
    // Where even the standard error is gone, the exit code still tells.
    drop(writeln!(io::stderr(), "masthead: {message}"));
    ExitCode::from(code)
}
