//! All objects of a server, whatever the garbage made of them: they must be readable, and the same
//! after a restart.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::support::Client;

/// Every object by its collection, namespace and name, but for what is in namespaces that are about
/// to go, where the server itself changes things.
pub(crate) async fn all_objects(client: &Client) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for path in collections(client).await {
        let list = client.get(&path).await.ok();
        for item in list["items"].as_array().into_iter().flatten() {
            let text = |name: &str| item["metadata"][name].as_str().unwrap_or_default();
            let place = (text("namespace"), text("name"));
            assert!(
                !place.1.is_empty() && !text("uid").is_empty(),
                "{path} has {item}"
            );
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
        !going.contains(namespace) && !(is_namespace && going.contains(name))
    });
    all
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
            if verbs.is_some_and(|verbs| verbs.iter().any(|verb| verb == "list")) {
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
