//! [`Processes`]: CPU time and memory of the server's processes, read from `/proc`. The load is
//! another process: what it uses itself is in none of these figures.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// More processes than this are no server.
const PIDS_MAX: usize = 64;
/// The clock ticks may be off by so many, against the scheduler's nanoseconds.
const TICKS_SLACK: u64 = 2;

/// The server's processes.
#[derive(Clone, Debug)]
pub(super) struct Processes {
    pids: Vec<u32>,
    tick: Duration,
}

/// Why the cost cannot be told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    #[error("--pids: no process {pid} ({source})")]
    Gone { pid: u32, source: io::Error },
    #[error("--pids: {pid} is this bench itself, whose cost is not the server's")]
    Itself { pid: u32 },
    #[error("--pids: more than {PIDS_MAX} processes")]
    TooMany,
    #[error("cannot make sense of {}", path.display())]
    Format { path: PathBuf },
}

/// What the processes had used at one moment.
#[derive(Clone, Debug)]
struct Sample {
    at: Instant,
    usage: Vec<Usage>,
}

/// CPU time in the two ways in which the kernel tells it, and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Usage {
    /// In clock ticks; with the threads that have ended.
    ticked: Duration,
    /// To the nanosecond; of the threads that live.
    scheduled: Option<Duration>,
    resident_bytes: u64,
}

/// What the processes used between two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) cpu: Duration,
    pub(super) wall: Duration,
    pub(super) resident_before_bytes: u64,
    pub(super) resident_after_bytes: u64,
}

/// A measure that has begun.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    processes: Option<Processes>,
    before: Option<Sample>,
}

impl Processes {
    /// Those with these numbers, none of which may be this process.
    pub(super) fn new(pids: &[u32]) -> Result<Self, ProcessError> {
        if pids.len() > PIDS_MAX {
            return Err(ProcessError::TooMany);
        }
        let mut pids = pids.to_owned();
        pids.sort_unstable();
        pids.dedup();
        let own = std::process::id();
        if pids.contains(&own) {
            return Err(ProcessError::Itself { pid: own });
        }
        let ticks = rustix::param::clock_ticks_per_second().max(1);
        let processes = Self {
            pids,
            tick: Duration::from_secs(1) / u32::try_from(ticks).unwrap_or(100),
        };
        processes.sample()?;
        Ok(processes)
    }

    /// Whether one of them may run on a processor on which this process may.
    pub(super) fn share_processors(&self) -> bool {
        let own = allowed("self");
        let of = |pid: &u32| allowed(&pid.to_string());
        self.pids.iter().any(|pid| overlap(&own, &of(pid)))
    }

    fn sample(&self) -> Result<Sample, ProcessError> {
        let usage = self.pids.iter().map(|pid| self.usage(*pid));
        Ok(Sample {
            at: Instant::now(),
            usage: usage.collect::<Result<_, _>>()?,
        })
    }

    fn usage(&self, pid: u32) -> Result<Usage, ProcessError> {
        let read = |name: &str| {
            let path = PathBuf::from(format!("/proc/{pid}/{name}"));
            match fs::read_to_string(&path) {
                Ok(text) => Ok((path, text)),
                Err(source) => Err(ProcessError::Gone { pid, source }),
            }
        };
        let (path, stat) = read("stat")?;
        let ticks = ticks(&stat).ok_or(ProcessError::Format { path })?;
        let (path, status) = read("status")?;
        let resident_bytes = resident(&status).ok_or(ProcessError::Format { path })?;
        Ok(Usage {
            ticked: self.tick * u32::try_from(ticks).unwrap_or(u32::MAX),
            scheduled: scheduled(pid),
            resident_bytes,
        })
    }
}

impl Meter {
    /// Begins with what `processes` have used until now; without processes nothing is told.
    pub(super) fn begin(processes: Option<&Processes>) -> Result<Self, ProcessError> {
        Ok(Self {
            before: processes.map(Processes::sample).transpose()?,
            processes: processes.cloned(),
        })
    }

    /// What they used since.
    pub(super) fn cost(&self) -> Result<Option<Cost>, ProcessError> {
        let (Some(processes), Some(before)) = (&self.processes, &self.before) else {
            return Ok(None);
        };
        let after = processes.sample()?;
        let pairs = || before.usage.iter().zip(&after.usage);
        let slack = processes.tick * TICKS_SLACK as u32;
        Ok(Some(Cost {
            cpu: pairs()
                .map(|(before, after)| spent(before, after, slack))
                .sum(),
            wall: after.at.duration_since(before.at),
            resident_before_bytes: before.usage.iter().map(|usage| usage.resident_bytes).sum(),
            resident_after_bytes: after.usage.iter().map(|usage| usage.resident_bytes).sum(),
        }))
    }
}

