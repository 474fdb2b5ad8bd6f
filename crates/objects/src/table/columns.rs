//! [`Table`]: the columns of one kind, read from `data/columns.json`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cell::Cell;
use super::view::{View, text};
use crate::catalog::{Resource, Wire};
use crate::wire;

const DATA: &str = include_str!("../../data/columns.json");

/// The columns of one kind.
#[derive(Debug, Default)]
pub struct Table {
    definitions: String,
    cells: Vec<Cell>,
    /// Rows of pods say when they are done.
    pods: bool,
}

#[derive(Deserialize)]
struct File<'a> {
    descriptions: Vec<String>,
    #[serde(borrow)]
    tables: BTreeMap<&'a str, Vec<Line<'a>>>,
}

/// Name, type, format, priority, number of the description, expression of the cell.
type Line<'a> = (&'a str, &'a str, &'a str, i32, usize, &'a str);

#[derive(Serialize)]
struct Definition<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    format: &'a str,
    description: &'a str,
    priority: i32,
}

/// All tables, by plural name; the empty name is the table of kinds without own columns.
pub(super) fn read() -> Result<BTreeMap<String, Table>, serde_json::Error> {
    let file: File<'_> = serde_json::from_str(DATA)?;
    let mut tables = BTreeMap::new();
    for (plural, lines) in &file.tables {
        tables.insert(
            (*plural).to_owned(),
            Table::new(plural, lines, &file.descriptions),
        );
    }
    let custom = [
        ("Name", "string", "name", 0, 0, "name"),
        ("Age", "date", "", 0, 1, "age-or-null"),
    ];
    tables.insert(
        CUSTOM.to_owned(),
        Table::new(CUSTOM, &custom, &file.descriptions),
    );
    Ok(tables)
}

/// Key of the table of custom resources without own columns; no plural name has a dot.
const CUSTOM: &str = ".";

impl Table {
    fn new(plural: &str, lines: &[Line<'_>], descriptions: &[String]) -> Self {
        let description = |number: usize| descriptions.get(number).map_or("", String::as_str);
        let definitions: Vec<Definition<'_>> = lines
            .iter()
            .map(|(name, kind, format, priority, number, _)| {
                let description = description(*number);
                Definition {
                    name,
                    kind,
                    format,
                    description,
                    priority: *priority,
                }
            })
            .collect();
        Self {
            definitions: String::from_utf8(wire::to_vec(&definitions)).unwrap_or_default(),
            // A test proves that every expression is known.
            cells: lines
                .iter()
                .filter_map(|line| Cell::parse(line.5))
                .collect(),
            pods: plural == "pods",
        }
    }

    /// The table of a kind: its own, or the one of kinds without own columns.
    pub fn of(resource: &Resource) -> &'static Self {
        static TABLES: LazyLock<BTreeMap<String, Table>> =
            LazyLock::new(|| read().unwrap_or_default());
        static NOTHING: LazyLock<Table> = LazyLock::new(Table::default);
        let own = match resource.wire {
            Wire::Builtin => TABLES
                .get(resource.plural.as_ref())
                .or_else(|| TABLES.get("")),
            Wire::Custom => TABLES.get(CUSTOM),
        };
        own.unwrap_or(&NOTHING)
    }

    /// The column definitions as a JSON array.
    pub fn definitions(&self) -> &str {
        &self.definitions
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn cells(&self, view: &View<'_>) -> Vec<Value> {
        self.cells.iter().map(|cell| cell.value(view)).collect()
    }

    /// The conditions of a row: a pod that has ended says how.
    pub(super) fn conditions(&self, object: &Value) -> Option<&'static str> {
        if !self.pods {
            return None;
        }
        match text(object, "status.phase") {
            "Succeeded" => Some(
                r#"[{"type":"Completed","status":"True","reason":"Succeeded","message":"The pod has completed successfully."}]"#,
            ),
            "Failed" => Some(
                r#"[{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}]"#,
            ),
            _ => None,
        }
    }
}
