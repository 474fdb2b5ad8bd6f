use super::*;

const ROUTER: &str = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf";
const STREAMS: &str =
    ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
const HANDLER: &str = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";
const STREAMER: &str = "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";

fn asked(accept: &str, route: Route, streaming: bool) -> Result<MediaType, Status> {
    let answer = Answer {
        route,
        streaming,
        allow_transform: true,
    };
    negotiate(&Accept::parse(Some(accept)), answer)
}

#[test]
fn json_is_found_among_what_clients_send() {
    for accept in [
        "",
        "application/json",
        "application/json;stream=watch",
        "*/*",
        "application/json;charset=utf-8",
        "application/json;q=0.5",
        "application/json;q=0",
        "text/html, application/json",
        "text/html,application/json;q=0.1",
        "application/xml, */*;q=0.1",
        "application/vnd.kubernetes.protobuf,application/json",
        "application/json;as=Table;v=v2;g=meta.k8s.io, application/json",
    ] {
        for (route, streaming) in [
            (Route::Object, false),
            (Route::Collection, false),
            (Route::Collection, true),
        ] {
            let media = asked(accept, route, streaming).unwrap();
            assert_eq!(
                (media.format, media.transform),
                (Format::Json, Transform::None),
                "{accept}"
            );
        }
    }
    let none = Answer {
        route: Route::Object,
        streaming: false,
        allow_transform: false,
    };
    assert!(negotiate(&Accept::parse(None), none).is_ok());
    assert!(
        asked("application/json;pretty=1", Route::Object, false)
            .unwrap()
            .pretty
    );
}

#[test]
fn what_the_router_does_not_know_is_refused_in_its_words() {
    for accept in [
        "application/*",
        "text/plain",
        "image/png",
        "application/vnd.nosuch",
        "bogus",
        "application/cbor-seq",
    ] {
        let status = asked(accept, Route::Object, false).unwrap_err();
        assert_eq!(
            (status.code, status.message.as_str()),
            (406, ROUTER),
            "{accept}"
        );
        assert_eq!(status.details, Some(Box::default()));
        let status = asked(accept, Route::Collection, true).unwrap_err();
        assert_eq!(status.message, format!("{ROUTER}{STREAMS}"), "{accept}");
    }
    assert_eq!(
        asked("bogus", Route::Custom, false).unwrap_err().message,
        HANDLER
    );
    assert!(asked("application/*", Route::Custom, false).is_ok());
}

#[test]
fn what_only_the_handler_refuses_is_refused_in_its_words() {
    for accept in [
        "application/json;as=Nothing;v=v1;g=meta.k8s.io",
        "application/json;as=Table;v=v9;g=meta.k8s.io",
        "application/json;stream=other",
        "application/vnd.kubernetes.protobuf",
    ] {
        for route in [Route::Object, Route::Collection, Route::Custom] {
            let status = asked(accept, route, route == Route::Collection).unwrap_err();
            assert_eq!(
                (status.message.as_str(), &status.details),
                (HANDLER, &None),
                "{accept}"
            );
        }
    }
}

#[test]
fn yaml_is_for_answers_and_not_for_streams() {
    assert_eq!(
        asked("application/yaml", Route::Collection, false)
            .unwrap()
            .format,
        Format::Yaml
    );
    let status = asked("application/yaml", Route::Collection, true).unwrap_err();
    assert_eq!((status.message.as_str(), status.details), (STREAMER, None));
    assert_eq!(
        find_error_format(&Accept::parse(Some("application/yaml"))),
        Format::Yaml
    );
    assert_eq!(
        find_error_format(&Accept::parse(Some("bogus"))),
        Format::Json
    );
}

#[test]
fn transforms_are_chosen_by_kind_group_and_version() {
    use MetaVersion::{V1, V1Beta1};
    for (accept, format, transform) in [
        (
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
            Format::Json,
            Transform::Table(V1),
        ),
        (
            "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
            Format::Json,
            Transform::Table(V1Beta1),
        ),
        (
            "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            Format::Json,
            Transform::PartialMetadata(V1),
        ),
        (
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
            Format::Json,
            Transform::PartialMetadataList(V1),
        ),
        (
            "application/json;as=Table;g=meta.k8s.io;v=v1;charset=utf-8",
            Format::Json,
            Transform::Table(V1),
        ),
        (
            "application/yaml;as=Table;v=v1;g=meta.k8s.io",
            Format::Yaml,
            Transform::Table(V1),
        ),
    ] {
        let media = asked(accept, Route::Object, false).unwrap();
        assert_eq!(
            (media.format, media.transform),
            (format, transform),
            "{accept}"
        );
    }
    let plain = Answer {
        route: Route::Object,
        streaming: false,
        allow_transform: false,
    };
    let table = Accept::parse(Some("application/json;as=Table;v=v1;g=meta.k8s.io"));
    assert_eq!(negotiate(&table, plain).unwrap_err().message, HANDLER);
}

#[test]
fn aggregated_discovery_is_version_2_or_the_plain_documents() {
    let list = |version: &str| {
        format!("application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList")
    };
    for (accept, wanted) in [
        (
            format!("{},application/json", list("v2")),
            Some(AggregatedDiscovery::V2),
        ),
        (
            format!("{},{},application/json", list("v2"), list("v2beta1")),
            Some(AggregatedDiscovery::V2),
        ),
        (format!("{},application/json", list("v2beta1")), None),
        ("application/json".to_owned(), None),
        ("*/*".to_owned(), None),
        (format!("application/json,{}", list("v2")), None),
    ] {
        assert_eq!(
            wants_aggregated_discovery(&Accept::parse(Some(&accept))),
            wanted,
            "{accept}"
        );
    }
}

#[test]
fn bodies_are_json_or_yaml() {
    for (kind, format) in [
        (None, BodyFormat::Json),
        (Some(""), BodyFormat::Json),
        (Some("application/json;charset=utf-8"), BodyFormat::Json),
        (Some("application/yaml"), BodyFormat::Yaml),
    ] {
        assert_eq!(parse_body_format(kind).unwrap(), format);
    }
    for kind in [
        "text/plain",
        "garbage",
        "application/merge-patch+json",
        "application/vnd.kubernetes.protobuf",
    ] {
        let status = parse_body_format(Some(kind)).unwrap_err();
        assert_eq!(
            (status.code, status.message.as_str(), status.details),
            (
                415,
                "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
                None
            )
        );
    }
}

#[test]
fn patches_are_told_apart_by_their_type() {
    let patch = |kind: &str, route| parse_patch_type(Some(kind), route);
    let json = "application/json-patch+json;charset=utf-8";
    assert_eq!(patch(json, Route::Object).unwrap(), PatchType::Json);
    let strategic = "application/strategic-merge-patch+json";
    assert_eq!(
        patch(strategic, Route::Object).unwrap(),
        PatchType::Strategic
    );
    let status = patch("application/json", Route::Object).unwrap_err();
    assert_eq!(
        (status.code, status.message.as_str()),
        (415, "415: Unsupported Media Type")
    );
    assert_eq!(status.details, Some(Box::default()));
    let custom = "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
    assert_eq!(patch(strategic, Route::Custom).unwrap_err().message, custom);
    assert_eq!(
        parse_patch_type(None, Route::Custom).unwrap_err().message,
        custom
    );
}
