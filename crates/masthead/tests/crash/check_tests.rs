//! Each check passes a good history, and fails the one that it is for.

use serde_json::json;

use super::super::history::read_object;
use super::*;

const fn stamp(number: u32) -> Stamp {
    Stamp {
        round: 0,
        writer: 0,
        number,
    }
}

const fn version(revision: u64, number: u32) -> Version {
    Version {
        revision,
        stamp: stamp(number),
    }
}

/// An acknowledged creation of "a"; the others start from it.
fn write(number: u32, outcome: Outcome) -> Write {
    let sent = u64::from(number) * 2;
    let done = if outcome == Outcome::Unknown {
        u64::MAX
    } else {
        sent + 1
    };
    let of = None;
    Write {
        key: "a",
        op: Op::Update,
        stamp: stamp(number),
        of,
        floor: 10,
        sent,
        done,
        outcome,
    }
}

fn seen(kind: Kind, revision: u64, number: u32) -> Seen {
    Seen {
        kind,
        key: "a".to_owned(),
        version: version(revision, number),
    }
}

fn state(revision: u64, a: Option<Version>) -> State {
    State {
        revision,
        objects: a.map(|a| ("a".to_owned(), a)).into_iter().collect(),
    }
}

/// "a" is there, is changed, deleted, created anew, and changed by a write without an answer.
fn good() -> Round {
    let create = Write {
        op: Op::Create,
        ..write(4, Outcome::Committed(14))
    };
    let stream = vec![
        seen(Kind::Modified, 11, 2),
        seen(Kind::Deleted, 13, 2),
        seen(Kind::Added, 14, 4),
        seen(Kind::Modified, 15, 5),
    ];
    Round {
        base: state(10, Some(version(9, 1))),
        writes: vec![
            write(2, Outcome::Committed(11)),
            Write {
                op: Op::Delete,
                of: Some(11),
                ..write(3, Outcome::Deleted)
            },
            create,
            write(5, Outcome::Unknown),
            write(6, Outcome::Refused),
        ],
        streams: vec![
            stream.clone(),
            [stream, vec![seen(Kind::Added, 16, 9)]].concat(),
        ],
        after: state(15, Some(version(15, 5))),
        sentinel: 16,
    }
}

#[test]
fn a_good_history_passes() {
    assert_eq!(good().check(), Ok(()));
    let quiet = Round {
        sentinel: 1,
        ..Round::default()
    };
    assert_eq!(quiet.check(), Ok(()));
}

#[test]
fn an_older_version_in_the_list_is_a_lost_write() {
    let mut round = good();
    round.after = state(15, Some(version(11, 2)));
    assert!(
        matches!(round.check(), Err(Fault::Lost { .. })),
        "{:?}",
        round.check()
    );
}

#[test]
fn an_absent_object_is_lost_unless_a_deletion_explains_it() {
    let mut round = good();
    round.after = state(15, None);
    // The deletion was answered before the creation was sent.
    assert!(
        matches!(round.check(), Err(Fault::Lost { .. })),
        "{:?}",
        round.check()
    );
    let lost = |writes: &[Write]| {
        no_acknowledged_write_is_lost(&round.base, writes, &round.after).is_err()
    };
    let later = |of| Write {
        op: Op::Delete,
        of,
        ..write(7, Outcome::Unknown)
    };
    assert!(!lost(&[round.writes.as_slice(), &[later(None)]].concat()));
    assert!(!lost(
        &[round.writes.as_slice(), &[later(Some(14))]].concat()
    ));
    assert!(lost(
        &[round.writes.as_slice(), &[later(Some(11))]].concat()
    ));
}

#[test]
fn a_deleted_object_that_is_back_is_found() {
    let (base, after) = (
        state(10, Some(version(9, 1))),
        state(12, Some(version(9, 1))),
    );
    let deletion = Write {
        op: Op::Delete,
        ..write(2, Outcome::Deleted)
    };
    let fault = no_acknowledged_write_is_lost(&base, &[deletion], &after);
    assert!(matches!(fault, Err(Fault::Resurrected { .. })), "{fault:?}");
}

#[test]
fn a_version_that_nobody_wrote_is_found() {
    let mut round = good();
    round.after = state(15, Some(version(15, 77)));
    assert!(
        matches!(round.check(), Err(Fault::Foreign { .. })),
        "{:?}",
        round.check()
    );
    let mut round = good();
    round.after = state(15, Some(version(15, 6)));
    assert!(
        matches!(round.check(), Err(Fault::RefusedHappened { .. })),
        "{:?}",
        round.check()
    );
    let mut round = good();
    round.after = state(15, Some(version(15, 4)));
    assert!(
        matches!(round.check(), Err(Fault::Foreign { .. })),
        "{:?}",
        round.check()
    );
}

#[test]
fn a_version_used_twice_is_found() {
    let mut round = good();
    round.writes.push(Write {
        key: "b",
        ..write(8, Outcome::Committed(13))
    });
    let fault = revisions_are_new(&round);
    assert!(
        matches!(fault, Err(Fault::RevisionReused { revision: 13, .. })),
        "{fault:?}"
    );
}

