//! `/masthead/clock`: the server's clock, where it is one that is advanced by hand.
//!
//! | request | answer |
//! |---|---|
//! | `GET /masthead/clock` | `{"now":"2026-07-20T10:00:00Z","sinceStart":"75s"}` |
//! | `POST /masthead/clock/advance?by=75s` | the same and `"advanced":"75s"`, once everything that was due has been handled |
//!
//! On a server that goes by real time both are 403.

use std::time::Duration;

use http::{Method, StatusCode};
use masthead_api::{Query, Reason, Status};
use serde_json::{Value, json};

use super::Answered;
use crate::app::App;
use crate::clock::{AdvanceError, VirtualClock};
use crate::listen::ResponseBody;
use crate::respond;

const SHOW: &str = "/masthead/clock";
const ADVANCE: &str = "/masthead/clock/advance";
/// Units of a duration in milliseconds, longer spellings before those that they start with.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];

/// Is this path answered here?
pub(super) fn is_path(path: &str) -> bool {
    matches!(path, SHOW | ADVANCE)
}

pub(super) async fn answer(app: &App, method: &Method, path: &str, query: &Query) -> Answered {
    let clock = app.hub.clock().by_hand().ok_or_else(|| {
        Status::failure(403, Reason::FORBIDDEN, AdvanceError::RealTime.to_string())
    })?;
    let shown = match (path, method) {
        (SHOW, &Method::GET) => show(clock),
        (ADVANCE, &Method::POST) => advance(clock, query.get("by").unwrap_or_default()).await?,
        _ => return Err(Status::method_not_allowed().into()),
    };
    let body = ResponseBody::full(shown.to_string());
    Ok(respond::answer(StatusCode::OK, "application/json", body))
}

fn show(clock: &VirtualClock) -> Value {
    json!({"now": clock.now().to_string(), "sinceStart": duration(clock.elapsed())})
}

async fn advance(clock: &VirtualClock, by: &str) -> Result<Value, Status> {
    let by = parse(by).ok_or_else(|| {
        Status::bad_request(format!(
            "by: {by:?} is not a duration like 1h30m, 75s or 500ms"
        ))
    })?;
    let advanced = clock
        .advance(by)
        .await
        .map_err(|error| Status::bad_request(error.to_string()))?;
    Ok(json!({
        "now": advanced.now.to_string(),
        "sinceStart": duration(advanced.since_start),
        "advanced": duration(advanced.by),
    }))
}

/// Seconds, with their fraction where there is one.
fn duration(time: Duration) -> String {
    format!("{}s", time.as_secs_f64())
}

/// The duration that Go would write like this; a bare number counts seconds.
fn parse(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let (mut rest, mut millis) = (text, 0_u64);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = rest.split_at(digits);
        let (after, factor) = UNITS
            .iter()
            .find_map(|(name, factor)| Some((unit.strip_prefix(name)?, factor)))?;
        let part = number.parse::<u64>().ok()?.checked_mul(*factor)?;
        millis = millis.checked_add(part)?;
        rest = after;
    }
    (!text.is_empty()).then(|| Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written() {
        for (text, millis) in [
            ("1h1m1s", 3_661_000),
            ("250ms", 250),
            ("75", 75_000),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "-1s", "1.5h", "1h2", "99999999999999999999h"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(duration(Duration::from_millis(75_500)), "75.5s");
        assert_eq!(duration(Duration::from_secs(75)), "75s");
    }
}
