use serde_json::json;

use super::*;

fn merged(kind: &str, object: Value, patch: Value) -> Result<Value, StrategicError> {
    let mut object = object;
    let Value::Object(patch) = patch else {
        panic!("no map")
    };
    merge(kind, &mut object, patch).map(|()| object)
}

fn containers(old: Value, patch: Value) -> Result<Value, StrategicError> {
    let wrap = |list| json!({"spec": {"containers": list}});
    merged("Pod", wrap(old), wrap(patch)).map(|pod| pod["spec"]["containers"].clone())
}

#[test]
fn containers_merge_by_name_and_new_ones_come_first() {
    let a = json!({"name": "a", "image": "a:1", "env": [{"name": "E", "value": "1"}], "ports": [{"containerPort": 80}]});
    let old = json!([a, {"name": "b", "image": "b:1"}]);
    for (patch, expected) in [
        (
            json!([{"name": "b", "image": "b:2"}]),
            json!([a, {"name": "b", "image": "b:2"}]),
        ),
        (
            json!([{"name": "c", "image": "c:1"}]),
            json!([{"name": "c", "image": "c:1"}, a, {"name": "b", "image": "b:1"}]),
        ),
        (json!([{"name": "b", "$patch": "delete"}]), json!([a])),
        (
            json!([{"$patch": "replace"}, {"name": "z", "image": "z"}]),
            json!([{"name": "z", "image": "z"}]),
        ),
        (
            json!([{"name": "a", "env": [{"name": "F", "value": "2"}, {"name": "E", "value": "3"}],
                    "ports": [{"containerPort": 81}, {"containerPort": 80, "name": "web"}]}]),
            json!([{"name": "a", "image": "a:1", "env": [{"name": "F", "value": "2"}, {"name": "E", "value": "3"}],
                    "ports": [{"containerPort": 81}, {"containerPort": 80, "name": "web"}]}, {"name": "b", "image": "b:1"}]),
        ),
        (
            json!([{"name": "a", "env": [{"name": "E", "$patch": "delete"}]}]),
            json!([{"name": "a", "image": "a:1", "env": [], "ports": [{"containerPort": 80}]}, {"name": "b", "image": "b:1"}]),
        ),
    ] {
        assert_eq!(
            containers(old.clone(), patch.clone()),
            Ok(expected),
            "{patch}"
        );
    }
}

#[test]
fn an_element_order_sorts_what_is_there_and_what_comes() {
    let old = json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}});
    let names = |patch| {
        let pod = merged("Pod", old.clone(), json!({"spec": patch})).unwrap();
        let list = pod["spec"]["containers"].as_array().unwrap();
        list.iter()
            .map(|c| c["name"].as_str().unwrap().to_owned())
            .collect::<String>()
    };
    assert_eq!(
        names(json!({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]})),
        "ba"
    );
    let with_new = json!({
        "$setElementOrder/containers": [{"name": "b"}, {"name": "c"}, {"name": "a"}],
        "containers": [{"name": "c", "image": "c"}],
    });
    assert_eq!(names(with_new), "bca");
}

#[test]
fn scalars_merge_as_a_set_only_where_the_list_is_one() {
    let old = json!({"metadata": {"finalizers": ["x/a", "x/b"]}, "spec": {"args": ["1"]}});
    for (patch, expected) in [
        (
            json!({"metadata": {"finalizers": ["x/c"]}}),
            json!(["x/c", "x/a", "x/b"]),
        ),
        (
            json!({"metadata": {"finalizers": ["x/b"]}}),
            json!(["x/a", "x/b"]),
        ),
        (
            json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x/a"]}}),
            json!(["x/b"]),
        ),
        (
            json!({"metadata": {"$setElementOrder/finalizers": ["x/b", "x/a"]}}),
            json!(["x/b", "x/a"]),
        ),
        (json!({"metadata": {"finalizers": null}}), Value::Null),
    ] {
        let result = merged("ConfigMap", old.clone(), patch.clone()).unwrap();
        assert_eq!(result["metadata"]["finalizers"], expected, "{patch}");
    }
    let args = merged("ConfigMap", old, json!({"spec": {"args": ["2"]}})).unwrap();
    assert_eq!(args["spec"]["args"], json!(["2"]));
}

#[test]
fn maps_obey_their_directives() {
    let old = json!({"spec": {"nodeSelector": {"x": "1"}, "volumes": [{"name": "v", "configMap": {"name": "m"}}]}});
    let result =
        |patch| merged("Pod", old.clone(), json!({"spec": patch})).unwrap()["spec"].clone();
    assert_eq!(
        result(json!({"nodeSelector": {"$patch": "replace", "z": "3"}}))["nodeSelector"],
        json!({"z": "3"})
    );
    assert_eq!(
        result(json!({"nodeSelector": {"$patch": "delete"}}))["nodeSelector"],
        json!({})
    );
    assert_eq!(
        result(
            json!({"volumes": [{"name": "v", "$retainKeys": ["name", "emptyDir"], "emptyDir": {}}]})
        )["volumes"],
        json!([{"name": "v", "emptyDir": {}}])
    );
}

#[test]
fn nonsense_is_told_as_the_map_in_which_it_stands() {
    let text = |patch| {
        containers(json!([{"name": "a"}]), patch)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        text(json!([{"image": "x"}])),
        "map: map[image:x] does not contain declared merge key: name"
    );
    assert_eq!(
        text(json!([{"$patch": "frobnicate", "name": "z"}])),
        "unknown patch type: frobnicate in map: map[$patch:frobnicate name:z]"
    );
}

#[test]
fn service_ports_merge_by_port() {
    let old = json!({"spec": {"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]}});
    let result = merged(
        "Service",
        old,
        json!({"spec": {"ports": [{"port": 82}, {"port": 81, "$patch": "delete"}]}}),
    );
    assert_eq!(
        result.unwrap()["spec"]["ports"],
        json!([{"port": 82}, {"name": "a", "port": 80}])
    );
}
