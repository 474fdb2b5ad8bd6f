//! [`Shutdown`]: the word that a server is to stop, for all who must hear it.

use tokio::sync::watch;

/// Says stop. Dropped without a word, it says stop too.
#[derive(Debug)]
pub struct ShutdownTrigger(watch::Sender<bool>);

/// Hears stop.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<bool>);

/// A trigger and the ear to it.
pub fn shutdown() -> (ShutdownTrigger, Shutdown) {
    let (trigger, ear) = watch::channel(false);
    (ShutdownTrigger(trigger), Shutdown(ear))
}

impl ShutdownTrigger {
    /// Says stop. More than once is as good as once.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Shutdown {
    /// Whether stop was said: readiness is over and long-running streams are to end.
    pub fn is_stopping(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits until stop is said. Cancel-safe.
    pub async fn stopping(&mut self) {
        // An error means that the trigger is gone, which says stop as well.
        drop(self.0.wait_for(|stop| *stop).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stop_is_heard_by_all_and_later() {
        let (trigger, ear) = shutdown();
        let mut early = ear.clone();
        assert!(!ear.is_stopping());
        trigger.stop();
        early.stopping().await;
        ear.clone().stopping().await;
        assert!(ear.is_stopping());
    }

    #[tokio::test]
    async fn a_dropped_trigger_says_stop() {
        let (trigger, mut ear) = shutdown();
        drop(trigger);
        ear.stopping().await;
        assert!(ear.is_stopping());
    }
}
