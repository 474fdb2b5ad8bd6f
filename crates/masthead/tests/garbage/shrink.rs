//! Finds a shorter request with the same finding, by leaving out parts.

use super::message::Message;
use super::wire::Way;
use super::{How, Run};

/// Requests that may be spent on one finding.
const TRIES_MAX: usize = 150;

/// The shortest request found that gives a finding of the same class.
pub(crate) async fn shrink(run: &Run, how: &How, found: Message, class: &str) -> Message {
    let mut best = found;
    let mut tries = 0;
    let mut at = 0;
    loop {
        let candidates = shorter(&best);
        if at >= candidates.len() || tries >= TRIES_MAX {
            return best;
        }
        tries += 1;
        let mut way = Way::new(&run.client, &run.token);
        let finding = run.send(how, &candidates[at], &mut way).await;
        if finding.is_err_and(|finding| finding.class == class) {
            best = candidates[at].clone();
            at = 0;
        } else {
            at += 1;
        }
    }
}

/// The request with one part left out, the largest parts first.
fn shorter(message: &Message) -> Vec<Message> {
    let mut all = Vec::new();
    for at in 0..message.headers.len() {
        let mut less = message.clone();
        less.headers.remove(at);
        all.push(less);
    }
    let mut parts = message.target.splitn(2, |byte| *byte == b'?');
    let path = parts.next().unwrap_or_default();
    let query: Vec<&[u8]> = parts
        .next()
        .map(|query| query.split(|byte| *byte == b'&').collect())
        .unwrap_or_default();
    for at in 0..query.len() {
        let mut rest = query.clone();
        rest.remove(at);
        let mark: &[u8] = if rest.is_empty() { b"" } else { b"?" };
        all.push(Message {
            target: [path, mark, &rest.join(&b'&')].concat(),
            ..message.clone()
        });
    }
    let mut size = message.body.len();
    while size > 0 && all.len() < 60 {
        for start in (0..message.body.len()).step_by(size) {
            let end = (start + size).min(message.body.len());
            let body = [&message.body[..start], &message.body[end..]].concat();
            all.push(Message {
                body,
                ..message.clone()
            });
        }
        size /= 2;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_left_out_once() {
        let mut message = Message::new("PUT", "/a?b=1&c").with("accept", "x");
        message.body = b"wxyz".to_vec();
        let all = shorter(&message);
        let targets: Vec<_> = all
            .iter()
            .map(|m| String::from_utf8_lossy(&m.target))
            .collect();
        assert!(targets.contains(&"/a?c".into()) && targets.contains(&"/a?b=1".into()));
        let bodies: Vec<_> = all
            .iter()
            .map(|m| String::from_utf8_lossy(&m.body))
            .collect();
        assert!(bodies.contains(&"".into()) && bodies.contains(&"wx".into()));
        assert!(all.iter().any(|m| m.headers.is_empty()));
    }
}
