//! No input makes a parser panic, and what was printed is read back as it was.

use masthead_api::{
    Accept, Answer, ContinueToken, FieldError, FieldSelector, LabelSelector, ListOptions, Path,
    Query, Route, Status, go_quote, json_string, negotiate, parse_body_format, parse_patch_type,
    parse_resource_version, wants_aggregated_discovery,
};
use proptest::prelude::*;

/// Any bytes as text, any text, and text made of what the parsers care about.
fn input() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200)
            .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        any::<String>(),
        "[a-c/=!(),<>;:*%+&?. \\\\\u{0}\u{e9}0-9\"'{}_-]{0,60}",
        "(a|b/c|in|notin|=|==|!=|!|\\(|\\)|,| |>|<|5|-){0,20}",
        "(/|api|apis|v1|watch|namespaces|x|%2F|%|status|\\.\\.){0,20}",
        "(application/json|\\*/\\*|;|,|q=0\\.5|as=Table|v=v1|g=meta\\.k8s\\.io|stream=watch){0,12}",
        "(watch|limit|timeoutSeconds|resourceVersionMatch|continue|=|&|1|Exact|x){0,20}",
    ]
}

/// Names and values that labels may have.
fn label_word() -> impl Strategy<Value = String> {
    "[a-z0-9]([a-z0-9_.-]{0,8}[a-z0-9])?"
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_input_makes_a_parser_panic(text in input()) {
        drop(LabelSelector::parse(&text));
        drop(FieldSelector::parse(&text));
        drop(Path::parse(&text));
        drop(ContinueToken::decode(&text));
        drop(parse_resource_version(&text));
        drop(parse_body_format(Some(&text)));
        for route in [Route::Object, Route::Collection, Route::Custom] {
            drop(parse_patch_type(Some(&text), route));
            let accept = Accept::parse(Some(&text));
            let answer = Answer { route, streaming: true, allow_transform: true };
            drop(negotiate(&accept, answer));
            wants_aggregated_discovery(&accept);
        }
        if let Ok(query) = Query::parse(&text)
            && let Ok(mut options) = ListOptions::decode(&query)
        {
            options.apply_watch_defaults();
            drop(options.validate_list());
            drop(options.validate_watch());
        }
    }

    #[test]
    fn every_status_is_valid_json_that_says_what_was_said(text in any::<String>()) {
        let errors = [FieldError::invalid(text.clone(), text.clone(), text.clone())];
        for status in [Status::bad_request(text.clone()), Status::invalid("g", "K", &text, &errors)] {
            let body: serde_json::Value = serde_json::from_slice(&status.to_json()).unwrap();
            let message = body.get("message").and_then(|message| message.as_str());
            prop_assert_eq!(message.unwrap_or_default(), status.message.as_str());
        }
    }

    #[test]
    fn json_strings_are_read_back(text in any::<String>()) {
        let mut json = String::new();
        json_string(&mut json, &text);
        prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text.clone());
        prop_assert!(go_quote(&text).len() >= text.len() + 2);
    }

    #[test]
    fn continue_tokens_are_read_back(revision in 1_i64.., key in "[a-z0-9.-]*[a-z0-9]/[a-z0-9]+") {
        prop_assume!(!key.starts_with('/'));
        let token = ContinueToken::after(revision, &key);
        prop_assume!(!key.split('/').any(|segment| matches!(segment, "." | "..")));
        prop_assert_eq!(ContinueToken::decode(&token.encode()), Ok(token));
    }

    #[test]
    fn label_selectors_are_read_back(
        terms in proptest::collection::vec((label_word(), 0..7, label_word(), label_word()), 0..6)
    ) {
        let terms: Vec<String> = terms
            .into_iter()
            .map(|(key, form, a, b)| match form {
                0 => format!("{key}={a}"),
                1 => format!("{key}!={a}"),
                2 => format!("{key} in ({a},{b})"),
                3 => format!("{key} notin ({a},,{b})"),
                4 => format!("!{key}"),
                5 => format!("{key}>5"),
                _ => key,
            })
            .collect();
        let parsed = LabelSelector::parse(&terms.join(",")).unwrap();
        prop_assert_eq!(LabelSelector::parse(&parsed.to_string()), Ok(parsed.clone()));
        prop_assert_eq!(parsed.0.len(), terms.len());
    }

    #[test]
    fn field_selectors_are_read_back(text in input()) {
        if let Ok(parsed) = FieldSelector::parse(&text) {
            prop_assert_eq!(FieldSelector::parse(&parsed.to_string()), Ok(parsed));
        }
    }
}
