//! History is kept for one to two intervals: at each tick what is older than the revision of the
//! tick before is forgotten. Once a second expired objects are removed.

use std::sync::Arc;
use std::time::Duration;

use crate::door::Door;
use crate::hub::Hub;

/// How often expired objects are looked for.
const TIDY_PERIOD: Duration = Duration::from_secs(1);

/// Compacts every `interval` (zero: never), for ever.
pub(crate) async fn run(hub: Arc<Hub>, door: Door, interval: Duration) {
    if interval.is_zero() {
        return;
    }
    let mut compacted = hub.head();
    let mut former = compacted;
    loop {
        tokio::time::sleep(interval).await;
        if former > compacted {
            door.compact(former).await;
            compacted = former;
        }
        former = hub.head();
    }
}

/// Removes expired objects and what compaction dropped, for ever.
pub(crate) async fn tidy(door: Door) {
    loop {
        tokio::time::sleep(TIDY_PERIOD).await;
        door.tidy().await;
    }
}
