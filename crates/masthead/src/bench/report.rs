//! [`Report`]: the results, as a table for people or as one line of JSON for programs.

use serde_json::{Map, Value, json};

use super::faults::Faults;
use super::processes::Cost;
use super::stats::{self, Percentiles};

/// Where the server is, seen from the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On the same machine and the same processors: the load slows it down.
    Shared,
    /// On other processors of the same machine.
    Beside,
    /// On another machine, as far as can be told.
    Elsewhere,
}

/// Which server was measured.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) url: String,
    /// The version that it tells.
    pub(super) version: String,
    pub(super) protocol: &'static str,
    pub(super) place: Place,
}

/// The results of one bench.
#[derive(Debug)]
pub(super) struct Report {
    bench: &'static str,
    rows: Vec<Row>,
    faults: u64,
    told: Vec<String>,
}

#[derive(Debug)]
struct Row {
    label: &'static str,
    text: String,
    members: Vec<(String, Value)>,
}

impl Report {
    /// An empty one.
    pub(super) const fn new(bench: &'static str) -> Self {
        Self {
            bench,
            rows: Vec::new(),
            faults: 0,
            told: Vec::new(),
        }
    }

    fn row(&mut self, label: &'static str, text: String, members: Vec<(String, Value)>) {
        self.rows.push(Row {
            label,
            text,
            members,
        });
    }

    /// A value that people see as it is.
    pub(super) fn value(&mut self, key: &str, label: &'static str, value: impl Into<Value>) {
        let value = value.into();
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        self.row(label, text, vec![(key.to_owned(), value)]);
    }

    /// A value in bytes.
    pub(super) fn bytes(&mut self, key: &str, label: &'static str, bytes: f64) {
        let member = (key.to_owned(), json!(bytes.round()));
        self.row(label, stats::bytes(bytes), vec![member]);
    }

    /// Nanoseconds of CPU time in each second.
    pub(super) fn nanos(&mut self, key: &str, label: &'static str, nanos: f64) {
        let member = (key.to_owned(), json!(rounded(nanos)));
        self.row(
            label,
            format!("{} ns/s", stats::digits(nanos)),
            vec![member],
        );
    }

    /// `done` of `wanted`.
    pub(super) fn part(&mut self, key: &str, label: &'static str, done: u64, wanted: u64) {
        let members = vec![
            (key.to_owned(), json!(done)),
            (format!("{key}Wanted"), json!(wanted)),
        ];
        self.row(label, format!("{done} of {wanted}"), members);
    }

    /// So many a second.
    pub(super) fn rate(&mut self, key: &str, label: &'static str, count: u64, seconds: f64) {
        let rate = count as f64 / seconds.max(1e-9);
        let member = (key.to_owned(), json!(rounded(rate)));
        self.row(label, format!("{}/s", stats::digits(rate)), vec![member]);
    }

    /// Latencies, if there are any.
    pub(super) fn latency(
        &mut self,
        key: &str,
        label: &'static str,
        percentiles: Option<Percentiles>,
    ) {
        if let Some(percentiles) = percentiles {
            let member = (key.to_owned(), percentiles.json());
            self.row(label, percentiles.text(), vec![member]);
        }
    }

    /// What it cost the server, for each unit of work: its name (`Event`) and how many there were.
    pub(super) fn cost(&mut self, cost: Option<&Cost>, units: &[(&str, u64)]) {
        let Some(cost) = cost else {
            return;
        };
        let cores = cost.cpu.as_secs_f64() / cost.wall.as_secs_f64().max(1e-9);
        let mut members = vec![
            ("cpuMicros".to_owned(), json!(cost.cpu.as_micros() as u64)),
            ("cpuCores".to_owned(), json!(rounded(cores))),
        ];
        let mut texts = Vec::new();
        for (unit, count) in units.iter().filter(|(_, count)| *count > 0) {
            let nanos = cost.cpu.as_nanos() as f64 / *count as f64;
            members.push((format!("cpuMicrosPer{unit}"), json!(rounded(nanos / 1e3))));
            let micros = stats::digits(nanos / 1e3);
            texts.push(format!("{micros} µs per {}", unit.to_lowercase()));
        }
        texts.push(format!("{cores:.2} cores busy"));
        self.row("server CPU", texts.join(", "), members);
        let (before, after) = (cost.resident_before_bytes, cost.resident_after_bytes);
        let text = format!(
            "{} before, {} after",
            stats::bytes(before as f64),
            stats::bytes(after as f64)
        );
        let members = vec![
            ("residentBytesBefore".to_owned(), json!(before)),
            ("residentBytesAfter".to_owned(), json!(after)),
        ];
        self.row("server memory", text, members);
    }

