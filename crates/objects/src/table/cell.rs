//! [`Cell`]: what one column shows of an object, as written in `data/columns.json`.
//!
//! | expression | cell |
//! |---|---|
//! | `name`, `age`, `created` | the usual ones; `age-or-null` for a custom resource |
//! | `text PATH DEFAULT` | a string, or the default |
//! | `int PATH`, `flag PATH` | a number or 0, a bool or false |
//! | `bool PATH` | `True`, `False` or `<unset>` |
//! | `count PATH…` | how many items they hold together |
//! | `ratio PATH PATH` | `1/3` |
//! | `names PATH MEMBER`, `join PATH` | the members (or items) of a list with commas |
//! | `map PATH`, `selector PATH` | `k=v,…` or `<none>` |
//! | `ago PATH DEFAULT`, `modes PATH` | an age, access modes in short |
//! | any other word and its argument | a function of `special.rs` |

use serde_json::Value;

use super::age;
use super::selector;
use super::special::{self, Special};
use super::view::{View, flag, or, plain, text};

/// How to make a cell.
#[derive(Debug)]
pub(super) enum Cell {
    Name,
    Age,
    AgeOrNull,
    Created,
    Text { path: Box<str>, default: Box<str> },
    Int(Box<str>),
    Flag(Box<str>),
    Bool(Box<str>),
    Count(Box<[Box<str>]>),
    Ratio(Box<str>, Box<str>),
    Names { path: Box<str>, member: Box<str> },
    Join(Box<str>),
    Map(Box<str>),
    Selector(Box<str>),
    Ago { path: Box<str>, default: Box<str> },
    Modes(Box<str>),
    Special { make: Special, argument: Box<str> },
}

impl Cell {
    /// The cell that an expression means; `None` for an unknown word.
    pub(super) fn parse(expression: &str) -> Option<Self> {
        let mut words = expression.split(' ');
        let word = words.next().unwrap_or_default();
        let mut next = || Box::<str>::from(words.next().unwrap_or_default());
        Some(match word {
            "name" => Self::Name,
            "age" => Self::Age,
            "age-or-null" => Self::AgeOrNull,
            "created" => Self::Created,
            "text" => Self::Text {
                path: next(),
                default: next(),
            },
            "int" => Self::Int(next()),
            "flag" => Self::Flag(next()),
            "bool" => Self::Bool(next()),
            "count" => Self::Count(words.map(Box::from).collect()),
            "ratio" => Self::Ratio(next(), next()),
            "names" => Self::Names {
                path: next(),
                member: next(),
            },
            "join" => Self::Join(next()),
            "map" => Self::Map(next()),
            "selector" => Self::Selector(next()),
            "ago" => Self::Ago {
                path: next(),
                default: next(),
            },
            "modes" => Self::Modes(next()),
            other => Self::Special {
                make: special::named(other)?,
                argument: next(),
            },
        })
    }

    /// The cell's value for one object.
    pub(super) fn value(&self, view: &View<'_>) -> Value {
        match self {
            Self::Name => view.text("metadata.name").into(),
            Self::Age => view
                .ago("metadata.creationTimestamp")
                .unwrap_or_else(|| age::UNKNOWN.to_owned())
                .into(),
            Self::AgeOrNull => view.ago("metadata.creationTimestamp").into(),
            Self::Created => view
                .get("metadata.creationTimestamp")
                .cloned()
                .unwrap_or(Value::Null),
            Self::Text { path, default } => {
                let found = view.get(path).map(plain).unwrap_or_default();
                or(&found, default).into()
            }
            Self::Int(path) => view.int(path).into(),
            Self::Flag(path) => flag(view.object, path).into(),
            Self::Bool(path) => match view.get(path).and_then(Value::as_bool) {
                Some(true) => "True".into(),
                Some(false) => "False".into(),
                None => "<unset>".into(),
            },
            Self::Count(paths) => paths
                .iter()
                .map(|path| size(view.get(path)))
                .sum::<usize>()
                .into(),
            Self::Ratio(part, whole) => format!("{}/{}", view.int(part), view.int(whole)).into(),
            Self::Names { path, member } => {
                joined(view.list(path), |item| text(item, member).to_owned()).into()
            }
            Self::Join(path) => joined(view.list(path), plain).into(),
            Self::Map(path) => selector::of_map(view.map(path)).into(),
            Self::Selector(path) => selector::of_selector(view.get(path)).into(),
            Self::Ago { path, default } => match view.ago(path) {
                Some(age) => age.into(),
                None if view.text(path).is_empty() => default.as_ref().into(),
                None => age::UNKNOWN.into(),
            },
            Self::Modes(path) => special::access_modes(view.list(path)).into(),
            Self::Special { make, argument } => make(view, argument),
        }
    }
}

fn joined(items: &[Value], word: impl Fn(&Value) -> String) -> String {
    items.iter().map(word).collect::<Vec<_>>().join(",")
}

fn size(value: Option<&Value>) -> usize {
    match value {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(members)) => members.len(),
        _ => 0,
    }
}
