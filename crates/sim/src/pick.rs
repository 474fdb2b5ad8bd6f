//! [`Pick`]: what a client selects, with a meaning of its own to compare the selectors' with.

use std::fmt;

use masthead_api::{FieldRequirement, FieldSelector, LabelRequirement, LabelSelector, Selector};

use crate::object::{Content, NODE_FIELD, Place, State, Version};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Any,
    Is(&'static str, &'static str),
    In(&'static str, [&'static str; 2]),
    Not(&'static str, &'static str),
    Has(&'static str),
    HasNot(&'static str),
    Above(&'static str, i64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Any,
    Node(&'static str),
    NotNode(&'static str),
    Name(&'static str),
}

/// A selection of objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    namespace: Option<&'static str>,
    name: Option<&'static str>,
    label: Label,
    field: Field,
}

const ALL: Pick = Pick {
    namespace: None,
    name: None,
    label: Label::Any,
    field: Field::Any,
};

const fn within(namespace: &'static str) -> Pick {
    Pick {
        namespace: Some(namespace),
        ..ALL
    }
}

const fn label(label: Label) -> Pick {
    Pick { label, ..ALL }
}

const fn field(field: Field) -> Pick {
    Pick { field, ..ALL }
}

/// Those that many objects match come first.
const PICKS: [Pick; 21] = [
    ALL,
    label(Label::Not("app", "x")),
    label(Label::In("app", ["x", "y"])),
    field(Field::Node("n1")),
    ALL,
    within("a"),
    within("a-b"),
    within("b"),
    Pick {
        name: Some("1"),
        ..ALL
    },
    Pick {
        name: Some("1"),
        ..within("a")
    },
    Pick {
        name: Some("n1"),
        ..ALL
    },
    field(Field::Name("2")),
    field(Field::Node("")),
    field(Field::NotNode("n2")),
    Pick {
        field: Field::Node("n1"),
        ..within("a")
    },
    label(Label::Is("app", "x")),
    label(Label::Has("tier")),
    label(Label::HasNot("tier")),
    label(Label::Above("tier", 8)),
    Pick {
        label: Label::Is("app", "y"),
        ..within("b")
    },
    Pick {
        label: Label::Is("app", "x"),
        field: Field::Node("n1"),
        ..ALL
    },
];

/// How many selections there are.
pub(crate) const PICKS_LEN: u8 = PICKS.len() as u8;

impl Pick {
    /// The selection with this number.
    pub fn numbered(number: u8) -> Self {
        PICKS.get(usize::from(number)).copied().unwrap_or(ALL)
    }

    /// Is this version of this object selected?
    pub fn matches(&self, place: Place, content: Content) -> bool {
        self.in_scope(place) && self.label(content) && self.field(place, content)
    }

    /// Is this place in the namespace that is asked for, and has it the name?
    pub fn in_scope(&self, place: Place) -> bool {
        let (namespace, name) = parts(place);
        self.namespace.is_none_or(|wanted| wanted == namespace)
            && self.name.is_none_or(|wanted| wanted == name)
    }

    /// Is only the namespace asked for, or not even that? Then lists say how many items remain.
    pub fn is_namespace(&self) -> bool {
        self.name.is_none() && self.label == Label::Any && self.field == Field::Any
    }

    /// The namespace that it is about.
    pub(crate) const fn namespace(&self) -> Option<&'static str> {
        self.namespace
    }

    fn label(&self, content: Content) -> bool {
        match self.label {
            Label::Any => true,
            Label::Is(key, value) => content.label(key) == Some(value),
            Label::In(key, values) => content
                .label(key)
                .is_some_and(|value| values.contains(&value)),
            Label::Not(key, value) => content.label(key) != Some(value),
            Label::Has(key) => content.label(key).is_some(),
            Label::HasNot(key) => content.label(key).is_none(),
            Label::Above(key, bound) => content
                .label(key)
                .and_then(|value| value.parse::<i64>().ok())
                .is_some_and(|value| value > bound),
        }
    }

    fn field(&self, place: Place, content: Content) -> bool {
        match self.field {
            Field::Any => true,
            Field::Node(node) => content.node() == node,
            Field::NotNode(node) => content.node() != node,
            Field::Name(name) => parts(place).1 == name,
        }
    }

    /// The selected part of a state, in the order of keys.
    pub fn select<'a>(
        &'a self,
        storage: u8,
        state: &'a State,
    ) -> impl Iterator<Item = (u8, Version)> + 'a {
        state.iter().zip(0..).filter_map(move |(version, key)| {
            let version = (*version)?;
            self.matches(Place { storage, key }, version.content)
                .then_some((key, version))
        })
    }

    /// The same in the words of the API.
    pub fn selector(&self) -> Selector {
        let labels = match self.label {
            Label::Any => Vec::new(),
            Label::Is(key, value) => vec![LabelRequirement::In {
                key: key.to_owned(),
                values: vec![value.to_owned()],
            }],
            Label::In(key, values) => vec![LabelRequirement::In {
                key: key.to_owned(),
                values: values.iter().map(|value| (*value).to_owned()).collect(),
            }],
            Label::Not(key, value) => vec![LabelRequirement::NotIn {
                key: key.to_owned(),
                values: vec![value.to_owned()],
            }],
            Label::Has(key) => vec![LabelRequirement::Exists {
                key: key.to_owned(),
            }],
            Label::HasNot(key) => vec![LabelRequirement::DoesNotExist {
                key: key.to_owned(),
            }],
            Label::Above(key, bound) => vec![LabelRequirement::GreaterThan {
                key: key.to_owned(),
                bound,
            }],
        };
        Selector {
            namespace: self.namespace.map(str::to_owned),
            name: self.name.map(str::to_owned),
            labels: LabelSelector(labels),
            fields: FieldSelector(self.field_requirements()),
        }
    }

    fn field_requirements(&self) -> Vec<FieldRequirement> {
        let equals = |path: &str, value: &str| FieldRequirement::Equals {
            path: path.to_owned(),
            value: value.to_owned(),
        };
        match self.field {
            Field::Any => Vec::new(),
            Field::Node(node) => vec![equals(NODE_FIELD, node)],
            Field::NotNode(node) => vec![FieldRequirement::NotEquals {
                path: NODE_FIELD.to_owned(),
                value: node.to_owned(),
            }],
            Field::Name(name) => vec![equals("metadata.name", name)],
        }
    }
}

impl fmt::Debug for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let selector = self.selector();
        let or = |text: Option<String>| text.unwrap_or("*".to_owned());
        write!(
            f,
            "[{}/{} {} {}]",
            or(selector.namespace),
            or(selector.name),
            selector.labels,
            selector.fields
        )
    }
}

fn parts(place: Place) -> (&'static str, &'static str) {
    place.text().split_once('/').unwrap_or(("", place.text()))
}