    /// What went wrong.
    pub(super) fn faults(&mut self, faults: &Faults) {
        self.faults += faults.count();
        self.told.extend(faults.told());
    }

    /// One more thing that went wrong.
    pub(super) fn fault(&mut self, fault: String) {
        self.faults += 1;
        self.told.push(fault);
    }

    /// Whether nothing went wrong.
    pub(super) const fn is_clean(&self) -> bool {
        self.faults == 0
    }

    /// For programs: one line.
    pub(super) fn json(&self, subject: &Subject) -> String {
        let mut line = Map::new();
        let mut put = |key: &str, value: Value| drop(line.insert(key.to_owned(), value));
        put("bench", json!(self.bench));
        put("url", json!(subject.url));
        put("version", json!(subject.version));
        put("protocol", json!(subject.protocol));
        put("loadSharesMachine", json!(subject.place == Place::Shared));
        for (key, value) in self.rows.iter().flat_map(|row| &row.members) {
            put(key, value.clone());
        }
        put("faults", json!(self.faults));
        put("faultsTold", json!(self.told));
        format!("{}\n", Value::Object(line))
    }

    /// For people.
    pub(super) fn text(&self, subject: &Subject) -> String {
        let head = format!(
            "{}: {}, {}, {}\n",
            self.bench, subject.url, subject.version, subject.protocol
        );
        let mut lines = vec![head];
        let note = match subject.place {
            Place::Shared => "the load shares the machine and its processors with the server",
            Place::Beside => "the load runs on other processors of the same machine",
            Place::Elsewhere => "the server is on another machine, as far as can be told",
        };
        let width = self.rows.iter().map(|row| row.label.len()).max();
        let width = width.unwrap_or_default().max("note".len());
        let mut line = |label: &str, value: &str| {
            lines.push(format!("  {label:width$}  {value}\n"));
        };
        for row in &self.rows {
            line(row.label, &row.text);
        }
        line("note", note);
        line("faults", &self.faults.to_string());
        for fault in &self.told {
            line("", fault);
        }
        lines.concat()
    }
}

/// To three digits behind the point.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn sample() -> (Report, Subject) {
        let mut report = Report::new("fanout");
        report.value("watchers", "watchers", 3);
        report.part("delivered", "delivered", 29, 30);
        report.rate("eventsPerSecond", "events", 30, 2.0);
        let cost = Cost {
            cpu: Duration::from_millis(3),
            wall: Duration::from_secs(2),
            resident_before_bytes: 1_000_000,
            resident_after_bytes: 2_000_000,
        };
        report.cost(Some(&cost), &[("Event", 30), ("Write", 10), ("Nothing", 0)]);
        report.fault("one is missing".to_owned());
        let subject = Subject {
            url: "https://127.0.0.1:1".to_owned(),
            version: "v1".to_owned(),
            protocol: "HTTP/2",
            place: Place::Shared,
        };
        (report, subject)
    }

    #[test]
    fn programs_get_one_line_with_all_figures() {
        let (report, subject) = sample();
        let line = report.json(&subject);
        assert_eq!(line.matches('\n').count(), 1);
        let value: Value = serde_json::from_str(&line).unwrap();
        for (key, wanted) in [
            ("bench", json!("fanout")),
            ("loadSharesMachine", json!(true)),
            ("delivered", json!(29)),
            ("deliveredWanted", json!(30)),
            ("eventsPerSecond", json!(15.0)),
            ("cpuMicrosPerEvent", json!(100.0)),
            ("cpuMicrosPerWrite", json!(300.0)),
            ("residentBytesAfter", json!(2_000_000)),
            ("faults", json!(1)),
        ] {
            assert_eq!(value[key], wanted, "{key}");
        }
        assert!(value.get("cpuMicrosPerNothing").is_none());
        assert!(!report.is_clean());
    }

    #[test]
    fn people_are_told_that_the_load_shares_the_machine() {
        let (report, subject) = sample();
        let text = report.text(&subject);
        for part in [
            "the load shares the machine",
            "29 of 30",
            "100 µs per event, 300 µs per write",
            "1.00 MB before, 2.00 MB after",
            "one is missing",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
