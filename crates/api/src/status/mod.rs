//! [`Status`]: how the server says no (and, after a deletion, yes).
//!
//! ```text
//! {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps \"x\" not found",
//!  "reason":"NotFound","details":{"name":"x","kind":"configmaps"},"code":404}
//! ```
//! Members that are empty are left out; `metadata` never is, and `details` may be `{}`.

mod answers;
mod field_error;

use std::borrow::Cow;
use std::fmt::Write as _;

use bytes::Bytes;

use crate::text::json_string;

pub use field_error::{FieldError, FieldErrorKind};

/// An answer that is not an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// The HTTP status; 0 is left out of the body and is sent as 200.
    pub code: u16,
    /// The machine-readable why; may be empty.
    pub reason: Reason,
    /// The human-readable why.
    pub message: String,
    /// What it is about.
    pub details: Option<Box<StatusDetails>>,
    /// `metadata.continue`: where an expired listing may go on.
    pub continue_token: String,
    /// Yes or no.
    pub status: StatusOutcome,
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusOutcome {
    /// Done.
    Success,
    /// Not done.
    Failure,
}

/// The machine-readable why of a [`Status`]: one of the constants, or a word chosen by a webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reason(pub Cow<'static, str>);

/// What a [`Status`] is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusDetails {
    /// The object's name.
    pub name: String,
    /// The API group, empty for the core group.
    pub group: String,
    /// The resource (plural) or, for [`Reason::INVALID`], the kind.
    pub kind: String,
    /// The object's uid.
    pub uid: String,
    /// Single faults.
    pub causes: Vec<StatusCause>,
    /// When to come back; also sent as the header `Retry-After` where above 0.
    pub retry_after_seconds: u32,
}

/// One single fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusCause {
    /// The machine-readable why.
    pub reason: String,
    /// The human-readable why.
    pub message: String,
    /// Which field.
    pub field: String,
}

impl Reason {
    /// 409: the name is taken.
    pub const ALREADY_EXISTS: Self = Self(Cow::Borrowed("AlreadyExists"));
    /// 400
    pub const BAD_REQUEST: Self = Self(Cow::Borrowed("BadRequest"));
    /// 409: not the version that was to be changed.
    pub const CONFLICT: Self = Self(Cow::Borrowed("Conflict"));
    /// 410: the version is no longer there.
    pub const EXPIRED: Self = Self(Cow::Borrowed("Expired"));
    /// 403
    pub const FORBIDDEN: Self = Self(Cow::Borrowed("Forbidden"));
    /// 410
    pub const GONE: Self = Self(Cow::Borrowed("Gone"));
    /// 500
    pub const INTERNAL_ERROR: Self = Self(Cow::Borrowed("InternalError"));
    /// 422
    pub const INVALID: Self = Self(Cow::Borrowed("Invalid"));
    /// 405
    pub const METHOD_NOT_ALLOWED: Self = Self(Cow::Borrowed("MethodNotAllowed"));
    /// 406
    pub const NOT_ACCEPTABLE: Self = Self(Cow::Borrowed("NotAcceptable"));
    /// 404
    pub const NOT_FOUND: Self = Self(Cow::Borrowed("NotFound"));
    /// 413
    pub const REQUEST_ENTITY_TOO_LARGE: Self = Self(Cow::Borrowed("RequestEntityTooLarge"));
    /// 503
    pub const SERVICE_UNAVAILABLE: Self = Self(Cow::Borrowed("ServiceUnavailable"));
    /// 504
    pub const TIMEOUT: Self = Self(Cow::Borrowed("Timeout"));
    /// 429
    pub const TOO_MANY_REQUESTS: Self = Self(Cow::Borrowed("TooManyRequests"));
    /// 401
    pub const UNAUTHORIZED: Self = Self(Cow::Borrowed("Unauthorized"));
    /// 415
    pub const UNSUPPORTED_MEDIA_TYPE: Self = Self(Cow::Borrowed("UnsupportedMediaType"));
    /// No reason: the error had no API status of its own.
    pub const NONE: Self = Self(Cow::Borrowed(""));

    /// The word on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Status {
    /// The body: compact JSON, members in upstream's order, no line feed.
    pub fn to_json(&self) -> Bytes {
        let mut out = String::with_capacity(256 + self.message.len());
        out.push_str(r#"{"kind":"Status","apiVersion":"v1","metadata":{"#);
        let mut metadata = Members {
            out: &mut out,
            first: true,
        };
        metadata.text("continue", &self.continue_token);
        out.push_str(match self.status {
            StatusOutcome::Success => r#"},"status":"Success""#,
            StatusOutcome::Failure => r#"},"status":"Failure""#,
        });
        let mut members = Members {
            out: &mut out,
            first: false,
        };
        members.text("message", &self.message);
        members.text("reason", self.reason.as_str());
        if let Some(details) = &self.details {
            members.name("details");
            details.write(&mut out);
        }
        Members {
            out: &mut out,
            first: false,
        }
        .number("code", self.code.into());
        out.push('}');
        out.into()
    }

    /// The HTTP status of the answer.
    pub fn http_code(&self) -> u16 {
        if self.code == 0 { 200 } else { self.code }
    }

    /// The header `Retry-After`, where there is one.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        self.details
            .as_ref()
            .map(|details| details.retry_after_seconds)
            .filter(|&after| after > 0)
    }
}

impl StatusDetails {
    fn write(&self, out: &mut String) {
        out.push('{');
        let mut members = Members { out, first: true };
        members.text("name", &self.name);
        members.text("group", &self.group);
        members.text("kind", &self.kind);
        members.text("uid", &self.uid);
        if !self.causes.is_empty() {
            members.name("causes");
            for (index, cause) in self.causes.iter().enumerate() {
                members.out.push(if index == 0 { '[' } else { ',' });
                cause.write(members.out);
            }
            members.out.push(']');
        }
        members.number("retryAfterSeconds", self.retry_after_seconds);
        out.push('}');
    }
}

impl StatusCause {
    fn write(&self, out: &mut String) {
        out.push('{');
        let mut members = Members { out, first: true };
        members.text("reason", &self.reason);
        members.text("message", &self.message);
        members.text("field", &self.field);
        out.push('}');
    }
}

/// Writes the members of one JSON object, leaving out the empty ones.
struct Members<'a> {
    out: &'a mut String,
    first: bool,
}

impl Members<'_> {
    fn name(&mut self, name: &str) {
        if !self.first {
            self.out.push(',');
        }
        self.first = false;
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\":");
    }

    fn text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.name(name);
            json_string(self.out, value);
        }
    }

    fn number(&mut self, name: &str, value: u32) {
        if value != 0 {
            self.name(name);
            write!(self.out, "{value}").unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests;
