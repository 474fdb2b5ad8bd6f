//! Watchers to whom nothing happens: what each takes of the server's memory and time.

use std::time::Duration;

use tokio::time::sleep;

use super::{Bench, BenchError, Fleet, Objects, Report, all_live, everything};
use crate::bench::args::IdleArgs;
use crate::bench::objects::Kind;
use crate::bench::processes::{Cost, Meter};

/// After the last watch was opened, and after the first.
const SETTLE: Duration = Duration::from_secs(1);

/// Opens the watches and looks at the server, before, after, and while nothing happens.
pub(crate) async fn run(bench: &Bench, args: &IdleArgs) -> Result<Report, BenchError> {
    let streams = bench.streams(args.streams)?;
    let objects = Objects::new(&bench.namespace, Kind::ConfigMap, 0);
    let after = bench.version(objects.path()).await?;
    // What the first watcher brings about is no cost of the others.
    let first = everything(1, 1, 1);
    let first = Fleet::launch(bench.start(&first, objects.path(), &after, streams));
    all_live(&first).await?;
    sleep(SETTLE).await;
    let opening = Meter::begin(bench.processes.as_ref())?;
    let layout = everything(args.watchers, 1, 1);
    let fleet = Fleet::launch(bench.start(&layout, objects.path(), &after, streams));
    all_live(&fleet).await?;
    sleep(SETTLE).await;
    let opened = opening.cost()?;
    let idling = Meter::begin(bench.processes.as_ref())?;
    bench.phase("looking at idle watchers", 0);
    sleep(Duration::from_secs(u64::from(args.seconds))).await;
    let idled = idling.cost()?;
    let mut report = Report::new("idle");
    report.value("watchers", "watchers", args.watchers);
    report.value("streams", "streams a connection", streams);
    report.value("watchersLive", "watchers live", fleet.live_count());
    let lives = fleet.tally(&[]).lives;
    report.latency("openLatencyMicros", "watch open", lives.percentiles());
    costs(
        &mut report,
        f64::from(args.watchers),
        opened.as_ref(),
        idled.as_ref(),
    );
    report.faults(first.faults());
    report.faults(fleet.faults());
    Ok(report)
}

fn costs(report: &mut Report, watchers: f64, opened: Option<&Cost>, idled: Option<&Cost>) {
    if let Some(opened) = opened {
        let (before, after) = (opened.resident_before_bytes, opened.resident_after_bytes);
        let each = (after as f64 - before as f64) / watchers;
        report.bytes("bytesPerWatcher", "memory a watcher", each);
        report.cost(Some(opened), &[("Watch", watchers as u64)]);
    }
    if let Some(idled) = idled {
        let nanos = idled.cpu.as_nanos() as f64 / watchers / idled.wall.as_secs_f64().max(1e-9);
        report.nanos("idleCpuNanosPerWatcherSecond", "CPU a watcher idle", nanos);
    }
}
