//! What is found in frames and lists, wherever they are cut.

use super::*;

const MARKER: Marker = Marker {
    number: 42,
    sent_nanos: 1_234_567_890,
};

fn change(kind: &str) -> String {
    format!(
        r#"{{"type":"{kind}","object":{{"kind":"ConfigMap","metadata":{{"name":"a","resourceVersion":"77","annotations":{{"{SENT}":"{MARKER}"}},"managedFields":[{{"fieldsV1":{{"f:{SENT}":{{}}}}}}]}}}}}}"#
    )
}

#[test]
fn a_marker_is_found_in_each_kind_of_change() {
    let reader = Reader::default();
    for kind in ["ADDED", "MODIFIED", "DELETED"] {
        let wanted = Frame::Change {
            version: 77,
            marker: Some(MARKER),
        };
        assert_eq!(reader.frame(change(kind).as_bytes()), wanted, "{kind}");
    }
}

#[test]
fn frames_without_a_marker_are_told_apart() {
    let check = |line: &str, wanted: Frame| {
        assert_eq!(Reader::default().frame(line.as_bytes()), wanted, "{line}");
    };
    let unmarked = r#"{"type":"ADDED","object":{"metadata":{"resourceVersion":"5","managedFields":[{"f:masthead-bench.sent":{}}]}}}"#;
    check(
        unmarked,
        Frame::Change {
            version: 5,
            marker: None,
        },
    );
    check(
        r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5"}}}"#,
        Frame::Bookmark,
    );
    check(
        r#"{"type":"ERROR","object":{"message":"too old"}}"#,
        Frame::Error("too old".to_owned()),
    );
    check(r#"{"type":"ADDED","object":{}}"#, Frame::Unknown);
    check(
        r#"{"type":"ADDED","object":{"resourceVersion":"#,
        Frame::Unknown,
    );
    check("", Frame::Unknown);
    check("<html>", Frame::Unknown);
}

#[test]
fn lines_are_whole_wherever_the_stream_is_cut() {
    let stream = b"one\ntwo\n\nfour\n";
    for cut in 0..=stream.len() {
        for second in cut..=stream.len() {
            let (mut lines, mut seen) = (Lines::default(), Vec::new());
            for part in [&stream[..cut], &stream[cut..second], &stream[second..]] {
                let each = |line: &[u8]| seen.push(String::from_utf8_lossy(line).into_owned());
                lines.push(part, each).unwrap();
            }
            assert_eq!(seen, ["one", "two", "", "four"], "{cut} {second}");
        }
    }
}

#[test]
fn a_line_without_an_end_is_refused() {
    let mut lines = Lines::default();
    let chunk = vec![b'x'; FRAME_BYTES_MAX];
    assert_eq!(lines.push(&chunk, |_| {}), Ok(()));
    assert_eq!(lines.push(b"x", |_| {}), Err(EndlessLine));
}

#[test]
fn objects_are_counted_once_wherever_the_list_is_cut() {
    let item = format!(r#"{{"labels":{{"{SUBJECT}":"1"}},"f:{SUBJECT}":{{}}}}"#);
    let list = format!(r#"{{"metadata":{{"continue":"a b="}},"items":[{item},{item}]}}"#);
    let list = list.as_bytes();
    for length in 1..=list.len() {
        let mut reader = ListReader::default();
        for part in list.chunks(length) {
            reader.push(part);
        }
        assert_eq!(reader.objects(), 2, "parts of {length}");
        assert_eq!(reader.token().as_deref(), Some("a%20b%3D"));
    }
}

#[test]
fn the_last_page_has_no_token() {
    let mut reader = ListReader::default();
    reader.push(br#"{"metadata":{"resourceVersion":"1"},"items":[]}"#);
    assert_eq!(reader.token(), None);
    assert_eq!(reader.objects(), 0);
}

#[test]
fn a_number_longer_than_its_place_is_still_read() {
    let marker = Marker {
        number: 123_456_789_012,
        sent_nanos: u64::MAX,
    };
    assert_eq!(Marker::parse(marker.to_string().as_bytes()), Some(marker));
    for text in ["", ".", "1", "1.x", "x.1"] {
        assert_eq!(Marker::parse(text.as_bytes()), None, "{text}");
    }
}
