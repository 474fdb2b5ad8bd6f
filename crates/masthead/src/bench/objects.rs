//! The objects of the load: ConfigMaps, and pods where watchers select by node.

use std::sync::Arc;

use http::Method;
use serde_json::json;

use super::client::Call;
use super::namespace::Namespace;
use super::wire::{Marker, SENT, SUBJECT};

/// What a pod may carry in its annotations.
pub(super) const POD_BYTES_MAX: u32 = 200_000;
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz012345";

/// Which kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    ConfigMap,
    Pod,
}

/// How objects are made and changed.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    kind: Kind,
    path: String,
    payload: Arc<str>,
}

impl Objects {
    /// Objects in `namespace` that carry so many bytes.
    pub(super) fn new(namespace: &Namespace, kind: Kind, bytes: u32) -> Self {
        let letters = LETTERS.iter().cycle().take(bytes as usize);
        let payload: String = letters.copied().map(char::from).collect();
        let resource = match kind {
            Kind::ConfigMap => "configmaps",
            Kind::Pod => "pods",
        };
        Self {
            kind,
            path: namespace.path(resource),
            payload: payload.into(),
        }
    }

    /// The path of all of them.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The path of one.
    pub(super) fn path_of(&self, subject: u64) -> String {
        format!("{}/{}", self.path, name(subject))
    }

    /// Makes the object of this number.
    pub(super) fn create(&self, subject: u64) -> Call {
        let body = match self.kind {
            Kind::ConfigMap => self.config_map(subject, None),
            Kind::Pod => self.pod(subject),
        };
        Call::new(Method::POST, self.path.clone()).body(body)
    }

    /// Changes it: the whole of a ConfigMap is put, of a pod (most of which nobody may change)
    /// the annotation is patched.
    pub(super) fn change(&self, subject: u64, marker: Marker) -> Call {
        let path = self.path_of(subject);
        match self.kind {
            Kind::ConfigMap => {
                Call::new(Method::PUT, path).body(self.config_map(subject, Some(marker)))
            }
            Kind::Pod => {
                let patch = format!(r#"{{"metadata":{{"annotations":{{"{SENT}":"{marker}"}}}}}}"#);
                Call::new(Method::PATCH, path)
                    .body(patch)
                    .content_type("application/merge-patch+json")
            }
        }
    }

    fn config_map(&self, subject: u64, marker: Option<Marker>) -> String {
        let (name, payload) = (name(subject), &self.payload);
        let annotations = marker.map_or_else(String::new, |marker| {
            format!(r#","annotations":{{"{SENT}":"{marker}"}}"#)
        });
        // As text, for trees take the load longer; nothing in it needs an escape.
        format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{name}","labels":{{"{SUBJECT}":"{name}"}}{annotations}}},"data":{{"payload":"{payload}"}}}}"#
        )
    }

    fn pod(&self, subject: u64) -> String {
        let name = name(subject);
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "labels": {SUBJECT: name},
                "annotations": {"masthead-bench.payload": *self.payload},
            },
            "spec": {
                "nodeName": node(subject),
                "automountServiceAccountToken": false,
                "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "none", "image": "none.invalid/none"}],
            },
        })
        .to_string()
    }
}

/// The name of an object, which is the value of its label too.
pub(super) fn name(subject: u64) -> String {
    format!("object-{subject:07}")
}

/// The node of a pod, which is none.
pub(super) fn node(subject: u64) -> String {
    format!("masthead-bench-{subject:07}")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::bench::wire::{Frame, Reader};

    fn objects(kind: Kind) -> Objects {
        Objects::new(&Namespace::new("x"), kind, 70)
    }

    #[test]
    fn a_config_map_is_json_whose_marker_is_found_again() {
        let marker = Marker {
            number: 5,
            sent_nanos: 6,
        };
        let text = objects(Kind::ConfigMap).config_map(9, Some(marker));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["data"]["payload"].as_str().unwrap().len(), 70);
        assert_eq!(value["metadata"]["labels"][SUBJECT], name(9));
        let line = format!(r#"{{"type":"ADDED","object":{{"resourceVersion":"3"}},{text}}}"#);
        let wanted = Frame::Change {
            version: 3,
            marker: Some(marker),
        };
        assert_eq!(Reader::default().frame(line.as_bytes()), wanted);
        let plain = objects(Kind::ConfigMap).config_map(9, None);
        assert!(serde_json::from_str::<Value>(&plain).is_ok());
    }

    #[test]
    fn a_pod_is_bound_to_a_node_of_its_own() {
        let pod: Value = serde_json::from_str(&objects(Kind::Pod).pod(3)).unwrap();
        assert_eq!(pod["spec"]["nodeName"], node(3));
        assert_eq!(
            objects(Kind::Pod).path(),
            "/api/v1/namespaces/masthead-bench-x/pods"
        );
    }
}
