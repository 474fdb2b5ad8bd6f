//! [`Writing`]: updates at a steady rate by several writers, each with objects of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::client::{Client, ClientError};
use super::connection::Connection;
use super::faults::Faults;
use super::layout::Layout;
use super::objects::Objects;
use super::progress::Counter;
use super::stats::Latencies;
use super::wire::{Clock, Marker};

/// Updates to be sent.
#[derive(Clone)]
pub(super) struct Writing {
    pub(super) clock: Clock,
    pub(super) layout: Arc<Layout>,
    pub(super) objects: Objects,
    /// Updates a second of all writers together; 0: as fast as they can.
    pub(super) rate: u32,
    pub(super) done: Counter,
    pub(super) faults: Arc<Faults>,
}

/// What came of them.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) good: u64,
    pub(super) elapsed: Duration,
    pub(super) began_nanos: u64,
    /// From sent to acknowledged.
    pub(super) latencies: Latencies,
    pub(super) faults: Arc<Faults>,
}

/// Writers that are connected.
pub(super) struct Writers {
    writing: Writing,
    connections: Vec<Connection>,
}

impl Writing {
    /// Connects the writers, so that the connecting is not measured.
    pub(super) async fn connect(self, client: &Client) -> Result<Writers, ClientError> {
        let mut connections = Vec::new();
        for _ in 0..self.layout.writers {
            connections.push(client.connect().await?);
        }
        Ok(Writers {
            writing: self,
            connections,
        })
    }

    /// When the update of this number is due, after the start.
    fn due(&self, number: u64) -> Duration {
        match self.rate {
            0 => Duration::ZERO,
            rate => Duration::from_secs_f64(number as f64 / f64::from(rate)),
        }
    }
}

impl Writers {
    /// Sends all updates, and waits until they are acknowledged.
    pub(super) async fn run(self) -> Written {
        let began = Instant::now();
        let mut written = Written {
            began_nanos: self.writing.clock.nanos(),
            faults: Arc::clone(&self.writing.faults),
            ..Written::default()
        };
        let good = Arc::new(AtomicU64::new(0));
        let mut writers = JoinSet::new();
        for (writer, connection) in self.connections.into_iter().enumerate() {
            let (writing, good) = (self.writing.clone(), Arc::clone(&good));
            writers.spawn(write(writing, writer as u64, connection, (began, good)));
        }
        while let Some(ended) = writers.join_next().await {
            match ended {
                Ok(latencies) => written.latencies.add(&latencies),
                Err(error) => written.faults.add(&error),
            }
        }
        written.elapsed = began.elapsed();
        written.good = good.load(Ordering::Relaxed);
        written
    }
}

/// One writer. Its updates come in order, for it waits for each; one that is late is sent at once.
async fn write(
    writing: Writing,
    writer: u64,
    mut connection: Connection,
    (began, good): (Instant, Arc<AtomicU64>),
) -> Latencies {
    let mut latencies = Latencies::default();
    let layout = &writing.layout;
    for number in (writer..layout.writes).step_by(layout.writers as usize) {
        if writing.rate > 0 {
            sleep_until((began + writing.due(number)).into()).await;
        }
        let marker = Marker {
            number,
            sent_nanos: writing.clock.nanos(),
        };
        let call = writing.objects.change(layout.subject_of(number), marker);
        match connection.stream(&call, |_| {}).await {
            Ok(_) => {
                let took = writing.clock.nanos().saturating_sub(marker.sent_nanos);
                latencies.record(took);
                good.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                writing.faults.add(&format!("update {number}: {error}"));
                return latencies;
            }
        }
        writing.done.fetch_add(1, Ordering::Relaxed);
    }
    latencies
}
