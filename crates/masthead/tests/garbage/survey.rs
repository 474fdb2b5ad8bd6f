//! All objects of a server, whatever the garbage made of them: they must be readable, and the same
//! after a restart.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::support::Client;

/// Every object by its collection, namespace and name, but for what the server itself changes: what
/// is in namespaces that are about to go, and the API's own service, which follows its address.
pub(crate) async fn all_objects(client: &Client) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for path in collections(client).await {
        let list = client.get(&path).await.ok();
        for item in list["items"].as_array().into_iter().flatten() {
            let wrong = malformed(item);
            assert!(wrong.is_none(), "{path}: {wrong:?} is malformed in {item}");
            let text = |name: &str| item["metadata"][name].as_str().unwrap_or_default();
            let place = (text("namespace"), text("name"));
            all.insert(format!("{path} {}/{}", place.0, place.1), item.clone());
        }
    }
    let going: BTreeSet<String> = all
        .values()
        .filter(|item| item["status"]["phase"] == "Terminating")
        .filter_map(|item| item["metadata"]["name"].as_str().map(str::to_owned))
        .collect();
    all.retain(|place, item| {
        let namespace = item["metadata"]["namespace"].as_str().unwrap_or_default();
        let is_namespace = place.starts_with("/api/v1/namespaces ");
        let name = item["metadata"]["name"].as_str().unwrap_or_default();
        let own_service = place.ends_with(" default/kubernetes");
        !(own_service || going.contains(namespace) || is_namespace && going.contains(name))
    });
    all
}

/// The member of the metadata that no server may have let in.
fn malformed(object: &Value) -> Option<&str> {
    let Some(metadata) = object["metadata"].as_object() else {
        return Some("metadata");
    };
    let texts = |value: &Value| {
        value
            .as_object()
            .is_some_and(|map| map.values().all(Value::is_string))
    };
    let list = |value: &Value, fits: fn(&Value) -> bool| {
        value.as_array().is_some_and(|items| items.iter().all(fits))
    };
    let name = metadata
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:_".contains(&byte);
    if name.is_empty() || name.len() > 253 || !name.bytes().all(is_name) {
        return Some("name");
    }
    for required in ["uid", "resourceVersion", "creationTimestamp"] {
        let found = metadata.get(required).and_then(Value::as_str);
        if found.is_none_or(str::is_empty) {
            return Some(required);
        }
    }
    let fits = |(member, value): (&String, &Value)| match member.as_str() {
        "labels" | "annotations" => texts(value),
        "finalizers" => list(value, Value::is_string),
        "ownerReferences" | "managedFields" => list(value, Value::is_object),
        "generateName" | "deletionTimestamp" => value.is_string(),
        "generation" => value.is_i64(),
        _ => true,
    };
    metadata
        .iter()
        .find(|member| !fits(*member))
        .map(|(member, _)| member.as_str())
}

/// The paths of everything that can be listed.
async fn collections(client: &Client) -> Vec<String> {
    let mut roots = vec!["/api/v1".to_owned()];
    let groups = client.get("/apis").await.ok();
    for version in groups["groups"].as_array().into_iter().flatten() {
        for version in version["versions"].as_array().into_iter().flatten() {
            roots.push(format!(
                "/apis/{}",
                version["groupVersion"].as_str().unwrap_or_default()
            ));
        }
    }
    let mut paths = Vec::new();
    for root in roots {
        let resources = client.get(&root).await.ok();
        for resource in resources["resources"].as_array().into_iter().flatten() {
            let verbs = resource["verbs"].as_array();
            // What can be listed but not created is computed, not stored.
            let offers = |wanted| verbs.is_some_and(|verbs| verbs.iter().any(|v| v == wanted));
            if offers("list") && offers("create") {
                paths.push(format!(
                    "{root}/{}",
                    resource["name"].as_str().unwrap_or_default()
                ));
            }
        }
    }
    assert!(paths.len() > 20, "only {paths:?} can be listed");
    paths
}

/// What is not the same in both, for a person to read.
pub(crate) fn differences(
    before: &BTreeMap<String, Value>,
    after: &BTreeMap<String, Value>,
) -> Vec<String> {
    let places: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differing = places
        .into_iter()
        .filter(|place| before.get(*place) != after.get(*place));
    let shown = |place: &String| {
        let one = |objects: &BTreeMap<String, Value>| {
            objects
                .get(place)
                .map_or("nothing".to_owned(), ToString::to_string)
        };
        format!("{place} was\n  {}\nand is\n  {}", one(before), one(after))
    };
    differing.map(shown).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn malformed_metadata_is_found() {
        let good = json!({"name": "a", "uid": "u", "resourceVersion": "1",
            "creationTimestamp": "t", "labels": {"a": "b"}, "finalizers": ["x/y"]});
        let check = |member: &str, value: Value| {
            let mut metadata = good.clone();
            metadata[member] = value;
            malformed(&json!({"metadata": metadata})).map(str::to_owned)
        };
        assert_eq!(check("generation", json!(1)), None);
        assert_eq!(check("name", json!("a/b")), Some("name".to_owned()));
        assert_eq!(check("uid", json!("")), Some("uid".to_owned()));
        assert_eq!(check("labels", json!({"a": 1})), Some("labels".to_owned()));
        assert_eq!(
            check("finalizers", json!([["x"]])),
            Some("finalizers".to_owned())
        );
        assert_eq!(
            check("ownerReferences", json!({})),
            Some("ownerReferences".to_owned())
        );
        assert_eq!(malformed(&json!([])), Some("metadata"));
    }

    #[test]
    fn gone_new_and_changed_objects_are_differences() {
        let objects = |pairs: &[(&str, i32)]| -> BTreeMap<String, Value> {
            pairs
                .iter()
                .map(|(place, value)| ((*place).to_owned(), json!(value)))
                .collect()
        };
        let before = objects(&[("a", 1), ("b", 2), ("c", 3)]);
        let after = objects(&[("b", 2), ("c", 4), ("d", 5)]);
        assert_eq!(differences(&before, &before).len(), 0);
        assert_eq!(differences(&before, &after).len(), 3);
    }
}
