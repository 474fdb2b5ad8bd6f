//! [`VirtualClock`]: a clock that stands still until it is advanced.
//!
//! ```text
//!  advance ─▶ settle ─▶ next moment at which something is due ─▶ now = that moment
//!               ▲                                                   │ caches: bookmarks, ends
//!               └──────────────── one sleeper after the other ◀─────┘
//! ```
//!
//! * **V1** Time moves from one due moment to the next, never past one that has not been handled.
//! * **V2** A task is busy from the moment its sleep is over (and from the making of its timer) until
//!   it sleeps again or its timer is dropped. Time moves only while nobody is busy.
//! * **V3** What is due at the same moment is handled one after the other, in the order in which the
//!   timers were made.
//!
//! A task that is busy for more than ten real seconds is not waited for any longer.

use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

/// The longest step: thirty days, whose ticks are handled in a few seconds.
const ADVANCE_MAX: Duration = Duration::from_hours(30 * 24);
/// How long, in real time, a busy task is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Something that has moments of its own, besides the tasks that sleep.
pub(crate) trait Driven: Send + Sync {
    /// When something is due next, since the server's start.
    fn due(&self) -> Option<Duration>;
    /// Handles everything that is due by now; afterwards [`Driven::due`] is later than now.
    fn handle_due(&self);
}

/// A clock that is advanced by hand. Clones are handles on the same clock.
#[derive(Clone)]
pub struct VirtualClock(Arc<Shared>);

struct Shared {
    /// The wall clock when this clock was made.
    wall: Duration,
    state: Mutex<State>,
    settled: Notify,
    advancing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    now: Duration,
    seats: u64,
    busy: usize,
    sleepers: BTreeMap<(Duration, u64), Waker>,
    driven: Vec<Weak<dyn Driven>>,
    followers: Vec<mpsc::Sender<oneshot::Sender<()>>>,
}

/// Where the clock stands after it was advanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advanced {
    /// The wall clock.
    pub now: jiff::Timestamp,
    /// By how much it was advanced.
    pub by: Duration,
    /// Time since the server's start.
    pub since_start: Duration,
}

/// Why the clock was not advanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdvanceError {
    /// Too far at once.
    #[error("the clock can be advanced by thirty days at a time, not by {} seconds", by.as_secs())]
    TooFar {
        /// Asked for.
        by: Duration,
    },
    /// The server goes by the machine's clock.
    #[error("this server goes by real time; start it with --virtual-clock")]
    RealTime,
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl VirtualClock {
    /// A clock that stands at the present time of day.
    pub fn new() -> Self {
        Self(Arc::new(Shared {
            wall: super::wall(),
            state: Mutex::default(),
            settled: Notify::new(),
            advancing: tokio::sync::Mutex::default(),
        }))
    }

    /// How far it was advanced so far.
    pub fn elapsed(&self) -> Duration {
        self.state().now
    }

    /// Where it stands.
    pub fn now(&self) -> jiff::Timestamp {
        super::moment(self.wall())
    }

    pub(super) fn wall(&self) -> Duration {
        self.0.wall.saturating_add(self.elapsed())
    }

    /// Moves the clock forward. When this returns, everything that was due on the way has been
    /// handled, in the order of time: bookmarks are queued, streams have ended, what expired is gone.
    ///
    /// # Errors
    /// [`AdvanceError::TooFar`] for more than thirty days.
    pub async fn advance(&self, by: Duration) -> Result<Advanced, AdvanceError> {
        if by > ADVANCE_MAX {
            return Err(AdvanceError::TooFar { by });
        }
        let _one_at_a_time = self.0.advancing.lock().await;
        self.settle().await;
        let target = self.elapsed().saturating_add(by);
        while let Some(at) = self.next_due().filter(|at| *at <= target) {
            self.move_to(at);
            for driven in self.driven() {
                driven.handle_due();
            }
            self.settle().await;
            while self.wake_next() {
                self.settle().await;
            }
        }
        self.move_to(target);
        Ok(Advanced {
            now: self.now(),
            by,
            since_start: target,
        })
    }

    /// Has `driven` looked after for as long as it lives.
    pub(crate) fn drive(&self, driven: Weak<dyn Driven>) {
        self.state().driven.push(driven);
    }

    /// The ear of a task that acts on what happens elsewhere: before time moves, it is asked to
    /// catch up.
    pub(crate) fn follower(&self) -> Follower {
        let (sender, receiver) = mpsc::channel(1);
        self.state().followers.push(sender);
        Follower(Some(receiver))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn move_to(&self, at: Duration) {
        let mut state = self.state();
        state.now = state.now.max(at);
    }

    fn driven(&self) -> Vec<Arc<dyn Driven>> {
        let mut state = self.state();
        state.driven.retain(|driven| driven.strong_count() > 0);
        state.driven.iter().filter_map(Weak::upgrade).collect()
    }

    fn next_due(&self) -> Option<Duration> {
        let driven = self.driven().iter().filter_map(|driven| driven.due()).min();
        let sleeper = self.state().sleepers.keys().next().map(|(at, _)| *at);
        match (driven, sleeper) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Wakes the first sleeper whose time has come. It is busy from here on (V2).
    fn wake_next(&self) -> bool {
        let mut state = self.state();
        let now = state.now;
        let Some(first) = state.sleepers.first_entry() else {
            return false;
        };
        if first.key().0 > now {
            return false;
        }
        let waker = first.remove();
        state.busy += 1;
        drop(state);
        waker.wake();
        true
    }

    /// Waits until nobody is busy and everybody who follows has caught up.
    async fn settle(&self) {
        loop {
            self.idle().await;
            self.catch_up().await;
            if self.state().busy == 0 {
                return;
            }
        }
    }

    async fn idle(&self) {
        let mut settled = pin!(self.0.settled.notified());
        settled.as_mut().enable();
        if self.state().busy == 0 {
            return;
        }
        if timeout(PATIENCE, settled).await.is_err() {
            tracing::warn!("a background task takes long; the clock goes on without it");
            self.state().busy = 0;
        }
    }

    async fn catch_up(&self) {
        let followers = {
            let mut state = self.state();
            state.followers.retain(|follower| !follower.is_closed());
            state.followers.clone()
        };
        for follower in followers {
            let (done, caught_up) = oneshot::channel();
            let asked = async {
                if follower.send(done).await.is_ok() {
                    // An error means that the follower has ended: nothing to wait for.
                    drop(caught_up.await);
                }
            };
            if timeout(PATIENCE, asked).await.is_err() {
                tracing::warn!("a background task is behind; the clock goes on without it");
            }
        }
    }

    fn begin(&self) {
        self.state().busy += 1;
    }

    fn finish(&self) {
        let mut state = self.state();
        // Those that were given up on are not counted twice.
        state.busy = state.busy.saturating_sub(1);
        let idle = state.busy == 0;
        drop(state);
        if idle {
            self.0.settled.notify_waiters();
        }
    }
}

impl fmt::Debug for VirtualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VirtualClock")
            .field(&self.elapsed())
            .finish()
    }
}

