//! The answers there are, each with upstream's words.

use super::{FieldError, Reason, Status, StatusCause, StatusDetails, StatusOutcome};
use crate::text::go_quote;

/// `resource` or `resource.group`.
fn qualified(group: &str, resource: &str) -> String {
    if group.is_empty() {
        resource.to_owned()
    } else {
        format!("{resource}.{group}")
    }
}

fn about(group: &str, resource: &str, name: &str) -> StatusDetails {
    StatusDetails {
        name: name.to_owned(),
        group: group.to_owned(),
        kind: resource.to_owned(),
        ..StatusDetails::default()
    }
}

impl Status {
    /// A failure without details.
    pub fn failure(code: u16, reason: Reason, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: None,
            continue_token: String::new(),
            status: StatusOutcome::Failure,
        }
    }

    /// This answer with these details.
    #[must_use]
    pub fn with_details(mut self, details: StatusDetails) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// This answer with `cause` added to its details.
    #[must_use]
    pub fn with_cause(mut self, cause: StatusCause) -> Self {
        self.details.get_or_insert_default().causes.push(cause);
        self
    }

    /// This answer with a token with which an expired listing may go on.
    #[must_use]
    pub fn with_continue(mut self, token: impl Into<String>) -> Self {
        self.continue_token = token.into();
        self
    }

    /// 404: no such object. `resource` is the plural.
    pub fn not_found(group: &str, resource: &str, name: &str) -> Self {
        let message = format!(
            "{} {} not found",
            qualified(group, resource),
            go_quote(name)
        );
        Self::failure(404, Reason::NOT_FOUND, message).with_details(about(group, resource, name))
    }

    /// 404: no such path.
    pub fn not_found_path() -> Self {
        Self::failure(
            404,
            Reason::NOT_FOUND,
            "the server could not find the requested resource",
        )
        .with_details(StatusDetails::default())
    }

    /// 409: the name is taken.
    pub fn already_exists(group: &str, resource: &str, name: &str) -> Self {
        let message = format!(
            "{} {} already exists",
            qualified(group, resource),
            go_quote(name)
        );
        Self::failure(409, Reason::ALREADY_EXISTS, message)
            .with_details(about(group, resource, name))
    }

    /// 409: the name is taken by an object that is being deleted.
    pub fn already_exists_terminating(group: &str, resource: &str, name: &str) -> Self {
        let mut status = Self::already_exists(group, resource, name);
        status.message.insert_str(0, "object is being deleted: ");
        status
    }

    /// 409: the write does not fit the stored object.
    pub fn conflict(group: &str, resource: &str, name: &str, detail: &str) -> Self {
        let what = qualified(group, resource);
        let message = format!(
            "Operation cannot be fulfilled on {what} {}: {detail}",
            go_quote(name)
        );
        Self::failure(409, Reason::CONFLICT, message).with_details(about(group, resource, name))
    }

    /// 409: the write is for another version than the stored one.
    pub fn conflict_modified(group: &str, resource: &str, name: &str) -> Self {
        let detail = "the object has been modified; please apply your changes to the latest \
                      version and try again";
        Self::conflict(group, resource, name, detail)
    }

    /// 422: fields are wrong. `kind` is the kind's name, not the resource.
    pub fn invalid(group: &str, kind: &str, name: &str, errors: &[FieldError]) -> Self {
        let mut message = format!("{} {} is invalid", qualified(group, kind), go_quote(name));
        if !errors.is_empty() {
            message.push_str(": ");
            message.push_str(&FieldError::aggregate(errors));
        }
        let causes = errors.iter().map(FieldError::cause).collect();
        Self::failure(422, Reason::INVALID, message).with_details(StatusDetails {
            causes,
            ..about(group, kind, name)
        })
    }

    /// 400
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::failure(400, Reason::BAD_REQUEST, message)
    }

    /// 401
    pub fn unauthorized() -> Self {
        Self::failure(401, Reason::UNAUTHORIZED, "Unauthorized")
    }

    /// 403. `name` may be empty; an empty `resource` is a path that is no resource.
    pub fn forbidden(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let message = if resource.is_empty() {
            format!("forbidden: {why}")
        } else if name.is_empty() {
            format!("{} is forbidden: {why}", qualified(group, resource))
        } else {
            format!(
                "{} {} is forbidden: {why}",
                qualified(group, resource),
                go_quote(name)
            )
        };
        Self::failure(403, Reason::FORBIDDEN, message).with_details(about(group, resource, name))
    }

    /// 405: no route for this method.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::failure(405, Reason::METHOD_NOT_ALLOWED, message)
            .with_details(StatusDetails::default())
    }

    /// 405: the resource does not support the verb `action`.
    pub fn method_not_supported(group: &str, resource: &str, action: &str) -> Self {
        let what = go_quote(&qualified(group, resource));
        let message = format!("{action} is not supported on resources of kind {what}");
        Self::failure(405, Reason::METHOD_NOT_ALLOWED, message)
            .with_details(about(group, resource, ""))
    }

    /// 406 with the given words.
    pub fn not_acceptable(message: impl Into<String>) -> Self {
        Self::failure(406, Reason::NOT_ACCEPTABLE, message)
    }

    /// 415 with the given words.
    pub fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self::failure(415, Reason::UNSUPPORTED_MEDIA_TYPE, message)
    }

    /// 413: the body is larger than `limit_bytes`.
    pub fn request_entity_too_large(limit_bytes: u64) -> Self {
        let message = format!("Request entity too large: limit is {limit_bytes}");
        Self::failure(413, Reason::REQUEST_ENTITY_TOO_LARGE, message)
    }

    /// 410, reason Expired, with the given words.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::failure(410, Reason::EXPIRED, message)
    }

    /// 410: a watch after `wanted`, of which the oldest version still accepted is `oldest`.
    pub fn too_old_resource_version(wanted: u64, oldest: u64) -> Self {
        Self::expired(format!("too old resource version: {wanted} ({oldest})"))
    }

    /// 410, reason Gone, with the given words.
    pub fn gone(message: impl Into<String>) -> Self {
        Self::failure(410, Reason::GONE, message)
    }

    /// 504: the version asked for has not come to pass.
    pub fn too_large_resource_version(
        wanted: u64,
        current: u64,
        retry_after_seconds: Option<u32>,
    ) -> Self {
        let what = format!("Too large resource version: {wanted}, current: {current}");
        Self::timeout(&what, retry_after_seconds.unwrap_or_default()).with_cause(StatusCause {
            reason: "ResourceVersionTooLarge".to_owned(),
            message: "Too large resource version".to_owned(),
            field: String::new(),
        })
    }

    /// 504: `Timeout: ` and the given words; 0 seconds say nothing of coming back.
    pub fn timeout(what: &str, retry_after_seconds: u32) -> Self {
        Self::failure(504, Reason::TIMEOUT, format!("Timeout: {what}")).with_details(
            StatusDetails {
                retry_after_seconds,
                ..StatusDetails::default()
            },
        )
    }

    /// 429
    pub fn too_many_requests(message: impl Into<String>, retry_after_seconds: u32) -> Self {
        Self::failure(429, Reason::TOO_MANY_REQUESTS, message).with_details(StatusDetails {
            retry_after_seconds,
            ..StatusDetails::default()
        })
    }

    /// 500, reason `InternalError`: `Internal error occurred: ` and the given words.
    pub fn internal_error(what: &str) -> Self {
        let message = format!("Internal error occurred: {what}");
        let cause = StatusCause {
            message: what.to_owned(),
            ..StatusCause::default()
        };
        Self::failure(500, Reason::INTERNAL_ERROR, message).with_cause(cause)
    }

    /// 500 without a reason: an error that has no status of its own.
    pub fn bare_500(message: impl Into<String>) -> Self {
        Self::failure(500, Reason::NONE, message)
    }

    /// 503
    pub fn service_unavailable(message: impl Into<String>) -> Self {
        Self::failure(503, Reason::SERVICE_UNAVAILABLE, message)
    }

    /// Done; `code` 0 is left out of the body.
    pub fn success(code: u16) -> Self {
        Self {
            status: StatusOutcome::Success,
            ..Self::failure(code, Reason::NONE, "")
        }
    }

    /// The object is gone.
    pub fn success_deleted(group: &str, resource: &str, name: &str, uid: &str) -> Self {
        Self::success(0).with_details(StatusDetails {
            uid: uid.to_owned(),
            ..about(group, resource, name)
        })
    }
}
