//! How many durable commits a second the store on disk makes, alone and 64 in a batch, what a put
//! costs in CPU time, how long opening takes and how much memory the store adds.
//!
//! `cargo run --release -p masthead-store --example commit_bench -- [directory] [records]`
#![expect(clippy::print_stdout, reason = "printing is what it is for")]
#![expect(clippy::disallowed_methods, reason = "measuring time is, too")]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use masthead_store::{KeyRange, SpaceGuard, Store, StoreId, Txn};

const VALUE_BYTES: usize = 1024;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let base = args.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let records: usize = args.next().map_or(Ok(100_000), |count| count.parse())?;
    let directory = base.join(format!("masthead-bench-{}", std::process::id()));
    let before = rss_kib()?;
    let mut store = timed_open("open, new", &directory)?;
    println!(
        "{:<28} {:>10} KiB",
        "memory added, new",
        rss_kib()?.saturating_sub(before)
    );
    drop(store);
    store = timed_open("open, empty", &directory)?;
    run(&mut store, "single commits", 3_000, 1)?;
    run(&mut store, "batches of 64", 64 * 300, 64)?;
    run(&mut store, "filling, batches of 512", records, 512)?;
    read(&store)?;
    println!(
        "{:<28} {:>10} KiB",
        "memory added, full",
        rss_kib()?.saturating_sub(before)
    );
    drop(store);
    store = timed_open("open, full", &directory)?;
    println!("{:<28} {:>10} keys", "", store.reader().keys());
    drop(store);
    fs::remove_dir_all(&directory)?;
    Ok(())
}

fn timed_open(what: &str, directory: &Path) -> Result<Store, Box<dyn Error>> {
    let start = Instant::now();
    let store = Store::open_dir(
        directory,
        StoreId(1),
        SpaceGuard::RESERVE_BYTES,
        Duration::ZERO,
    )?;
    println!(
        "{what:<28} {:>10.1} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
    Ok(store)
}

fn run(store: &mut Store, what: &str, puts: usize, batch: usize) -> Result<(), Box<dyn Error>> {
    let value = vec![b'x'; VALUE_BYTES];
    let (start, cpu) = (Instant::now(), cpu_time()?);
    let mut slowest = Duration::ZERO;
    for first in (0..puts).step_by(batch) {
        let put = |n: usize| Txn::put(format!("/registry/{what}/{n:08}"), value.clone());
        let one = Instant::now();
        for result in store.commit((first..first + batch).map(put).collect())? {
            result?;
        }
        slowest = slowest.max(one.elapsed());
    }
    let (wall, cpu) = (
        start.elapsed().as_secs_f64(),
        cpu_time()?.saturating_sub(cpu).as_secs_f64(),
    );
    println!(
        "{what:<28} {:>10.0} puts/s {:>8.1} µs CPU per put {:>8.1} ms slowest",
        puts as f64 / wall,
        cpu * 1e6 / puts as f64,
        slowest.as_secs_f64() * 1e3
    );
    Ok(())
}

fn read(store: &Store) -> Result<(), Box<dyn Error>> {
    let (reader, start, mut pairs) = (store.reader(), Instant::now(), 0);
    let mut rest = KeyRange::all();
    loop {
        let page = reader.page(&rest, None, 500)?;
        pairs += page.kvs.len();
        match page.kvs.last() {
            Some(last) if page.more => rest = rest.after(&last.key),
            _ => break,
        }
    }
    println!(
        "{:<28} {:>10.0} pairs/s",
        "list by pages of 500",
        pairs as f64 / start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// User and system time of this process so far.
fn cpu_time() -> Result<Duration, Box<dyn Error>> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |index: usize| {
        fields
            .get(index)
            .and_then(|field| field.parse::<u64>().ok())
    };
    let ticks = ticks(11).ok_or("no user time")? + ticks(12).ok_or("no system time")?;
    Ok(Duration::from_millis(ticks * 10))
}

fn rss_kib() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .ok_or("no VmRSS")?;
    Ok(line.split_whitespace().next().ok_or("no number")?.parse()?)
}