/// CPU time between two samples: to the nanosecond, unless threads ended meanwhile and took their
/// count with them, which shows in ticks that are not accounted for.
fn spent(before: &Usage, after: &Usage, slack: Duration) -> Duration {
    let ticked = after.ticked.saturating_sub(before.ticked);
    match (before.scheduled, after.scheduled) {
        (Some(before), Some(after)) => {
            let scheduled = after.saturating_sub(before);
            if ticked > scheduled + slack {
                ticked
            } else {
                scheduled
            }
        }
        _ => ticked,
    }
}

/// User and system time of `/proc/PID/stat`. The name in it may hold anything, so the count starts
/// behind its last bracket.
fn ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    user.checked_add(system)
}

/// Resident memory of `/proc/PID/status`.
fn resident(status: &str) -> Option<u64> {
    let kilobytes = field(status, "VmRSS:")?.split_whitespace().next()?;
    kilobytes.parse::<u64>().ok()?.checked_mul(1024)
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = status.lines();
    lines
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}

/// Time on a processor, of all threads; `None` where the kernel does not tell it.
fn scheduled(pid: u32) -> Option<Duration> {
    let mut nanos = 0_u64;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        match fs::read_to_string(thread.ok()?.path().join("schedstat")) {
            Ok(text) => nanos += text.split_whitespace().next()?.parse::<u64>().ok()?,
            // It ended since the directory was read.
            Err(error) if error.raw_os_error() == Some(ESRCH) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound && nanos > 0 => {}
            Err(_) => return None,
        }
    }
    Some(Duration::from_nanos(nanos))
}

/// "No such process", which reading a file of an ended thread may say.
const ESRCH: i32 = 3;

/// The processors on which a process may run, as the kernel's mask in hex; empty if unknown.
fn allowed(pid: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    field(&status, "Cpus_allowed:")
        .unwrap_or_default()
        .replace(',', "")
}

/// Whether two masks have a processor in common; what is unknown may be anywhere.
fn overlap(one: &str, other: &str) -> bool {
    if one.is_empty() || other.is_empty() {
        return true;
    }
    let digits =
        |mask: &str| -> Vec<u32> { mask.chars().rev().filter_map(|c| c.to_digit(16)).collect() };
    let (one, other) = (digits(one), digits(other));
    one.iter().zip(&other).any(|(one, other)| one & other != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_shift_the_fields() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 9 9 20 0 1 0 5";
        assert_eq!(ticks(stat), Some(300));
        assert_eq!(ticks("7 (a) S 1"), None);
        assert_eq!(ticks(""), None);
    }

    #[test]
    fn resident_memory_is_told_in_kilobytes() {
        assert_eq!(resident("Name:\tx\nVmRSS:\t     12 kB\n"), Some(12 * 1024));
        assert_eq!(resident("Name:\tx\n"), None);
    }

    #[test]
    fn ticks_count_where_threads_took_their_nanoseconds_with_them() {
        let usage = |ticked, scheduled: Option<u64>| Usage {
            ticked: Duration::from_millis(ticked),
            scheduled: scheduled.map(Duration::from_millis),
            resident_bytes: 0,
        };
        let check = |before, after, millis| {
            let spent = spent(&before, &after, Duration::from_millis(20));
            assert_eq!(spent, Duration::from_millis(millis));
        };
        check(usage(0, Some(3)), usage(110, Some(108)), 105);
        check(usage(0, Some(3)), usage(110, Some(23)), 110);
        check(usage(0, None), usage(110, Some(23)), 110);
        check(usage(50, Some(90)), usage(50, Some(40)), 0);
    }

    #[test]
    fn processors_are_compared_from_the_right() {
        assert!(overlap("3", "00000002"));
        assert!(!overlap("1", "2"));
        assert!(!overlap("ff00", "ff"));
        assert!(overlap("", "ff"));
    }

    #[test]
    fn this_process_and_one_that_is_not_are_refused() {
        let own = Processes::new(&[std::process::id()]).unwrap_err();
        assert!(matches!(own, ProcessError::Itself { .. }), "{own}");
        let none = Processes::new(&[u32::MAX]).unwrap_err();
        assert!(matches!(none, ProcessError::Gone { .. }), "{none}");
        let many = Processes::new(&[1; PIDS_MAX + 1]).unwrap_err();
        assert!(matches!(many, ProcessError::TooMany), "{many}");
    }

    #[test]
    fn the_cost_of_a_process_at_rest_is_little() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let processes = Processes::new(&[child.id()]).unwrap();
        let cost = Meter::begin(Some(&processes))
            .unwrap()
            .cost()
            .unwrap()
            .unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(cost.cpu < Duration::from_millis(100), "{cost:?}");
        assert!(cost.resident_after_bytes > 0, "{cost:?}");
        assert!(Meter::begin(None).unwrap().cost().unwrap().is_none());
    }
}
