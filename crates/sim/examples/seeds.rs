//! Runs many seeds: `seeds [COUNT [FROM]]`, or `MASTHEAD_SIM_SEEDS` and `MASTHEAD_SIM_FROM`.

use std::process::ExitCode;
use std::time::Instant;

use masthead_sim::{Facts, check_seed};

fn number(argument: usize, variable: &str, default: u64) -> u64 {
    std::env::args()
        .nth(argument)
        .or_else(|| std::env::var(variable).ok())
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

fn main() -> ExitCode {
    let count = number(1, "MASTHEAD_SIM_SEEDS", 10_000);
    let from = number(2, "MASTHEAD_SIM_FROM", 0);
    let start = Instant::now();
    let mut facts = Facts::default();
    let every = (count / 20).max(1);
    for done in 0..count {
        match check_seed(from.wrapping_add(done), None) {
            Ok(more) => facts += more,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
        if (done + 1) % every == 0 {
            let seconds = start.elapsed().as_secs_f64();
            eprintln!("{} of {count} seeds, {seconds:.0} s", done + 1);
        }
    }
    println!("seeds {from} until {}: {facts:?}", from.wrapping_add(count));
    ExitCode::SUCCESS
}
