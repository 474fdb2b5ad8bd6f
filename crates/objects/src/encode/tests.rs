use masthead_api::{Key, Object, Revision, WatchEventType};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::catalog::Catalog;

fn of(group: &str, plural: &str) -> &'static Resource {
    Catalog::builtin().resource(group, "v1", plural).unwrap()
}

fn committed(encoded: &Encoded) -> Object {
    Object::commit(
        Key::new("n", "o"),
        encoded,
        Revision::new(42).unwrap(),
        WatchEventType::Added,
    )
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn metadata_comes_in_wire_order_with_the_version_behind_the_uid() {
    let object = json!({"data": {"b": "<&>\u{2028}é", "a": "1"}, "metadata": {"labels": {"z": "1", "a": "2"}, "uid": "u",
        "resourceVersion": "5", "name": "i", "namespace": "n", "creationTimestamp": "t"}, "apiVersion": "x", "kind": "y"});
    let encoded = encode(of("", "configmaps"), &object).unwrap();
    assert_eq!(
        text(&encoded.json),
        r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"i","namespace":"n","uid":"u","creationTimestamp":"t","labels":{"a":"2","z":"1"}},"data":{"a":"1","b":"\u003c\u0026\u003e\u2028é"}}"#
    );
    assert_eq!(encoded.labels.get("a"), Some("2"));
    let object = committed(&encoded);
    assert!(
        text(object.json()).contains(r#""uid":"u","resourceVersion":"42","creationTimestamp":"t""#)
    );
    assert!(text(object.item()).starts_with(r#""metadata":{"name""#));
}

#[test]
fn the_version_finds_its_place_in_any_metadata() {
    for (metadata, expected) in [
        ("{}", r#"{"resourceVersion":"42"}"#),
        (
            r#"{"labels":{}}"#,
            r#"{"resourceVersion":"42","labels":{}}"#,
        ),
        (r#"{"name":"a"}"#, r#"{"name":"a","resourceVersion":"42"}"#),
        (
            r#"{"name":"a","labels":{},"uid":"b"}"#,
            r#"{"name":"a","resourceVersion":"42","labels":{},"uid":"b"}"#,
        ),
    ] {
        let json = format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{metadata}}}"#);
        let object = committed(&index(of("", "pods"), json).unwrap());
        assert_eq!(
            text(object.json()),
            format!(r#"{{"kind":"Pod","apiVersion":"v1","metadata":{expected}}}"#)
        );
    }
}

#[test]
fn a_custom_resource_is_printed_in_alphabetical_order_and_keeps_its_kind_in_lists() {
    let mut resource = of("", "pods").clone();
    resource.wire = Wire::Custom;
    let object = json!({"spec": {"b": 1, "a": [{"d": 1.0, "c": 1e21}]}, "metadata": {"uid": "u", "name": "x", "labels": {"a": "b"}}});
    let object = committed(&encode(&resource, &object).unwrap());
    let expected = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"},"name":"x","resourceVersion":"42","uid":"u"},"spec":{"a":[{"c":1e+21,"d":1}],"b":1}}"#;
    assert_eq!(text(object.json()), expected);
    assert_eq!(text(object.item()), &expected[1..]);
}

#[test]
fn bytes_that_are_no_object_are_refused() {
    let pods = of("", "pods");
    assert_eq!(index(pods, "{}"), Err(DecodeError::NoMetadata));
    assert_eq!(
        index(pods, r#"{"metadata":1}"#),
        Err(DecodeError::NoMetadata)
    );
    assert_eq!(
        index(pods, r#"{"metadata":{"resourceVersion":"1"}}"#),
        Err(DecodeError::HoldsResourceVersion)
    );
    for bad in [
        "",
        "[]",
        r#"{"metadata":{}"#,
        r#"{"metadata":{}}x"#,
        r#"{"metadata":{"labels":{"a":1}}}"#,
    ] {
        assert!(
            matches!(index(pods, bad), Err(DecodeError::Malformed { .. })),
            "{bad}"
        );
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-z\"\\\\<é]{0,6}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Value> {
    let keys = "(name|namespace|uid|generation|annotations|other)";
    let metadata = prop::collection::btree_map(keys, any_json(), 0..5);
    let labels = prop::collection::btree_map("[a-z/]{1,6}", ".{0,8}", 0..4);
    let rest = prop::collection::btree_map("[a-z]{1,4}", any_json(), 0..4);
    (metadata, labels, rest).prop_map(|(metadata, labels, rest)| {
        let mut object: serde_json::Map<String, Value> = rest.into_iter().collect();
        let mut metadata: serde_json::Map<String, Value> = metadata.into_iter().collect();
        metadata.insert("labels".into(), serde_json::to_value(labels).unwrap());
        object.insert("metadata".into(), metadata.into());
        object.into()
    })
}

proptest! {
    #[test]
    fn what_is_encoded_says_the_same_when_indexed_and_commits_to_the_same_object(mut value in any_object(), custom: bool) {
        let mut resource = of("", "pods").clone();
        if custom { resource.wire = Wire::Custom }
        let encoded = encode(&resource, &value).unwrap();
        prop_assert_eq!(&index(&resource, encoded.json.clone()).unwrap(), &encoded);
        let read: Value = serde_json::from_slice(committed(&encoded).json()).unwrap();
        value["kind"] = "Pod".into();
        value["apiVersion"] = "v1".into();
        value["metadata"]["resourceVersion"] = "42".into();
        prop_assert_eq!(&read, &value);
        for (key, label) in value["metadata"]["labels"].as_object().unwrap() {
            prop_assert_eq!(encoded.labels.get(key), label.as_str());
        }
    }

    #[test]
    fn no_bytes_make_the_index_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        prop_assert!(index(of("", "pods"), bytes).is_err());
    }
}
