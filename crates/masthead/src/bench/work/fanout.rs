//! Updates that many watchers see: each sees all, or each sees those of its own object.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::{Bench, BenchError, Fleet, Layout, Objects, Report, all_live};
use crate::bench::args::{FanoutArgs, Match};
use crate::bench::fleet::Tally;
use crate::bench::objects::POD_BYTES_MAX;
use crate::bench::processes::{Cost, Meter};
use crate::bench::writing::Written;

/// What opening the watches set in motion comes to rest.
const SETTLE: Duration = Duration::from_millis(500);

/// Opens the watches, writes, and waits for all events.
pub(crate) async fn run(bench: &Bench, args: &FanoutArgs) -> Result<Report, BenchError> {
    if args.selection == Match::Node && args.bytes > POD_BYTES_MAX {
        return Err(BenchError::PodBytes {
            bytes: args.bytes,
            max: POD_BYTES_MAX,
        });
    }
    let streams = bench.streams(args.streams)?;
    let (watchers, writers) = (u64::from(args.watchers), u64::from(args.writers));
    let layout = Layout::new(args.selection, watchers, args.writes, writers);
    let objects = Objects::new(&bench.namespace, layout.kind(), args.bytes);
    bench.prepare_for(&objects, &layout).await?;
    let layout = Arc::new(layout);
    let after = bench.version(objects.path()).await?;
    let fleet = Fleet::launch(bench.start(&layout, objects.path(), &after, streams));
    all_live(&fleet).await?;
    let ready = bench.writers(&layout, objects, args.rate).await?;
    sleep(SETTLE).await;
    let meter = Meter::begin(bench.processes.as_ref())?;
    let written = ready.run().await;
    let expected = layout.expected();
    let wanted = expected.iter().map(|seen| seen.count).sum();
    bench.phase("waiting for the last events", 0);
    fleet.delivered(wanted).await;
    let cost = meter.cost()?;
    let tally = fleet.tally(&expected);
    let mut report = Report::new("fanout");
    settings(&mut report, args, streams, layout.objects);
    report.part("written", "updates", written.good, args.writes);
    results(&mut report, &tally, &written, wanted);
    costs(&mut report, cost.as_ref(), &tally, &written);
    report.faults(fleet.faults());
    Ok(report)
}

fn settings(report: &mut Report, args: &FanoutArgs, streams: u32, objects: u64) {
    report.value("watchers", "watchers", args.watchers);
    report.value("match", "match", args.selection.as_str());
    report.value("streams", "streams a connection", streams);
    report.value("objects", "objects", objects);
    report.value("objectBytes", "payload bytes", args.bytes);
    report.value("rateWanted", "updates/s wanted", args.rate);
}

fn results(report: &mut Report, tally: &Tally, written: &Written, wanted: u64) {
    report.part("delivered", "events", tally.delivered, wanted);
    report.value("watchersWrong", "watchers amiss", tally.wrong);
    report.value(
        "elapsedMillis",
        "elapsed ms",
        written.elapsed.as_millis() as u64,
    );
    report.rate(
        "writesPerSecond",
        "updates",
        written.good,
        written.elapsed.as_secs_f64(),
    );
    let nanos = tally.last_nanos.saturating_sub(written.began_nanos);
    report.rate(
        "eventsPerSecond",
        "events",
        tally.delivered,
        nanos as f64 / 1e9,
    );
    report.bytes("eventBytes", "bytes received", tally.bytes as f64);
    report.latency(
        "writeLatencyMicros",
        "update latency",
        written.latencies.percentiles(),
    );
    report.latency(
        "eventLatencyMicros",
        "event latency",
        tally.events.percentiles(),
    );
    report.latency("openLatencyMicros", "watch open", tally.lives.percentiles());
    if tally.wrong > 0 {
        report.fault(format!(
            "{} watchers did not see exactly what they were to see",
            tally.wrong
        ));
    }
}

fn costs(report: &mut Report, cost: Option<&Cost>, tally: &Tally, written: &Written) {
    let units = [("Event", tally.delivered), ("Write", written.good)];
    report.cost(cost, &units);
    report.faults(&written.faults);
}
