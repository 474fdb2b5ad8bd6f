//! [`FieldError`]: what is wrong with one field, in upstream's words.

use std::fmt;

use serde_json::Value;

use super::StatusCause;
use crate::text::{go_quote, json_text};

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// In which way it is wrong.
    pub kind: FieldErrorKind,
    /// Which field, e.g. `spec.ports[0].port`; empty prints as `<nil>`.
    pub field: String,
    /// The wrong value, where the message shows it (`Null` is shown as `null`).
    pub value: Option<Value>,
    /// More words; may be empty.
    pub detail: String,
}

/// In which way a field is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldErrorKind {
    /// It must be there.
    Required,
    /// Its value is malformed.
    Invalid,
    /// Its value is none of the known ones.
    NotSupported,
    /// It must not be there, or not be changed.
    Forbidden,
    /// Its value is there twice.
    Duplicate,
    /// Its value is too long.
    TooLong,
    /// What it names does not exist.
    NotFound,
    /// It could not be checked.
    InternalError,
    /// Its value has the wrong type.
    TypeInvalid,
}

impl FieldErrorKind {
    /// The word in a cause's `reason`.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Forbidden => "FieldValueForbidden",
            Self::Duplicate => "FieldValueDuplicate",
            Self::TooLong => "FieldValueTooLong",
            Self::NotFound => "FieldValueNotFound",
            Self::InternalError => "InternalError",
            Self::TypeInvalid => "FieldValueTypeInvalid",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::Forbidden => "Forbidden",
            Self::Duplicate => "Duplicate value",
            Self::TooLong => "Too long",
            Self::NotFound => "Not found",
            Self::InternalError => "Internal error",
        }
    }

    const fn shows_value(self) -> bool {
        !matches!(
            self,
            Self::Required | Self::Forbidden | Self::TooLong | Self::InternalError
        )
    }
}

impl FieldError {
    /// Any of them.
    pub fn new(
        kind: FieldErrorKind,
        field: impl Into<String>,
        value: Option<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            field: field.into(),
            value,
            detail: detail.into(),
        }
    }

    /// The field must be there.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Required, field, None, detail)
    }

    /// The value is malformed.
    pub fn invalid(
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(FieldErrorKind::Invalid, field, Some(value.into()), detail)
    }

    /// The field must not be there, or not be changed.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(FieldErrorKind::Forbidden, field, None, detail)
    }

    /// The value is none of `supported`, which are printed in this order.
    pub fn not_supported(
        field: impl Into<String>,
        value: impl Into<Value>,
        supported: &[&str],
    ) -> Self {
        let quoted: Vec<String> = supported.iter().map(|value| go_quote(value)).collect();
        let detail = if quoted.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", quoted.join(", "))
        };
        Self::new(
            FieldErrorKind::NotSupported,
            field,
            Some(value.into()),
            detail,
        )
    }

    /// The value is there twice.
    pub fn duplicate(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(FieldErrorKind::Duplicate, field, Some(value.into()), "")
    }

    /// What the value names does not exist.
    pub fn not_found(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(FieldErrorKind::NotFound, field, Some(value.into()), "")
    }

    /// The value is longer than `bytes_max`.
    pub fn too_long(field: impl Into<String>, bytes_max: usize) -> Self {
        let detail = format!("may not be more than {bytes_max} bytes");
        Self::new(FieldErrorKind::TooLong, field, None, detail)
    }

    /// The message without the field, as a cause has it.
    pub fn body(&self) -> String {
        let mut text = self.kind.words().to_owned();
        if let Some(value) = self.value.as_ref().filter(|_| self.kind.shows_value()) {
            text.push_str(": ");
            match value {
                Value::String(value) => text.push_str(&go_quote(value)),
                value => text.push_str(&json_text(value)),
            }
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }

    /// This error as one cause of a [`super::Status`].
    pub fn cause(&self) -> StatusCause {
        StatusCause {
            reason: self.kind.reason().to_owned(),
            message: self.body(),
            field: self.shown_field().to_owned(),
        }
    }

    /// All of `errors` in one line: one bare, several as `[a, b]`, the same text once.
    pub fn aggregate(errors: &[Self]) -> String {
        let mut texts: Vec<String> = Vec::with_capacity(errors.len());
        for error in errors {
            let text = error.to_string();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        match texts.as_slice() {
            [only] => only.clone(),
            texts => format!("[{}]", texts.join(", ")),
        }
    }

    fn shown_field(&self) -> &str {
        if self.field.is_empty() {
            "<nil>"
        } else {
            &self.field
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.shown_field(), self.body())
    }
}
