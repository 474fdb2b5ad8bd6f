//! Selectable fields: which values of an object a field selector can ask for, read straight from
//! its JSON.
//!
//! `metadata.name` and `metadata.namespace` come from the key and are not among them. A value that
//! is absent and has no default is empty, and an empty value is not kept.

use masthead_api::Fields;

use crate::catalog::Resource;
use crate::scan::{DecodeError, Scanner};

/// One place to look for a selectable value. Several lines of one label: the first that is not
/// empty holds.
#[derive(Debug)]
pub(crate) struct FieldSpec {
    label: &'static str,
    /// Members from the top; `[0]` is the first item of an array.
    path: &'static [&'static str],
    default: &'static str,
}

const fn field(
    label: &'static str,
    path: &'static [&'static str],
    default: &'static str,
) -> FieldSpec {
    FieldSpec {
        label,
        path,
        default,
    }
}

const PODS: &[FieldSpec] = &[
    field("spec.nodeName", &["spec", "nodeName"], ""),
    field("spec.restartPolicy", &["spec", "restartPolicy"], ""),
    field("spec.schedulerName", &["spec", "schedulerName"], ""),
    field(
        "spec.serviceAccountName",
        &["spec", "serviceAccountName"],
        "",
    ),
    field("spec.hostNetwork", &["spec", "hostNetwork"], "false"),
    field("status.phase", &["status", "phase"], ""),
    field("status.podIP", &["status", "podIPs", "[0]", "ip"], ""),
    field("status.podIP", &["status", "podIP"], ""),
    field(
        "status.nominatedNodeName",
        &["status", "nominatedNodeName"],
        "",
    ),
];
const EVENTS: &[FieldSpec] = &[
    field("involvedObject.kind", &["involvedObject", "kind"], ""),
    field(
        "involvedObject.namespace",
        &["involvedObject", "namespace"],
        "",
    ),
    field("involvedObject.name", &["involvedObject", "name"], ""),
    field("involvedObject.uid", &["involvedObject", "uid"], ""),
    field(
        "involvedObject.apiVersion",
        &["involvedObject", "apiVersion"],
        "",
    ),
    field(
        "involvedObject.resourceVersion",
        &["involvedObject", "resourceVersion"],
        "",
    ),
    field(
        "involvedObject.fieldPath",
        &["involvedObject", "fieldPath"],
        "",
    ),
    field("reason", &["reason"], ""),
    field("reportingComponent", &["reportingComponent"], ""),
    field("source", &["source", "component"], ""),
    field("source", &["reportingComponent"], ""),
    field("type", &["type"], ""),
];
const NODES: &[FieldSpec] = &[field(
    "spec.unschedulable",
    &["spec", "unschedulable"],
    "false",
)];
const NAMESPACES: &[FieldSpec] = &[field("status.phase", &["status", "phase"], "")];
const SECRETS: &[FieldSpec] = &[field("type", &["type"], "")];
const SERVICES: &[FieldSpec] = &[
    field("spec.clusterIP", &["spec", "clusterIP"], ""),
    field("spec.type", &["spec", "type"], ""),
];
const CONTROLLERS: &[FieldSpec] = &[field("status.replicas", &["status", "replicas"], "0")];
const JOBS: &[FieldSpec] = &[field("status.successful", &["status", "succeeded"], "0")];
const SIGNING: &[FieldSpec] = &[field("spec.signerName", &["spec", "signerName"], "")];
const SLICES: &[FieldSpec] = &[
    field("spec.nodeName", &["spec", "nodeName"], ""),
    field("spec.driver", &["spec", "driver"], ""),
];

/// The selectable fields of a kind, for its stored version.
pub(crate) fn specs(resource: &Resource) -> &'static [FieldSpec] {
    match (resource.group.as_ref(), resource.plural.as_ref()) {
        ("", "pods") => PODS,
        ("", "events") => EVENTS,
        ("", "nodes") => NODES,
        ("", "namespaces") => NAMESPACES,
        ("", "secrets") => SECRETS,
        ("", "services") => SERVICES,
        ("", "replicationcontrollers") => CONTROLLERS,
        ("batch", "jobs") => JOBS,
        ("certificates.k8s.io", "certificatesigningrequests") => SIGNING,
        ("resource.k8s.io", "resourceslices") => SLICES,
        _ => &[],
    }
}

/// Collects the values of one object while its JSON is walked.
#[derive(Debug)]
pub(crate) struct Collector {
    specs: &'static [FieldSpec],
    values: Vec<Option<Box<str>>>,
}

/// Specs that are still possible at some depth, one bit each.
type Mask = u32;

