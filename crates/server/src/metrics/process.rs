//! The numbers of the process itself, read when they are asked for.

use std::fmt;
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Ticks a second in `/proc`, the same on every Linux that programs see.
const TICKS: f64 = 100.0;

/// Memory, processor time and open files of this process. Elsewhere than on Linux only the start
/// time is told.
#[derive(Debug)]
pub(super) struct Process {
    started_seconds: f64,
}

impl Process {
    /// A process that starts now.
    pub(super) fn starting() -> Self {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            started_seconds: since.as_secs_f64(),
        }
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let mut gauge = |name: &str, help: &str, value: Option<f64>| -> fmt::Result {
            let Some(value) = value else { return Ok(()) };
            ConstGauge::new(value).encode(encoder.encode_descriptor(
                name,
                help,
                None,
                MetricType::Gauge,
            )?)
        };
        let (rss, virt) = memory().unzip();
        gauge(
            "process_resident_memory_bytes",
            "Memory that is really there",
            rss,
        )?;
        gauge(
            "process_virtual_memory_bytes",
            "Address space that is taken",
            virt,
        )?;
        let start = Some(self.started_seconds);
        gauge(
            "process_start_time_seconds",
            "Start, in seconds since 1970",
            start,
        )?;
        let files = fs::read_dir("/proc/self/fd")
            .ok()
            .map(|dir| dir.count() as f64);
        gauge("process_open_fds", "Open files and sockets", files)?;
        let Some(seconds) = processor_seconds() else {
            return Ok(());
        };
        let help = "Processor time, the kernel's for this process included";
        let counter = ConstCounter::new(seconds);
        let name = "process_cpu_seconds";
        counter.encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)
    }
}

/// Resident and virtual bytes.
fn memory() -> Option<(f64, f64)> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = |name: &str| -> Option<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let number: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some((number * 1024) as f64)
    };
    Some((kilobytes("VmRSS:")?, kilobytes("VmSize:")?))
}

fn processor_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the program's name and may hold anything, brackets too.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((user + system) as f64 / TICKS)
}
