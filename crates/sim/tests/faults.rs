//! Each checker can fail: whatever is broken on purpose is found, by the checker of that guarantee.

use masthead_sim::{Fault, Guarantee, Plan, SeedError, check_seed, run, violations};

/// How many worlds a fault may need until it shows.
const SEEDS_MAX: u64 = 100;

/// The first seed in whose world the fault's guarantee is found broken.
fn found(fault: Fault) -> Option<u64> {
    (0..SEEDS_MAX).find(|seed| {
        run(&Plan::of_seed(*seed), Some(fault)).is_ok_and(|history| {
            violations(&history)
                .iter()
                .any(|violation| violation.guarantee == fault.breaks())
        })
    })
}

#[test]
fn every_fault_is_found_by_the_checker_of_what_it_breaks() {
    let found: Vec<(Fault, Option<u64>)> = Fault::ALL
        .into_iter()
        .map(|fault| (fault, found(fault)))
        .collect();
    println!("{found:?}");
    assert!(found.iter().all(|(_, seed)| seed.is_some()), "{found:?}");
}

#[test]
fn every_guarantee_has_a_fault_that_breaks_it() {
    for guarantee in Guarantee::ALL {
        assert!(
            Fault::ALL.iter().any(|fault| fault.breaks() == guarantee),
            "{guarantee:?}"
        );
    }
}

#[test]
fn a_failure_is_shortened_and_says_what_it_is_about() {
    for fault in [
        Fault::DroppedEvent,
        Fault::LostWakeup,
        Fault::UnsyncedAppend,
    ] {
        let failure = (0..SEEDS_MAX).find_map(|seed| match check_seed(seed, Some(fault)) {
            Err(SeedError::Broken(failure)) => Some(failure),
            Ok(_) => None,
            Err(SeedError::World(error)) => panic!("{error}"),
        });
        let failure = failure.unwrap();
        let text = failure.to_string();
        assert!(failure.plan.steps.len() < 40, "{text}");
        assert!(text.starts_with(&format!("seed {} with {fault:?}", failure.seed)));
        assert!(text.contains(failure.violation.guarantee.sentence()));
    }
}