impl Collector {
    pub(crate) fn new(resource: &Resource) -> Self {
        let specs = specs(resource);
        Self {
            specs,
            values: vec![None; specs.len()],
        }
    }

    /// Takes the value of the top-level member `key`.
    pub(crate) fn member(&mut self, s: &mut Scanner<'_>, key: &str) -> Result<(), DecodeError> {
        self.step(s, key, Mask::MAX, 0)
    }

    fn step(
        &mut self,
        s: &mut Scanner<'_>,
        key: &str,
        possible: Mask,
        depth: usize,
    ) -> Result<(), DecodeError> {
        let (mut inner, mut here) = (0, 0);
        for (number, spec) in self.specs.iter().enumerate().take(Mask::BITS as usize) {
            let bit = 1 << number;
            if possible & bit != 0 && spec.path.get(depth) == Some(&key) {
                if spec.path.len() == depth + 1 {
                    here |= bit;
                } else {
                    inner |= bit;
                }
            }
        }
        match s.peek() {
            Some(b'{') if inner != 0 => s.object(|s, key, _| self.step(s, key, inner, depth + 1)),
            Some(b'[') if inner != 0 => s.array(|s, number| {
                let key = if number == 0 { "[0]" } else { "" };
                self.step(s, key, inner, depth + 1)
            }),
            Some(b'"') if here != 0 => {
                let text = s.string()?;
                self.set(here, &text);
                Ok(())
            }
            _ => {
                let span = s.skip()?;
                let text = s.text(span);
                if here != 0 && text != "null" && !text.starts_with(['{', '[']) {
                    self.set(here, text);
                }
                Ok(())
            }
        }
    }

    fn set(&mut self, which: Mask, text: &str) {
        for (number, value) in self.values.iter_mut().enumerate().take(Mask::BITS as usize) {
            if which & (1 << number) != 0 {
                *value = Some(text.into());
            }
        }
    }

    /// The collected fields, absent ones by their default, empty ones left out.
    pub(crate) fn finish(self) -> Fields {
        let mut fields: Vec<(&'static str, Box<str>)> = Vec::with_capacity(self.specs.len());
        for (spec, value) in self.specs.iter().zip(self.values) {
            let value = value.unwrap_or_else(|| spec.default.into());
            if !value.is_empty() && fields.iter().all(|(label, _)| *label != spec.label) {
                fields.push((spec.label, value));
            }
        }
        Fields(fields.into())
    }
}

/// The selectable fields of an object in its stored version.
///
/// # Errors
/// `json` is no JSON object.
pub fn fields(resource: &Resource, json: &[u8]) -> Result<Fields, DecodeError> {
    let mut collector = Collector::new(resource);
    let mut scanner = Scanner::new(json);
    scanner.object(|s, key, _| collector.member(s, key))?;
    Ok(collector.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Catalog;

    fn check(group: &str, plural: &str, json: &str, expected: &[(&str, &str)]) {
        let resource = Catalog::builtin().resource(group, "v1", plural).unwrap();
        let found = fields(resource, json.as_bytes()).unwrap();
        for (label, value) in expected {
            assert_eq!(found.get(label), *value, "{label} of {json}");
        }
    }

    #[test]
    fn values_are_read_with_the_defaults_of_their_kind() {
        check(
            "",
            "nodes",
            r#"{"spec":{}}"#,
            &[("spec.unschedulable", "false")],
        );
        check(
            "",
            "nodes",
            r#"{"spec":{"unschedulable":true}}"#,
            &[("spec.unschedulable", "true")],
        );
        check(
            "batch",
            "jobs",
            r#"{"status":{"succeeded":3}}"#,
            &[("status.successful", "3")],
        );
        check("batch", "jobs", "{}", &[("status.successful", "0")]);
        check("", "secrets", r#"{"type":"a\"b"}"#, &[("type", "a\"b")]);
    }

    #[test]
    fn a_pods_address_is_its_first_and_an_events_source_falls_back() {
        let pod = r#"{"spec":{"nodeName":"n","containers":[{"nodeName":"x"}]},"status":{"podIP":"9","podIPs":[{"ip":"1"},{"ip":"2"}]}}"#;
        let expected = [
            ("spec.nodeName", "n"),
            ("status.podIP", "1"),
            ("spec.hostNetwork", "false"),
        ];
        check("", "pods", pod, &expected);
        check(
            "",
            "pods",
            r#"{"status":{"podIP":"9"}}"#,
            &[("status.podIP", "9")],
        );
        check(
            "",
            "events",
            r#"{"reportingComponent":"r"}"#,
            &[("source", "r")],
        );
        check(
            "",
            "events",
            r#"{"source":{"component":"s"},"reportingComponent":"r"}"#,
            &[("source", "s")],
        );
    }
}