/// Hears that a task is to catch up with what has happened so far.
#[derive(Debug)]
pub(crate) struct Follower(Option<mpsc::Receiver<oneshot::Sender<()>>>);

impl Follower {
    /// Waits until somebody asks; the answer is given by dropping what is returned. Cancel-safe.
    pub(crate) async fn asked(&mut self) -> oneshot::Sender<()> {
        let asked = match &mut self.0 {
            Some(questions) => questions.recv().await,
            None => None,
        };
        match asked {
            Some(done) => done,
            // Nobody will ever ask.
            None => std::future::pending().await,
        }
    }

    /// The ear of a task where time moves by itself: it is never asked.
    pub(super) const fn never() -> Self {
        Self(None)
    }
}

/// One task's place among the sleepers.
#[derive(Debug)]
pub(crate) struct Seat {
    clock: VirtualClock,
    number: u64,
    /// Until when it sleeps; `None` while it is busy.
    until: Option<Duration>,
}

impl Seat {
    /// A place for a task that is busy until it sleeps.
    pub(super) fn new(clock: &VirtualClock) -> Self {
        let mut state = clock.state();
        state.seats += 1;
        let number = state.seats;
        drop(state);
        clock.begin();
        Self {
            clock: clock.clone(),
            number,
            until: None,
        }
    }

    pub(super) async fn sleep(&mut self, time: Duration) {
        let until = self.clock.elapsed().saturating_add(time);
        let asleep = Asleep(self);
        poll_fn(|context| asleep.0.poll_sleep(until, context)).await;
    }

    fn poll_sleep(&mut self, until: Duration, context: &Context<'_>) -> Poll<()> {
        let mut state = self.clock.state();
        let Some(asleep_until) = self.until else {
            if until <= state.now {
                return Poll::Ready(());
            }
            let place = (until, self.number);
            state.sleepers.insert(place, context.waker().clone());
            self.until = Some(until);
            drop(state);
            self.clock.finish();
            return Poll::Pending;
        };
        if let Some(waker) = state.sleepers.get_mut(&(asleep_until, self.number)) {
            waker.clone_from(context.waker());
            return Poll::Pending;
        }
        self.until = None;
        Poll::Ready(())
    }

    /// Ends a sleep before its time: the task is busy with something else.
    fn rouse(&mut self) {
        let Some(until) = self.until.take() else {
            return;
        };
        let mut state = self.clock.state();
        // Where the place is empty, the clock has woken it and counts it already.
        if state.sleepers.remove(&(until, self.number)).is_some() {
            state.busy += 1;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.rouse();
        self.clock.finish();
    }
}

/// A sleep under way; dropped, it is over.
struct Asleep<'a>(&'a mut Seat);

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.rouse();
    }
}
