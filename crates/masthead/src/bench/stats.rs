//! [`Latencies`] collects durations; [`Percentiles`] is what is told of them.

use std::time::Duration;

use hdrhistogram::{CreationError, Histogram};
use serde_json::{Value, json};

/// What is told apart at least: 1 µs.
const LOWEST_NANOS: u64 = 1_000;
/// Anything longer counts as this long: ten minutes.
const HIGHEST_NANOS: u64 = 600_000_000_000;
/// Digits that are exact.
const DIGITS: u8 = 3;

/// Durations, to three digits, in constant memory (some 170 KB).
#[derive(Clone, Debug)]
pub(super) struct Latencies(Option<Histogram<u64>>);

impl Default for Latencies {
    fn default() -> Self {
        let made: Result<_, CreationError> =
            Histogram::new_with_bounds(LOWEST_NANOS, HIGHEST_NANOS, DIGITS);
        // These bounds are good ones; a test says so.
        Self(made.ok())
    }
}

impl Latencies {
    /// Adds one.
    pub(super) fn record(&mut self, nanos: u64) {
        if let Some(histogram) = &mut self.0 {
            histogram.saturating_record(nanos.clamp(LOWEST_NANOS, HIGHEST_NANOS));
        }
    }

    /// Adds one.
    pub(super) fn record_duration(&mut self, duration: Duration) {
        self.record(duration.as_nanos().try_into().unwrap_or(u64::MAX));
    }

    /// Adds all of `other`.
    pub(super) fn add(&mut self, other: &Self) {
        if let (Some(histogram), Some(other)) = (&mut self.0, &other.0) {
            // Same bounds, so nothing can be out of them.
            histogram.add(other).ok();
        }
    }

    /// What is told of them; `None` if there are none.
    pub(super) fn percentiles(&self) -> Option<Percentiles> {
        let histogram = self.0.as_ref().filter(|histogram| !histogram.is_empty())?;
        let at = |quantile| Duration::from_nanos(histogram.value_at_quantile(quantile));
        Some(Percentiles {
            count: histogram.len(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: at(1.0),
        })
    }
}

/// How long it took for most, and at worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Percentiles {
    pub(super) count: u64,
    pub(super) p50: Duration,
    pub(super) p90: Duration,
    pub(super) p99: Duration,
    pub(super) p999: Duration,
    pub(super) max: Duration,
}

impl Percentiles {
    /// For programs, in microseconds.
    pub(super) fn json(&self) -> Value {
        let micros = |duration: Duration| (duration.as_nanos() as f64 / 100.0).round() / 10.0;
        json!({
            "count": self.count,
            "p50": micros(self.p50),
            "p90": micros(self.p90),
            "p99": micros(self.p99),
            "p999": micros(self.p999),
            "max": micros(self.max),
        })
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let parts = [
            ("p50", self.p50),
            ("p90", self.p90),
            ("p99", self.p99),
            ("p99.9", self.p999),
            ("max", self.max),
        ];
        let told = parts.map(|(name, value)| format!("{name} {}", duration(value)));
        told.join("  ")
    }
}

/// A duration with three digits and the unit that fits: `870 µs`, `2.90 ms`, `1.25 s`.
pub(super) fn duration(duration: Duration) -> String {
    let micros = duration.as_nanos() as f64 / 1e3;
    let (value, unit) = match micros {
        ..1e3 => (micros, "µs"),
        1e3..1e6 => (micros / 1e3, "ms"),
        _ => (micros / 1e6, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// A number of bytes with three digits and the unit that fits, by powers of ten.
pub(super) fn bytes(bytes: f64) -> String {
    let (value, unit) = match bytes.abs() {
        ..1e3 => (bytes, "B"),
        1e3..1e6 => (bytes / 1e3, "KB"),
        1e6..1e9 => (bytes / 1e6, "MB"),
        _ => (bytes / 1e9, "GB"),
    };
    format!("{} {unit}", digits(value))
}

/// A number with three digits, or with all before the point.
pub(super) fn digits(value: f64) -> String {
    match value.abs() {
        ..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_values_to_a_thousandth() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.percentiles(), None);
        for micros in 1..=1000 {
            latencies.record_duration(Duration::from_micros(micros));
        }
        let told = latencies.percentiles().unwrap();
        assert_eq!(told.count, 1000);
        for (value, micros) in [
            (told.p50, 500),
            (told.p90, 900),
            (told.p99, 990),
            (told.p999, 999),
            (told.max, 1000),
        ] {
            let wanted = Duration::from_micros(micros);
            assert!(
                value.abs_diff(wanted) <= wanted / 500,
                "{value:?} is not {wanted:?}"
            );
        }
    }

    #[test]
    fn values_out_of_bounds_count_as_the_bound() {
        let mut latencies = Latencies::default();
        latencies.record(0);
        latencies.record(u64::MAX);
        let told = latencies.percentiles().unwrap();
        assert_eq!(told.count, 2);
        assert!(told.max >= Duration::from_mins(10));
        assert!(told.p50 <= Duration::from_micros(2));
    }

    #[test]
    fn sums_hold_both_parts() {
        let (mut one, mut other) = (Latencies::default(), Latencies::default());
        one.record(5_000_000);
        other.record(1_000_000_000);
        one.add(&other);
        let told = one.percentiles().unwrap();
        assert_eq!(told.count, 2);
        assert!(told.max >= Duration::from_secs(1));
    }

    #[test]
    fn numbers_are_told_with_the_unit_that_fits() {
        assert_eq!(duration(Duration::from_nanos(870_400)), "870 µs");
        assert_eq!(duration(Duration::from_micros(2_904)), "2.90 ms");
        assert_eq!(duration(Duration::from_millis(61_250)), "61.2 s");
        assert_eq!(bytes(12.0), "12.0 B");
        assert_eq!(bytes(45_900.0), "45.9 KB");
        assert_eq!(bytes(-2_500_000.0), "-2.50 MB");
    }
}