#[test]
fn a_version_that_is_not_greater_than_those_before_is_found() {
    for wrong in [
        Write {
            floor: 14,
            ..write(8, Outcome::Committed(14))
        },
        {
            Write {
                floor: 0,
                ..write(8, Outcome::Committed(10))
            }
        },
    ] {
        let mut round = good();
        round.writes.push(wrong);
        let fault = revisions_are_new(&round);
        assert!(
            matches!(fault, Err(Fault::RevisionTooSmall { .. })),
            "{fault:?}"
        );
    }
    let fault = revisions_are_new(&Round {
        sentinel: 15,
        ..good()
    });
    assert!(
        matches!(fault, Err(Fault::RevisionTooSmall { .. })),
        "{fault:?}"
    );
    // Even where only a watcher saw the greater one.
    let mut round = good();
    (round.after, round.writes[3].outcome) = (state(14, None), Outcome::Refused);
    round.sentinel = 15;
    round.streams = vec![vec![seen(Kind::Modified, 15, 5)]];
    round.writes.push(write(8, Outcome::Committed(15)));
    let fault = revisions_are_new(&round);
    assert!(
        matches!(fault, Err(Fault::RevisionTooSmall { .. })),
        "{fault:?}"
    );
}

#[test]
fn gaps_repetitions_and_wrong_order_in_a_stream_are_found() {
    let check = |change: fn(&mut Vec<Seen>)| {
        let mut round = good();
        round.streams.truncate(1);
        change(&mut round.streams[0]);
        round.check().unwrap_err()
    };
    let gap = check(|stream| drop(stream.remove(0)));
    assert!(
        matches!(gap, Fault::WrongEvent { .. } | Fault::EventMissing { .. }),
        "{gap}"
    );
    let end = check(|stream| drop(stream.pop()));
    assert!(matches!(end, Fault::StreamDiffersFromList { .. }), "{end}");
    let twice = check(|stream| stream.insert(1, stream[0].clone()));
    assert!(matches!(twice, Fault::OutOfOrder { .. }), "{twice}");
    let order = check(|stream| stream.swap(0, 1));
    assert!(
        matches!(order, Fault::OutOfOrder { .. } | Fault::WrongEvent { .. }),
        "{order}"
    );
    let kind = check(|stream| stream[0].kind = Kind::Added);
    assert!(matches!(kind, Fault::WrongEvent { .. }), "{kind}");
    let old = check(|stream| stream[0].version.revision = 10);
    assert!(matches!(old, Fault::OutOfOrder { .. }), "{old}");
}

#[test]
fn missing_repeated_and_foreign_events_are_found() {
    let Round {
        writes, streams, ..
    } = good();
    let stream = &streams[0];
    assert_eq!(stream_has_each_write_once(&writes, stream), Ok(()));
    let fault = stream_has_each_write_once(&writes, &stream[1..]);
    assert!(
        matches!(fault, Err(Fault::EventMissing { .. })),
        "{fault:?}"
    );
    let fault = stream_has_each_write_once(&writes[1..], stream);
    assert!(matches!(fault, Err(Fault::Foreign { .. })), "{fault:?}");
    let again = [stream.as_slice(), &[seen(Kind::Modified, 16, 5)]].concat();
    let fault = stream_has_each_write_once(&writes, &again);
    assert!(matches!(fault, Err(Fault::EventTwice { .. })), "{fault:?}");
    let again = [stream.as_slice(), &[seen(Kind::Deleted, 16, 5)]].concat();
    let fault = stream_has_each_write_once(&writes, &again);
    assert!(
        matches!(fault, Err(Fault::Deletions { events: 2, .. })),
        "{fault:?}"
    );
    let fewer = [&stream[..1], &stream[2..]].concat();
    let fault = stream_has_each_write_once(&writes, &fewer);
    assert!(
        matches!(fault, Err(Fault::Deletions { events: 0, .. })),
        "{fault:?}"
    );
}

#[test]
fn writes_in_spite_of_their_condition_are_found() {
    let change: [fn(&mut Round); 3] = [
        |round| round.writes[0].of = Some(8),
        |round| round.writes[1].of = Some(9),
        |round| round.writes[2].op = Op::Patch,
    ];
    for change in change {
        let mut round = good();
        change(&mut round);
        let fault = conditions_held(&round.base, &round.writes, &round.streams[0]);
        assert!(matches!(fault, Err(Fault::Condition { .. })), "{fault:?}");
    }
}

#[test]
fn watchers_that_disagree_are_found() {
    let mut round = good();
    round.streams[1][3] = seen(Kind::Modified, 15, 4);
    let fault = streams_agree(&round.streams);
    assert!(
        matches!(fault, Err(Fault::Disagreement { at: 3, .. })),
        "{fault:?}"
    );
}

#[test]
fn a_torn_object_is_not_read() {
    let metadata = json!({"name": "a", "resourceVersion": "7"});
    let read = |data| read_object(&json!({"metadata": metadata, "data": data}));
    assert_eq!(read(stamp(3).data()), Ok(("a".to_owned(), version(7, 3))));
    for (member, value) in [("padding", "abc"), ("stamp", "0.0.4"), ("sum", "0")] {
        let mut data = stamp(3).data();
        data[member] = value.into();
        assert!(read(data).is_err(), "{member}");
    }
    // The sum is right, but no writer sends this.
    let mut longer = stamp(3).data();
    longer["more"] = "x".into();
    assert!(read(longer).is_err());
}
