//! History is kept for one to two intervals: at each tick what is older than the revision of the
//! tick before is forgotten. Expired objects are removed within a second.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::Timer;
use crate::door::Door;
use crate::hub::Hub;

/// How often expired objects are looked for, where there are any.
const TIDY_PERIOD: Duration = Duration::from_secs(1);
/// And where there are none.
const IDLE_PERIOD: Duration = Duration::from_mins(1);

/// Compacts every `interval` (zero: never), for ever.
pub(crate) async fn run(hub: Arc<Hub>, door: Door, interval: Duration, mut timer: Timer) {
    if interval.is_zero() {
        return;
    }
    let mut compacted = hub.head();
    let mut former = compacted;
    loop {
        timer.sleep(interval).await;
        if former > compacted {
            door.compact(former).await;
            compacted = former;
        }
        former = hub.head();
    }
}

/// Removes expired objects and what compaction dropped, for ever. `ttl_min` is the shortest life of
/// an object that expires: none that is made later ends sooner.
pub(crate) async fn tidy(door: Door, ttl_min: Duration, mut timer: Timer) {
    let idle = IDLE_PERIOD.min(ttl_min).max(TIDY_PERIOD);
    let mut pause = TIDY_PERIOD;
    loop {
        timer.sleep(pause).await;
        let ahead = door.tidy().await.unwrap_or(idle);
        pause = ahead.clamp(TIDY_PERIOD, idle);
    }
}
