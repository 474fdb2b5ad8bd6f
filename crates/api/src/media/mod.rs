//! Media types: what a client accepts and what it sends.
//!
//! Upstream refuses in two places with different words: the router of the built-in resources looks
//! at the bare types first, then the handler looks at the parameters too. Custom resources have no
//! such router. [`Route`] says which.

mod accept;
mod body;

use crate::{Status, StatusDetails};

pub use accept::Accept;
use accept::Clause;
pub use body::{BodyFormat, PatchType, parse_body_format, parse_patch_type};

const OBJECT_TYPES: &str =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const STREAM_TYPES: &str =
    "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

/// Which types the path's router lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// One object of a built-in resource, or a document.
    Object,
    /// A collection of a built-in resource, which can also be watched.
    Collection,
    /// A custom resource: no router looks.
    Custom,
}

/// What is to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Which router the path has.
    pub route: Route,
    /// Is it a stream of watch events?
    pub streaming: bool,
    /// May it be asked for as a table or as metadata only?
    pub allow_transform: bool,
}

/// How the answer is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaType {
    /// The notation.
    pub format: Format,
    /// What to make of the objects first.
    pub transform: Transform,
    /// Was `pretty=1` among the parameters of the type?
    pub pretty: bool,
}

/// The notation of an answer. Protobuf is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON
    Json,
    /// YAML; never for a stream.
    Yaml,
}

/// A version of the group `meta.k8s.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaVersion {
    /// `v1`
    V1,
    /// `v1beta1`
    V1Beta1,
}

/// What to make of the objects before they are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    /// Nothing.
    None,
    /// `as=Table`
    Table(MetaVersion),
    /// `as=PartialObjectMetadata`
    PartialMetadata(MetaVersion),
    /// `as=PartialObjectMetadataList`
    PartialMetadataList(MetaVersion),
}

/// A version of aggregated discovery that is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregatedDiscovery {
    /// `apidiscovery.k8s.io/v2`
    V2,
}

impl Format {
    /// The `Content-Type` of an answer.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
        }
    }

    const fn subtype(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Yaml => "yaml",
        }
    }
}

impl MetaVersion {
    /// The `apiVersion` of a transformed object.
    pub const fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// How to write `answer` for a client that sent `accept`.
///
/// # Errors
/// 406 where it accepts nothing that is served.
pub fn negotiate(accept: &Accept, answer: Answer) -> Result<MediaType, Status> {
    let produced = match answer.route {
        Route::Object => Some(OBJECT_TYPES.to_owned()),
        Route::Collection => Some(format!("{OBJECT_TYPES}, {STREAM_TYPES}")),
        Route::Custom => None,
    };
    if let Some(produced) = produced.filter(|_| !accept.passes_router()) {
        let text = format!("406: Not Acceptable\n\nAvailable representations: {produced}");
        return Err(Status::not_acceptable(text).with_details(StatusDetails::default()));
    }
    let none = |types: &str| {
        Status::not_acceptable(format!(
            "only the following media types are accepted: {types}"
        ))
    };
    let media = find(accept, answer).ok_or_else(|| none(OBJECT_TYPES))?;
    if answer.streaming && media.format == Format::Yaml {
        return Err(none(STREAM_TYPES));
    }
    Ok(media)
}

/// The notation for an error to a client that sent `accept`: JSON unless it wants YAML.
pub fn find_error_format(accept: &Accept) -> Format {
    let answer = Answer {
        route: Route::Custom,
        streaming: false,
        allow_transform: true,
    };
    find(accept, answer).map_or(Format::Json, |media| media.format)
}

fn find(accept: &Accept, answer: Answer) -> Option<MediaType> {
    let plain = MediaType {
        format: Format::Json,
        transform: Transform::None,
        pretty: false,
    };
    if accept.is_empty() {
        return Some(plain);
    }
    accept.clauses().iter().find_map(|clause| {
        [Format::Json, Format::Yaml]
            .into_iter()
            .filter(|format| clause.covers("application", format.subtype()))
            .find_map(|format| by_parameters(clause, format, answer))
    })
}

/// The media type of `clause` in `format`, unless a parameter speaks against it.
fn by_parameters(clause: &Clause, format: Format, answer: Answer) -> Option<MediaType> {
    let stream = clause.parameter("stream").unwrap_or_default();
    if !stream.is_empty() && (format != Format::Json || stream != "watch") {
        return None;
    }
    let transform = match clause.conversion() {
        None => Transform::None,
        Some(_) if !answer.allow_transform => return None,
        Some((kind, group, version)) => transform(kind, group, version)?,
    };
    Some(MediaType {
        format,
        transform,
        pretty: clause.parameter("pretty") == Some("1"),
    })
}

fn transform(kind: &str, group: &str, version: &str) -> Option<Transform> {
    let version = match (group, version) {
        ("meta.k8s.io", "v1") => MetaVersion::V1,
        ("meta.k8s.io", "v1beta1") => MetaVersion::V1Beta1,
        _ => return None,
    };
    match kind {
        "Table" => Some(Transform::Table(version)),
        "PartialObjectMetadata" => Some(Transform::PartialMetadata(version)),
        "PartialObjectMetadataList" => Some(Transform::PartialMetadataList(version)),
        _ => None,
    }
}

/// The version of aggregated discovery that a client wants before it takes the plain documents.
/// (`v2beta1` is no longer served upstream: such a client gets the next thing it accepts.)
pub fn wants_aggregated_discovery(accept: &Accept) -> Option<AggregatedDiscovery> {
    for clause in accept.clauses() {
        if !clause.covers("application", "json") && !clause.covers("application", "yaml") {
            continue;
        }
        match clause.conversion() {
            None => return None,
            Some(("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2")) => {
                return Some(AggregatedDiscovery::V2);
            }
            Some(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
