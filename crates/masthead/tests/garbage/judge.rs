//! What is a good answer to a bad request.

use serde_json::Value;

use super::message::{Message, shown};

/// An answer as the client got it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
    /// Only a part of the body was waited for.
    pub(crate) cut: bool,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Reply(Reply),
    /// The connection ended without an answer.
    Closed(String),
    /// No answer in time.
    Silence,
}

/// An answer that should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The same for all findings of one cause, more or less.
    pub(crate) class: String,
    /// The answer.
    pub(crate) answer: String,
}

/// Failures that upstream has too, where clients depend on them: what their message contains.
const FAILURES_OF_UPSTREAM: [&str; 8] = [
    "strconv.ParseUint: parsing ",
    "resourceVersion should not be set on objects to be created",
    "does not contain declared merge key: ",
    "unknown patch type: ",
    "failed to create typed patch object ",
    "target.kind: Unsupported value: ",
    "target.name: Required value",
    "unable to find api field in struct ",
];

/// Judges the answer to `message`.
pub(crate) fn judge(message: &Message, outcome: &Outcome) -> Result<(), Finding> {
    let reply = match outcome {
        Outcome::Reply(reply) => reply,
        Outcome::Closed(why) => {
            let class = format!("closed without an answer: {}", general(why));
            return Err(Finding {
                class,
                answer: why.clone(),
            });
        }
        Outcome::Silence => {
            return Err(Finding {
                class: "no answer in time".into(),
                answer: String::new(),
            });
        }
    };
    let good = match reply.status {
        200..=299 | 304 => well_formed(reply),
        400..=499 if message.method == b"HEAD" => Ok(()),
        400..=499 => refusal(reply),
        500..=599 => failure(message, reply),
        _ => Err("a code out of place"),
    };
    good.map_err(|why| {
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        let said = serde_json::from_str::<Value>(&text).ok();
        let said = said
            .as_ref()
            .and_then(|status| status["message"].as_str())
            .unwrap_or(&text);
        Finding {
            class: format!("{why}: {} {}", reply.status, general(said)),
            answer: format!(
                "{} {} {}",
                reply.status,
                reply.content_type,
                shown(&reply.body, 1500)
            ),
        }
    })
}

/// A message without what differs from one request to the next.
fn general(text: &str) -> String {
    let words = text
        .chars()
        .filter(|c| c.is_ascii_alphabetic() || *c == ' ');
    words.take(40).collect()
}

fn well_formed(reply: &Reply) -> Result<(), &'static str> {
    let json = reply.content_type.starts_with("application/json");
    if !json || reply.body.is_empty() {
        return Ok(());
    }
    let whole = match reply.body.iter().rposition(|byte| *byte == b'\n') {
        Some(end) if reply.cut => &reply.body[..end],
        None if reply.cut => return Ok(()),
        _ => &reply.body[..],
    };
    let mut values = serde_json::Deserializer::from_slice(whole).into_iter::<Value>();
    if values.all(|value| value.is_ok()) {
        Ok(())
    } else {
        Err("success with a broken body")
    }
}

/// A Status as JSON or YAML, or plain text; a parser of HTTP itself may leave the body out.
fn refusal(reply: &Reply) -> Result<(), &'static str> {
    match reply.content_type.as_str() {
        "" if reply.body.is_empty() => Ok(()),
        "application/json" => {
            let status: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
            is_status(&status, reply.status)
        }
        "application/yaml" => {
            let text = String::from_utf8_lossy(&reply.body);
            let code = format!("code: {}", reply.status);
            let is = text.contains("kind: Status") && text.contains(&code);
            if is {
                Ok(())
            } else {
                Err("refusal without a Status")
            }
        }
        kind if kind.starts_with("text/plain") && !reply.body.is_empty() => Ok(()),
        _ => Err("refusal in an unknown form"),
    }
}

