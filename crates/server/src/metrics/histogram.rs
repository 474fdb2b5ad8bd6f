//! [`Histogram`]: counts of values in buckets, without a lock.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// What is measured and in which buckets; whole small units inside, the metric's unit outside.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Upper bounds, included, in small units, rising.
    pub(super) bounds: &'static [u64],
    /// Small units in one unit of the metric.
    pub(super) per_unit: u64,
}

/// Bytes of a watch event: 1 KiB and its doubles to 128 KiB.
pub(super) static EVENT_BYTES: Shape = Shape {
    bounds: &[
        1 << 10,
        1 << 11,
        1 << 12,
        1 << 13,
        1 << 14,
        1 << 15,
        1 << 16,
        1 << 17,
    ],
    per_unit: 1,
};

/// Durations of requests in microseconds, 5 ms to 60 s, told in seconds. The two lowest bounds
/// are this server's own: most of its answers are faster than upstream's lowest.
pub(super) static REQUEST_MICROS: Shape = Shape {
    bounds: &[
        100, 1_000, 5_000, 25_000, 50_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000,
        1_250_000, 1_500_000, 2_000_000, 3_000_000, 4_000_000, 5_000_000, 6_000_000, 8_000_000,
        10_000_000, 15_000_000, 20_000_000, 30_000_000, 45_000_000, 60_000_000,
    ],
    per_unit: 1_000_000,
};

/// A histogram; copies are the same one.
#[derive(Clone)]
pub(super) struct Histogram(Arc<Inner>);

struct Inner {
    shape: &'static Shape,
    sum: AtomicU64,
    /// One count a bound, and one for what is beyond all of them.
    counts: Box<[AtomicU64]>,
}

impl Histogram {
    /// An empty one.
    pub(super) fn new(shape: &'static Shape) -> Self {
        let counts = (0..=shape.bounds.len())
            .map(|_| AtomicU64::new(0))
            .collect();
        Self(Arc::new(Inner {
            shape,
            sum: AtomicU64::new(0),
            counts,
        }))
    }

    /// Counts one value in small units.
    pub(super) fn observe(&self, value: u64) {
        let bucket = self.0.shape.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.0.counts.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.0.sum.fetch_add(value, Ordering::Relaxed);
    }
}

impl TypedMetric for Histogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl EncodeMetric for Histogram {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        let Inner { shape, sum, counts } = &*self.0;
        let unit = shape.per_unit as f64;
        let bounds = shape
            .bounds
            .iter()
            .map(|bound| *bound as f64 / unit)
            .chain([f64::INFINITY]);
        let counts = counts.iter().map(|count| count.load(Ordering::Relaxed));
        let buckets: Vec<(f64, u64)> = bounds.zip(counts).collect();
        let count = buckets.iter().map(|(_, count)| count).sum();
        let sum = sum.load(Ordering::Relaxed) as f64 / unit;
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("sum", &self.0.sum)
            .finish_non_exhaustive()
    }
}
