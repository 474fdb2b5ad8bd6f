use serde_json::json;

use super::*;

fn check(status: &Status, expected: &str) {
    assert_eq!(std::str::from_utf8(&status.to_json()).unwrap(), expected);
}

#[test]
fn bodies_have_upstreams_members_and_order() {
    let head = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"#;
    for (status, rest) in [
        (
            Status::not_found("", "configmaps", "x"),
            r#""configmaps \"x\" not found","reason":"NotFound","details":{"name":"x","kind":"configmaps"},"code":404}"#,
        ),
        (
            Status::not_found("apps", "deployments", "x"),
            r#""deployments.apps \"x\" not found","reason":"NotFound","details":{"name":"x","group":"apps","kind":"deployments"},"code":404}"#,
        ),
        (
            Status::not_found_path(),
            r#""the server could not find the requested resource","reason":"NotFound","details":{},"code":404}"#,
        ),
        (
            Status::already_exists_terminating("", "configmaps", "x"),
            r#""object is being deleted: configmaps \"x\" already exists","reason":"AlreadyExists","details":{"name":"x","kind":"configmaps"},"code":409}"#,
        ),
        (
            Status::forbidden(
                "",
                "",
                "",
                "User \"system:anonymous\" cannot get path \"/\"",
            ),
            r#""forbidden: User \"system:anonymous\" cannot get path \"/\"","reason":"Forbidden","details":{},"code":403}"#,
        ),
        (
            Status::forbidden("apps", "deployments", "", "no"),
            r#""deployments.apps is forbidden: no","reason":"Forbidden","details":{"group":"apps","kind":"deployments"},"code":403}"#,
        ),
        (
            Status::unauthorized(),
            r#""Unauthorized","reason":"Unauthorized","code":401}"#,
        ),
        (
            Status::too_large_resource_version(999_999, 1200, Some(1)),
            r#""Timeout: Too large resource version: 999999, current: 1200","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1},"code":504}"#,
        ),
        (
            Status::too_many_requests("storage is (re)initializing", 1),
            r#""storage is (re)initializing","reason":"TooManyRequests","details":{"retryAfterSeconds":1},"code":429}"#,
        ),
        (
            Status::too_old_resource_version(14929, 15739),
            r#""too old resource version: 14929 (15739)","reason":"Expired","code":410}"#,
        ),
        (
            Status::internal_error("no <x>"),
            r#""Internal error occurred: no \u003cx\u003e","reason":"InternalError","details":{"causes":[{"message":"no \u003cx\u003e"}]},"code":500}"#,
        ),
        (Status::bare_500("bad"), r#""bad","code":500}"#),
        (
            Status::request_entity_too_large(3_145_728),
            r#""Request entity too large: limit is 3145728","reason":"RequestEntityTooLarge","code":413}"#,
        ),
        (
            Status::method_not_supported("g.example.com", "widgets", "create"),
            r#""create is not supported on resources of kind \"widgets.g.example.com\"","reason":"MethodNotAllowed","details":{"group":"g.example.com","kind":"widgets"},"code":405}"#,
        ),
        (
            Status::conflict_modified("", "configmaps", "x"),
            r#""Operation cannot be fulfilled on configmaps \"x\": the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","details":{"name":"x","kind":"configmaps"},"code":409}"#,
        ),
        (
            Status::invalid(
                "",
                "ConfigMap",
                "",
                &[FieldError::required(
                    "metadata.name",
                    "name or generateName is required",
                )],
            ),
            r#""ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required","reason":"Invalid","details":{"kind":"ConfigMap","causes":[{"reason":"FieldValueRequired","message":"Required value: name or generateName is required","field":"metadata.name"}]},"code":422}"#,
        ),
    ] {
        check(&status, &format!("{head}{rest}"));
    }
}

#[test]
fn a_deletion_says_what_is_gone_and_an_expired_page_where_to_go_on() {
    check(
        &Status::success_deleted("apps", "deployments", "x", "u"),
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"x","group":"apps","kind":"deployments","uid":"u"}}"#,
    );
    check(
        &Status::success(201),
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}"#,
    );
    check(
        &Status::expired("old").with_continue("abc"),
        r#"{"kind":"Status","apiVersion":"v1","metadata":{"continue":"abc"},"status":"Failure","message":"old","reason":"Expired","code":410}"#,
    );
}

#[test]
fn field_errors_read_as_upstreams() {
    for (error, text) in [
        (
            FieldError::invalid("x", "y", "detail"),
            r#"x: Invalid value: "y": detail"#,
        ),
        (
            FieldError::invalid("x", -1, "must be greater than or equal to 0"),
            "x: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            FieldError::invalid("x", json!(null), "d"),
            "x: Invalid value: null: d",
        ),
        (
            FieldError::invalid("x", json!({"Rule": "self > 1"}), "d"),
            r#"x: Invalid value: {"Rule":"self \u003e 1"}: d"#,
        ),
        (
            FieldError::new(FieldErrorKind::Invalid, "spec", None, "min exceeds max"),
            "spec: Invalid value: min exceeds max",
        ),
        (
            FieldError::not_supported("dryRun", json!(["yes"]), &["All"]),
            r#"dryRun: Unsupported value: ["yes"]: supported values: "All""#,
        ),
        (
            FieldError::not_supported("x", "y", &["a", "b"]),
            r#"x: Unsupported value: "y": supported values: "a", "b""#,
        ),
        (
            FieldError::duplicate("x", "a"),
            r#"x: Duplicate value: "a""#,
        ),
        (
            FieldError::not_found("x", "none"),
            r#"x: Not found: "none""#,
        ),
        (
            FieldError::too_long("x", 128),
            "x: Too long: may not be more than 128 bytes",
        ),
        (FieldError::required("x", ""), "x: Required value"),
        (FieldError::forbidden("x", "no"), "x: Forbidden: no"),
        (
            FieldError::invalid("", "", "d"),
            r#"<nil>: Invalid value: "": d"#,
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn several_errors_are_listed_and_the_same_text_once() {
    let (a, b) = (FieldError::required("a", ""), FieldError::required("b", ""));
    assert_eq!(
        FieldError::aggregate(std::slice::from_ref(&a)),
        "a: Required value"
    );
    assert_eq!(
        FieldError::aggregate(&[a.clone(), a.clone()]),
        "a: Required value"
    );
    assert_eq!(
        FieldError::aggregate(&[a, b]),
        "[a: Required value, b: Required value]"
    );
}
