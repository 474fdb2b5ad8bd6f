use super::*;

fn revision(number: u64) -> Revision {
    Revision::new(number).unwrap()
}

fn at(number: u64) -> Position {
    Position::first(revision(number))
}

/// The key of the drawing in the module's head.
fn drawn() -> Index {
    let mut index = Index::default();
    index.put(b"k", at(2));
    index.put(b"k", at(4));
    index.push(
        b"k",
        Entry {
            at: at(6),
            create_revision: revision(2),
            version: 0,
        },
    );
    index.put(b"k", at(9));
    index
}

fn drawing(index: &Index) -> String {
    let mut out = Vec::new();
    index.walk(&KeyRange::all(), &Cursor::Start, 9, |_, history| {
        for entry in &history.entries {
            let version = match entry.version {
                0 => "x".to_owned(),
                number => number.to_string(),
            };
            out.push(format!("{}:{version}", entry.at.revision));
        }
        ControlFlow::Continue(())
    });
    out.join(" ")
}

#[test]
fn the_history_is_as_drawn() {
    assert_eq!(drawing(&drawn()), "2:1 4:2 6:x 9:1");
}

#[test]
fn reads_see_the_generation_of_their_revision() {
    let seen = |number| {
        drawn().live_at(b"k", revision(number)).map(|entry| {
            (
                entry.at.revision.get(),
                entry.create_revision.get(),
                entry.version,
            )
        })
    };
    let table = [
        (1, None),
        (2, Some((2, 2, 1))),
        (3, Some((2, 2, 1))),
        (4, Some((4, 2, 2))),
        (5, Some((4, 2, 2))),
        (6, None),
        (8, None),
        (9, Some((9, 9, 1))),
        (100, Some((9, 9, 1))),
    ];
    for (number, expected) in table {
        assert_eq!(seen(number), expected, "at {number}");
    }
}

#[test]
fn compaction_keeps_what_a_reader_at_the_boundary_or_a_follower_from_it_needs() {
    let table = [
        (1, "2:1 4:2 6:x 9:1", 0),
        (2, "2:1 4:2 6:x 9:1", 0),
        (3, "2:1 4:2 6:x 9:1", 0),
        (4, "4:2 6:x 9:1", 1),
        (5, "4:2 6:x 9:1", 1),
        (6, "6:x 9:1", 2),
        (7, "9:1", 3),
        (8, "9:1", 3),
        (9, "9:1", 3),
        (50, "9:1", 3),
    ];
    for (through, expected, removed_count) in table {
        let (mut index, mut removed) = (drawn(), Vec::new());
        let next = index.compact_step(revision(through), &Cursor::Start, 10, &mut removed);
        assert_eq!(
            (drawing(&index).as_str(), removed.len()),
            (expected, removed_count),
            "{through}"
        );
        assert_eq!(next, Cursor::End);
    }
}

#[test]
fn a_deleted_key_leaves_no_trace_behind_the_boundary() {
    let mut index = Index::default();
    index.put(b"k", at(2));
    index.push(
        b"k",
        Entry {
            at: at(3),
            create_revision: revision(2),
            version: 0,
        },
    );
    let mut removed = Vec::new();
    index.compact_step(revision(3), &Cursor::Start, 10, &mut removed);
    assert_eq!((drawing(&index).as_str(), removed.len()), ("3:x", 1));
    index.compact_step(revision(4), &Cursor::Start, 10, &mut removed);
    assert_eq!((index.len(), removed.len()), (0, 2));
}

#[test]
fn undo_forgets_exactly_what_is_behind_the_revision() {
    let table = [
        (9, "2:1 4:2 6:x 9:1"),
        (8, "2:1 4:2 6:x"),
        (5, "2:1 4:2"),
        (3, "2:1"),
        (1, ""),
    ];
    for (number, expected) in table {
        let mut index = drawn();
        index.undo_after(b"k", revision(number));
        assert_eq!(drawing(&index), expected);
    }
}

#[test]
fn a_walk_in_steps_visits_every_key_of_the_range_once_in_order() {
    let mut index = Index::default();
    for key in ["a", "b", "c", "d", "e"] {
        index.put(key.as_bytes(), at(2));
    }
    let range = KeyRange::Between {
        from: "b".into(),
        until: "e".into(),
    };
    for step in 1..5 {
        let (mut seen, mut cursor) = (String::new(), Cursor::Start);
        while cursor != Cursor::End {
            cursor = index.walk(&range, &cursor, step, |key, _| {
                seen.push_str(std::str::from_utf8(key).unwrap());
                ControlFlow::Continue(())
            });
        }
        assert_eq!(seen, "bcd", "step {step}");
    }
}
