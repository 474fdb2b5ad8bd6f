//! What a request's body is written in.

use super::{OBJECT_TYPES, Route};
use crate::{Status, StatusDetails};

/// The notation of a body that is an object or options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFormat {
    /// JSON
    Json,
    /// YAML
    Yaml,
}

/// The kind of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// `application/json-patch+json`
    Json,
    /// `application/merge-patch+json`
    Merge,
    /// `application/strategic-merge-patch+json`; not for custom resources.
    Strategic,
    /// `application/apply-patch+yaml`
    Apply,
}

const PATCH_TYPES: [(&str, PatchType); 4] = [
    ("application/json-patch+json", PatchType::Json),
    ("application/merge-patch+json", PatchType::Merge),
    (
        "application/strategic-merge-patch+json",
        PatchType::Strategic,
    ),
    ("application/apply-patch+yaml", PatchType::Apply),
];

fn unknown_format(types: &str) -> Status {
    Status::unsupported_media_type(format!(
        "the body of the request was in an unknown format - accepted media types include: {types}"
    ))
}

fn bare(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// Reads the `Content-Type` of an object or of options; none is JSON. Protobuf is refused.
///
/// # Errors
/// 415
pub fn parse_body_format(content_type: Option<&str>) -> Result<BodyFormat, Status> {
    let content_type = content_type.unwrap_or_default();
    if content_type.is_empty() {
        return Ok(BodyFormat::Json);
    }
    match bare(content_type).to_ascii_lowercase().as_str() {
        "application/json" => Ok(BodyFormat::Json),
        "application/yaml" => Ok(BodyFormat::Yaml),
        _ => Err(unknown_format(OBJECT_TYPES)),
    }
}

/// Reads the `Content-Type` of a patch.
///
/// # Errors
/// 415, by the router for a built-in resource, by the handler for a custom one.
pub fn parse_patch_type(content_type: Option<&str>, route: Route) -> Result<PatchType, Status> {
    let wanted = bare(content_type.unwrap_or_default());
    let found = PATCH_TYPES
        .iter()
        .find(|(name, _)| *name == wanted)
        .map(|(_, patch)| *patch);
    match (found, route) {
        (Some(PatchType::Strategic) | None, Route::Custom) => {
            let served = PATCH_TYPES
                .iter()
                .filter(|(_, patch)| *patch != PatchType::Strategic);
            let types: Vec<&str> = served.map(|(name, _)| *name).collect();
            Err(unknown_format(&types.join(", ")))
        }
        (Some(patch), _) => Ok(patch),
        (None, Route::Object | Route::Collection) => Err(Status::unsupported_media_type(
            "415: Unsupported Media Type",
        )
        .with_details(StatusDetails::default())),
    }
}
