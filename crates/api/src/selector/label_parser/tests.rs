use crate::{LabelSelector, Labels};

#[test]
fn forms_select_what_upstream_selects() {
    let sets: [(&str, &[(&str, &str)]); 5] = [
        ("a", &[("app", "x"), ("tier", "front")]),
        ("c", &[("app", "y"), ("tier", "front")]),
        ("e", &[("tier", "back")]),
        ("g", &[("app", "")]),
        ("h", &[("n", "6")]),
    ];
    for (selector, wanted) in [
        ("app=x", "a"),
        ("app==x", "a"),
        ("app!=x", "cegh"),
        ("app in (x,y)", "ac"),
        ("app notin (x,y)", "egh"),
        ("app", "acg"),
        ("!app", "eh"),
        ("app,tier", "ac"),
        ("app=x,tier=front", "a"),
        ("app!=x,tier", "ce"),
        ("!tier,app", "g"),
        ("app=", "g"),
        ("app in ()", "g"),
        ("app in (x,)", "ag"),
        ("app in (,x)", "ag"),
        ("app in (x,,y)", "acg"),
        ("n>5", "h"),
        ("n<5", ""),
        ("n>4,n<7", "h"),
        (" app = x ", "a"),
        ("app=x,app=y", ""),
        ("in in (in)", ""),
        ("", "acegh"),
    ] {
        let parsed = LabelSelector::parse(selector).unwrap();
        let found: String = sets
            .iter()
            .filter(|(_, labels)| parsed.matches(&labels.iter().copied().collect::<Labels>()))
            .map(|(name, _)| *name)
            .collect();
        assert_eq!(found, wanted, "{selector}");
    }
}

#[test]
fn faults_are_told_in_upstreams_words() {
    let operators = "expected: in, notin, =, ==, !=, gt, lt";
    let value = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let key = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let long = format!("app={}", "x".repeat(64));
    for (selector, error) in [
        ("app=x=y", "found '=', expected: ',' or 'end of string'".to_owned()),
        ("=x", "found '=', expected: !, identifier, or 'end of string'".to_owned()),
        ("app in", "unable to parse requirement: found '' expected: '('".to_owned()),
        ("app in x", "unable to parse requirement: found 'x' expected: '('".to_owned()),
        ("app in (x", "unable to parse requirement: found '', expected: ',' or ')'".to_owned()),
        ("app notin", "unable to parse requirement: found '' expected: '('".to_owned()),
        ("app,", "found '', expected: identifier after ','".to_owned()),
        (",app", "found ',', expected: !, identifier, or 'end of string'".to_owned()),
        ("app x", format!("unable to parse requirement: found 'x', {operators}")),
        ("!", "unable to parse requirement: found '', expected: identifier".to_owned()),
        ("!!app", "unable to parse requirement: found '!', expected: identifier".to_owned()),
        ("!app=x", "found '=', expected: ',' or 'end of string'".to_owned()),
        ("a b=c", format!("unable to parse requirement: found 'b', {operators}")),
        ("a gt 5", format!("unable to parse requirement: found 'gt', {operators}")),
        ("app=-x", format!("unable to parse requirement: values[0][app]: Invalid value: \"-x\": {value}")),
        (&long, format!("unable to parse requirement: values[0][app]: Invalid value: \"{}\": must be no more than 63 bytes", "x".repeat(64))),
        ("-app=x", format!("unable to parse requirement: <nil>: Invalid value: \"-app\": name part {key}")),
        ("x/y/z=1", format!("unable to parse requirement: <nil>: Invalid value: \"x/y/z\": a valid label key {key} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")),
        ("app>", "unable to parse requirement: values[0]: Invalid value: \"\": for 'Gt', 'Lt' operators, the value must be an integer".to_owned()),
        ("app>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer".to_owned()),
        ("app=a b", "found 'b', expected: ',' or 'end of string'".to_owned()),
        ("(app)", "found '(', expected: !, identifier, or 'end of string'".to_owned()),
        ("app=é", format!("unable to parse requirement: values[0][app]: Invalid value: \"é\": {value}")),
        ("app=x;tier", format!("unable to parse requirement: values[0][app]: Invalid value: \"x;tier\": {value}")),
    ] {
        assert_eq!(LabelSelector::parse(selector).unwrap_err(), error, "{selector}");
    }
}

#[test]
fn printing_gives_the_canonical_form() {
    for (selector, shown) in [
        ("b==x, a in (z,y) ,!c,d", "a in (y,z),b=x,!c,d"),
        ("a notin (x),b!=,n>5,m<7", "a!=x,b!=,m<7,n>5"),
        ("", ""),
    ] {
        let parsed = LabelSelector::parse(selector).unwrap();
        assert_eq!(parsed.to_string(), shown);
        assert_eq!(LabelSelector::parse(shown).unwrap(), parsed);
    }
}

#[test]
fn size_and_number_are_bounded() {
    assert!(LabelSelector::parse(&"a,".repeat(40_000)).is_err());
    assert!(LabelSelector::parse(&vec!["a"; 1_001].join(",")).is_err());
    assert!(LabelSelector::parse(&vec!["a"; 1_000].join(",")).is_ok());
}
