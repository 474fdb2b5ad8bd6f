use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn by_hand() -> (VirtualClock, Clock) {
    let clock = VirtualClock::new();
    (clock.clone(), Clock::Virtual(clock))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tick_on_the_way_is_handled_at_its_moment() {
    let (by_hand, clock) = by_hand();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for (name, period) in [("a", 2), ("b", 3)] {
        let (clock, seen, mut timer) = (clock.clone(), Arc::clone(&seen), clock.timer());
        tokio::spawn(async move {
            loop {
                timer.sleep(seconds(period)).await;
                tokio::task::yield_now().await;
                let now = clock.mono().since_start().as_secs();
                seen.lock().unwrap().push((now, name));
            }
        });
    }
    by_hand.advance(seconds(6)).await.unwrap();
    let wanted = [(2, "a"), (3, "b"), (4, "a"), (6, "a"), (6, "b")];
    assert_eq!(*seen.lock().unwrap(), wanted);
    assert_eq!(clock.mono(), Mono::new(seconds(6)));
}

#[tokio::test]
async fn a_sleep_that_is_given_up_holds_nothing_back() {
    let (by_hand, clock) = by_hand();
    let mut timer = clock.timer();
    tokio::select! {
        biased;
        () = timer.sleep(seconds(5)) => panic!("nobody moved the clock"),
        () = async {} => {}
    }
    drop(timer);
    let advanced = by_hand.advance(seconds(9)).await.unwrap();
    assert_eq!(advanced.since_start, seconds(9));
    let second = by_hand.advance(seconds(1)).await.unwrap();
    assert_eq!(second.now.as_second() - advanced.now.as_second(), 1);
}

#[tokio::test]
async fn who_follows_catches_up_before_time_moves() {
    let (by_hand, clock) = by_hand();
    let mut follower = by_hand.follower();
    let asked = Arc::new(AtomicUsize::new(0));
    let (counted, at) = (Arc::clone(&asked), clock.clone());
    tokio::spawn(async move {
        loop {
            let done = follower.asked().await;
            if at.mono() == Mono::START {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            drop(done);
        }
    });
    by_hand.advance(seconds(1)).await.unwrap();
    assert!(asked.load(Ordering::Relaxed) > 0);
}

#[tokio::test]
async fn a_step_of_more_than_thirty_days_is_refused() {
    let (by_hand, _) = by_hand();
    let by = seconds(31 * 24 * 3600);
    let refused = by_hand.advance(by).await;
    assert_eq!(refused, Err(AdvanceError::TooFar { by }));
    assert_eq!(by_hand.elapsed(), Duration::ZERO);
}
