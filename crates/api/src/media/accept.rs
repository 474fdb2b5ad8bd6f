//! [`Accept`]: the header of that name, most wanted first.

/// Most entries that are read: a guess far above any client's.
const CLAUSES_MAX: usize = 64;
/// Longest header that is read.
const ACCEPT_BYTES_MAX: usize = 16 * 1024;

/// What a client accepts, most wanted first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accept {
    /// The bare types in the order of the header, for the router.
    types: Vec<String>,
    clauses: Vec<Clause>,
}

/// One entry of the header.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clause {
    kind: String,
    subtype: String,
    quality: f32,
    parameters: Vec<(String, String)>,
}

impl Accept {
    /// Reads the header; none and an empty one accept everything. What is malformed or beyond the
    /// limits is left out.
    pub fn parse(header: Option<&str>) -> Self {
        let header = header.unwrap_or_default();
        if header.is_empty() || header.len() > ACCEPT_BYTES_MAX {
            return Self::default();
        }
        let parts = || header.split(',').take(CLAUSES_MAX);
        let bare = |part: &str| part.split(';').next().unwrap_or_default().trim().to_owned();
        let mut clauses = Vec::new();
        for clause in parts().filter_map(Clause::parse) {
            // Insertion as upstream sorts: entries move forward past less wanted ones.
            let behind = clauses
                .iter()
                .rev()
                .take_while(|other| clause.before(other))
                .count();
            clauses.insert(clauses.len() - behind, clause);
        }
        Self {
            types: parts().map(bare).collect(),
            clauses,
        }
    }

    /// Was there no header?
    pub(super) fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    pub(super) fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// Does the router of the built-in resources let it through? It knows `*/*` and exact types.
    pub(super) fn passes_router(&self) -> bool {
        const PASSING: [&str; 4] = [
            "*/*",
            "application/json",
            "application/yaml",
            "application/vnd.kubernetes.protobuf",
        ];
        self.is_empty()
            || self
                .types
                .iter()
                .any(|kind| PASSING.contains(&kind.as_str()))
    }
}

impl Clause {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';');
        let range: Vec<&str> = parts
            .next()
            .unwrap_or_default()
            .split('/')
            .map(str::trim)
            .collect();
        let (kind, subtype) = match range.as_slice() {
            ["*"] => ("*", "*"),
            [kind, subtype] => (*kind, *subtype),
            _ => return None,
        };
        let mut clause = Self {
            kind: kind.to_owned(),
            subtype: subtype.to_owned(),
            quality: 1.0,
            parameters: Vec::new(),
        };
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match (name.trim(), value.trim()) {
                ("q", value) => clause.quality = value.parse().unwrap_or(0.0),
                (name, value) => clause.parameters.push((name.to_owned(), value.to_owned())),
            }
        }
        Some(clause)
    }

    /// Is it more wanted than `other`: better, or less of a wildcard?
    fn before(&self, other: &Self) -> bool {
        self.quality > other.quality
            || (self.kind != "*" && other.kind == "*")
            || (self.subtype != "*" && other.subtype == "*")
    }

    pub(super) fn covers(&self, kind: &str, subtype: &str) -> bool {
        match (self.kind.as_str(), self.subtype.as_str()) {
            ("*", "*") => true,
            (k, "*") => k == kind,
            (k, s) => k == kind && s == subtype,
        }
    }

    /// The value of a parameter; the last one counts.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters
            .iter()
            .rev()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// `as`, `g` and `v`, if there is one of them.
    pub(super) fn conversion(&self) -> Option<(&str, &str, &str)> {
        let [kind, group, version] = ["as", "g", "v"].map(|name| self.parameter(name));
        if kind.is_none() && group.is_none() && version.is_none() {
            return None;
        }
        Some((
            kind.unwrap_or_default(),
            group.unwrap_or_default(),
            version.unwrap_or_default(),
        ))
    }
}
