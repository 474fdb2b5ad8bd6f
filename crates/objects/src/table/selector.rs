//! Selectors as a cell shows them.

use serde_json::{Map, Value};

use super::view::{list, plain, text};

const NONE: &str = "<none>";

/// `a=b,c=d` ordered by key, `<none>` where there is none.
pub(super) fn of_map(map: Option<&Map<String, Value>>) -> String {
    let mut pairs: Vec<String> = map
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", plain(value)))
        .collect();
    pairs.sort();
    if pairs.is_empty() {
        NONE.to_owned()
    } else {
        pairs.join(",")
    }
}

/// A label selector with `matchLabels` and `matchExpressions`, ordered by key.
pub(super) fn of_selector(selector: Option<&Value>) -> String {
    let Some(selector) = selector else {
        return NONE.to_owned();
    };
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let mut parts: Vec<(String, String)> = labels
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.clone(), format!("{key}={}", plain(value))))
        .collect();
    for expression in list(selector, "matchExpressions") {
        let key = text(expression, "key");
        let mut values: Vec<String> = list(expression, "values").iter().map(plain).collect();
        values.sort();
        let values = values.join(",");
        let part = match text(expression, "operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        parts.push((key.to_owned(), part));
    }
    parts.sort_by(|(a, _), (b, _)| a.cmp(b));
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    if parts.is_empty() {
        NONE.to_owned()
    } else {
        parts.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn expressions_are_written_in_the_order_of_their_keys() {
        let selector = json!({"matchLabels": {"m": "1"}, "matchExpressions": [
            {"key": "z", "operator": "Exists"}, {"key": "a", "operator": "In", "values": ["y", "x"]}, {"key": "b", "operator": "DoesNotExist"}]});
        assert_eq!(of_selector(Some(&selector)), "a in (x,y),!b,m=1,z");
        assert_eq!(of_selector(None), "<none>");
        assert_eq!(of_selector(Some(&json!({}))), "<none>");
    }
}
