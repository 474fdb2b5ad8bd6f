//! Metadata-only forms: `PartialObjectMetadata` and its list. The metadata is copied as bytes.

use bytes::Bytes;

use crate::scan::{DecodeError, Scanner};

/// Version of the group `meta.k8s.io` that was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PartialVersion {
    /// `meta.k8s.io/v1`
    #[default]
    V1,
    /// `meta.k8s.io/v1beta1`
    V1beta1,
}

impl PartialVersion {
    /// The version parameter `v` of an Accept header.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "v1" => Some(Self::V1),
            "v1beta1" => Some(Self::V1beta1),
            _ => None,
        }
    }

    /// `meta.k8s.io/v1`
    pub const fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// The bytes of the member `metadata` of `json`, an object.
pub(crate) fn metadata(json: &[u8]) -> Result<&[u8], DecodeError> {
    let found = Scanner::new(json).find("metadata")?;
    let span = found.ok_or(DecodeError::NoMetadata)?;
    json.get(span.from..span.until)
        .ok_or(DecodeError::NoMetadata)
}

/// The metadata-only form of an object: of a whole one, of a list's item, of a bookmark.
///
/// # Errors
/// `json` is no object with `metadata`.
pub fn partial(json: &[u8], version: PartialVersion) -> Result<Bytes, DecodeError> {
    let mut out = Vec::with_capacity(json.len().min(1024) + 80);
    write_partial(&mut out, json, version)?;
    Ok(out.into())
}

/// Appends what [`partial`] makes.
pub(crate) fn write_partial(
    out: &mut Vec<u8>,
    json: &[u8],
    version: PartialVersion,
) -> Result<(), DecodeError> {
    let metadata = metadata(json)?;
    out.extend_from_slice(br#"{"kind":"PartialObjectMetadata","apiVersion":""#);
    out.extend_from_slice(version.api_version().as_bytes());
    out.extend_from_slice(br#"","metadata":"#);
    out.extend_from_slice(metadata);
    out.push(b'}');
    Ok(())
}

/// What stands before the items of a `PartialObjectMetadataList`; after them comes `]}`, between
/// two of them a comma. `list_metadata` is the list's metadata as JSON.
pub fn partial_list_head(list_metadata: &str, version: PartialVersion) -> Bytes {
    Bytes::from(format!(
        r#"{{"kind":"PartialObjectMetadataList","apiVersion":"{}","metadata":{list_metadata},"items":["#,
        version.api_version()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_copied_and_nothing_else() {
        let pod = br#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"}"}},"spec":{"metadata":1}}"#;
        assert_eq!(
            partial(pod, PartialVersion::V1).unwrap(),
            r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","labels":{"x":"}"}}}"#
        );
        assert_eq!(
            partial(b"{}", PartialVersion::V1),
            Err(DecodeError::NoMetadata)
        );
        let head = partial_list_head(r#"{"resourceVersion":"7"}"#, PartialVersion::V1beta1);
        assert!(
            serde_json::from_str::<serde_json::Value>(&format!(
                "{}]}}",
                std::str::from_utf8(&head).unwrap()
            ))
            .is_ok()
        );
    }
}
