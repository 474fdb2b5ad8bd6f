//! Requests that are answered at once: creates, gets, lists.

use super::{Bench, BenchError, Job, Load, Objects, Report};
use crate::bench::args::{CreateArgs, GetArgs, ListArgs};
use crate::bench::load::Loaded;
use crate::bench::objects::Kind;
use crate::bench::processes::{Cost, Meter};

/// Durable creates.
pub(crate) async fn create(bench: &Bench, args: &CreateArgs) -> Result<Report, BenchError> {
    let objects = Objects::new(&bench.namespace, Kind::ConfigMap, args.bytes);
    let load = Load {
        job: Job::Create { objects, stride: 1 },
        calls: args.objects,
        clients: args.clients,
        done: bench.phase("creates", args.objects),
    };
    let (loaded, cost) = measure(bench, load).await?;
    let mut report = Report::new("create");
    report.value("clients", "clients", args.clients);
    report.value("objectBytes", "payload bytes", args.bytes);
    report.part("created", "created", loaded.good, args.objects);
    requests(&mut report, &loaded, cost.as_ref(), "Create");
    Ok(report)
}

/// Reads of one object.
pub(crate) async fn get(bench: &Bench, args: &GetArgs) -> Result<Report, BenchError> {
    let objects = Objects::new(&bench.namespace, Kind::ConfigMap, args.bytes);
    bench.prepare(&objects, 1, 1).await?;
    let load = Load {
        job: Job::Get {
            path: objects.path_of(0),
        },
        calls: args.requests,
        clients: args.clients,
        done: bench.phase("gets", args.requests),
    };
    let (loaded, cost) = measure(bench, load).await?;
    let mut report = Report::new("get");
    report.value("clients", "clients", args.clients);
    report.value("objectBytes", "payload bytes", args.bytes);
    report.part("answered", "answered", loaded.good, args.requests);
    requests(&mut report, &loaded, cost.as_ref(), "Get");
    Ok(report)
}

/// Lists of many objects.
pub(crate) async fn list(bench: &Bench, args: &ListArgs) -> Result<Report, BenchError> {
    let objects = Objects::new(&bench.namespace, Kind::ConfigMap, args.bytes);
    bench.prepare(&objects, args.objects, 1).await?;
    let load = Load {
        job: Job::List {
            path: objects.path().to_owned(),
            objects: args.objects,
            limit: args.limit,
        },
        calls: args.times,
        clients: args.clients,
        done: bench.phase("lists", args.times),
    };
    let (loaded, cost) = measure(bench, load).await?;
    let mut report = Report::new("list");
    report.value("clients", "clients", args.clients);
    report.value("objects", "objects a list", args.objects);
    report.value("objectBytes", "payload bytes", args.bytes);
    report.value("limit", "objects a page", args.limit);
    report.part("listed", "lists", loaded.good, args.times);
    let bytes = loaded.bytes as f64 / (loaded.good.max(1)) as f64;
    report.bytes("listBytes", "bytes a list", bytes);
    requests(&mut report, &loaded, cost.as_ref(), "List");
    Ok(report)
}

async fn measure(bench: &Bench, load: Load) -> Result<(Loaded, Option<Cost>), BenchError> {
    let ready = load.connect(&bench.client).await;
    let ready = ready.map_err(|source| BenchError::Setup {
        what: "connect the clients",
        source,
    })?;
    let meter = Meter::begin(bench.processes.as_ref())?;
    let loaded = ready.run().await;
    Ok((loaded, meter.cost()?))
}

/// What is told of all of them.
fn requests(report: &mut Report, loaded: &Loaded, cost: Option<&Cost>, unit: &str) {
    let seconds = loaded.elapsed.as_secs_f64();
    report.value(
        "elapsedMillis",
        "elapsed ms",
        loaded.elapsed.as_millis() as u64,
    );
    report.rate("perSecond", "rate", loaded.good, seconds);
    report.latency("latencyMicros", "latency", loaded.latencies.percentiles());
    report.cost(cost, &[(unit, loaded.good)]);
    report.faults(&loaded.faults);
}
