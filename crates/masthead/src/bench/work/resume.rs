//! Watchers that all come back at once: they were at a version when they were cut, missed some
//! updates, and are live again when they have received them all.

use super::{Bench, BenchError, Fleet, Objects, Report, all_live, everything};
use crate::bench::args::ResumeArgs;
use crate::bench::fleet::Start;
use crate::bench::layout::Seen;
use crate::bench::objects::Kind;
use crate::bench::processes::{Cost, Meter};

/// Writers of the updates that are missed.
const WRITERS: u32 = 4;

/// Opens the watches, cuts them, writes, and opens them again, all at once.
pub(crate) async fn run(bench: &Bench, args: &ResumeArgs) -> Result<Report, BenchError> {
    let streams = bench.streams(args.streams)?;
    let layout = everything(args.watchers, args.writes, WRITERS);
    let objects = Objects::new(&bench.namespace, Kind::ConfigMap, args.bytes);
    bench.prepare_for(&objects, &layout).await?;
    let after = bench.version(objects.path()).await?;
    let path = objects.path().to_owned();
    let before = Fleet::launch(bench.start(&layout, &path, &after, streams));
    all_live(&before).await?;
    drop(before);
    let written = bench.writers(&layout, objects, 0).await?.run().await;

    let meter = Meter::begin(bench.processes.as_ref())?;
    let start = Start {
        live_after: args.writes,
        openings: args.watchers as usize,
        ..bench.start(&layout, &path, &after, streams)
    };
    let fleet = Fleet::launch(start);
    let came = fleet.live().await;
    let cost = meter.cost()?;
    let mut report = Report::new("resume");
    report.value("watchers", "watchers", args.watchers);
    report.value("streams", "streams a connection", streams);
    report.value("missed", "updates missed", args.writes);
    report.value("objectBytes", "payload bytes", args.bytes);
    results(&mut report, &fleet, &layout.expected(), cost.as_ref());
    if !came {
        report.fault("not all watchers are live again".to_owned());
    }
    report.faults(&written.faults);
    report.faults(fleet.faults());
    Ok(report)
}

fn results(report: &mut Report, fleet: &Fleet, expected: &[Seen], cost: Option<&Cost>) {
    let (tally, live) = (fleet.tally(expected), fleet.live_count());
    let wanted = expected.iter().map(|seen| seen.count).sum();
    report.part("resumed", "live again", live, fleet.watchers());
    report.part("delivered", "events", tally.delivered, wanted);
    report.value("watchersWrong", "watchers amiss", tally.wrong);
    let percentiles = tally.lives.percentiles();
    let millis = percentiles.map_or(0, |lives| lives.max.as_millis() as u64);
    report.value("elapsedMillis", "all live, ms", millis);
    report.latency("resumeLatencyMicros", "live again after", percentiles);
    report.cost(cost, &[("Watch", live), ("Event", tally.delivered)]);
    if tally.wrong > 0 {
        report.fault(format!(
            "{} watchers did not see exactly what they missed",
            tally.wrong
        ));
    }
}
