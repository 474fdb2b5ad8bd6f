//! Every guarantee holds in every world. `MASTHEAD_SIM_SEEDS` says how many are tried (2,000), and
//! `MASTHEAD_SIM_FROM` which is the first (0): both together bring back a failure.

use masthead_sim::{Facts, Plan, check_seed, run};

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[test]
fn every_guarantee_holds_in_every_world() {
    let (from, seeds) = (
        number("MASTHEAD_SIM_FROM", 0),
        number("MASTHEAD_SIM_SEEDS", 2000),
    );
    let mut facts = Facts::default();
    for seed in from..from.saturating_add(seeds) {
        match check_seed(seed, None) {
            Ok(more) => facts += more,
            Err(error) => panic!("{error}"),
        }
    }
    println!("{facts:?}");
    // Worlds in which nothing happens prove nothing.
    if seeds >= 100 {
        for (happened, at_least) in [
            (facts.streams, 8 * seeds),
            (facts.resumed, seeds),
            (facts.deliveries, 50 * seeds),
            (facts.bookmarks, 3 * seeds),
            (facts.joint, seeds / 2),
            (facts.refusals, seeds / 3),
            (facts.overruns, seeds / 3),
            (facts.revisions, 30 * seeds),
            (facts.lists, 8 * seeds),
            (facts.starts, seeds),
            (facts.unknown, seeds / 20),
        ] {
            assert!(
                happened as u64 > at_least,
                "{happened} of {at_least}: {facts:?}"
            );
        }
    }
}

#[test]
fn the_same_seed_makes_the_same_history() {
    for seed in 0..20 {
        let plan = Plan::of_seed(seed);
        let (first, second) = (run(&plan, None).unwrap(), run(&plan, None).unwrap());
        assert_eq!(first.records, second.records, "seed {seed}");
    }
}