fn is_status(status: &Value, code: u16) -> Result<(), &'static str> {
    let text = |name: &str| status[name].as_str().unwrap_or_default();
    let head = (text("kind"), text("apiVersion"), text("status")) == ("Status", "v1", "Failure");
    if head
        && status["metadata"].is_object()
        && status["code"] == code
        && !text("message").is_empty()
    {
        Ok(())
    } else {
        Err("refusal without a Status")
    }
}

fn failure(message: &Message, reply: &Reply) -> Result<(), &'static str> {
    let text = String::from_utf8_lossy(&reply.body);
    // In both notations `reason` is a word of the document only where there is one.
    let bare = !text.contains("\"reason\":") && !text.contains("\nreason: ");
    let known = match reply.status {
        500 if reply.content_type.starts_with("text/plain") => {
            // An answer to HEAD has no body to say so.
            let said = message.method == b"HEAD" && reply.body.is_empty()
                || text.contains("failed to create RequestInfo");
            said && message.may_watch()
        }
        500 if bare => {
            let text = text.replace('\\', "");
            refusal(reply).is_ok()
                && FAILURES_OF_UPSTREAM
                    .iter()
                    .any(|known| text.contains(known))
        }
        501 => refusal(reply).is_ok(),
        504 => refusal(reply).is_ok() && text.contains("Timeout: Too large resource version: "),
        _ => false,
    };
    if known { Ok(()) } else { Err("failure") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(status: u16, content_type: &str, body: &str) -> bool {
        let reply = Reply {
            status,
            content_type: content_type.into(),
            body: body.into(),
            cut: false,
        };
        judge(&Message::new("GET", "/api"), &Outcome::Reply(reply)).is_ok()
    }

    fn check_head(target: &str, status: u16) -> bool {
        let reply = Reply {
            status,
            content_type: "text/plain; charset=utf-8".into(),
            body: Vec::new(),
            cut: false,
        };
        judge(&Message::new("HEAD", target), &Outcome::Reply(reply)).is_ok()
    }

    fn status(code: u16, reason: &str, message: &str) -> String {
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
               "message": message, "reason": reason, "code": code})
        .to_string()
    }

    #[test]
    fn good_answers_pass() {
        assert!(check(200, "application/json", r#"{"a":1}"#));
        assert!(check(
            404,
            "application/json",
            &status(404, "NotFound", "no")
        ));
        assert!(check(
            404,
            "text/plain; charset=utf-8",
            "404 page not found\n"
        ));
        assert!(check(400, "", ""));
        assert!(check(
            501,
            "application/json",
            &status(501, "", "log of pods is not served")
        ));
        let invalid = r#"resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x""#;
        let bare = status(500, "", invalid).replace("\"reason\":\"\",", "");
        assert!(check(500, "application/json", &bare));
        let yaml = "code: 500\nkind: Status\nmessage: 'unknown patch type: x in map: map[]'\n";
        assert!(check(500, "application/yaml", yaml));
        assert!(check_head("/apis/apps/v1/watch", 500));
    }

    #[test]
    fn bad_answers_are_found() {
        assert!(!check(200, "application/json", r#"{"a":"#));
        assert!(!check(
            404,
            "application/json",
            &status(400, "NotFound", "another code")
        ));
        assert!(!check(404, "application/json", "{}"));
        assert!(!check(400, "text/html", "<p>"));
        assert!(!check(302, "", ""));
        assert!(!check(
            500,
            "application/json",
            &status(500, "InternalError", "a bug")
        ));
        let bare = status(500, "", "something new").replace("\"reason\":\"\",", "");
        assert!(!check(500, "application/json", &bare));
        assert!(!check(503, "text/plain", "overload"));
        assert!(!check_head("/api/v1/pods", 500));
        let message = Message::new("GET", "/");
        assert!(judge(&message, &Outcome::Silence).is_err());
        assert!(judge(&message, &Outcome::Closed("reset".into())).is_err());
    }
}
