//! Warnings: what a client is told beside the answer, in headers of that name.

use http::{HeaderMap, HeaderValue};
use masthead_objects::Resource;

/// Old resources, and what to use instead.
const DEPRECATED: [(&str, &str, &str); 2] = [
    (
        "",
        "endpoints",
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ),
    (
        "",
        "componentstatuses",
        "v1 ComponentStatus is deprecated in v1.19+",
    ),
];

/// The warning that every request about `resource` gets.
pub(crate) fn deprecation(resource: &Resource) -> Option<&'static str> {
    DEPRECATED
        .iter()
        .find(|(group, plural, _)| *group == &*resource.group && *plural == &*resource.plural)
        .map(|(_, _, text)| *text)
}

/// Adds a warning to an answer.
pub(crate) fn add(headers: &mut HeaderMap, text: &str) {
    let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
    if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
        headers.append("Warning", value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_quoted() {
        let mut headers = HeaderMap::new();
        add(&mut headers, "unknown field \"a\"");
        assert_eq!(headers["Warning"], r#"299 - "unknown field \"a\"""#);
    }
}
