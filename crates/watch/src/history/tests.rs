use masthead_api::Key;

use super::*;

const W: Duration = Duration::from_secs(75);
const S: Duration = Duration::from_secs(1);

fn rev(number: u64) -> Revision {
    Revision::new(number).unwrap()
}

fn event(revision: u64) -> Arc<Event> {
    Arc::new(Event::new(rev(revision), Key::new("ns", "a"), None, None))
}

fn history(lower: usize, upper: usize) -> History {
    let config = CacheConfig {
        history_events_min: lower,
        history_events_max: upper,
        window: W,
        ..CacheConfig::default()
    };
    History::new(&config, rev(10))
}

/// One event each `spacing`, revisions 11, 12, …
fn filled(lower: usize, upper: usize, events: u64, spacing: Duration) -> History {
    let mut history = history(lower, upper);
    for n in 0..events {
        history.push(event(11 + n), Mono::new(spacing * n as u32));
    }
    history
}

#[test]
fn an_empty_history_accepts_its_list_revision_and_nothing_older() {
    let history = history(100, 1000);
    assert_eq!(history.oldest_accepted(), rev(10));
    assert_eq!(history.last(), rev(10));
}

#[test]
fn a_slow_ring_stays_and_accepts_one_less_than_its_oldest_event() {
    let history = filled(100, 1000, 150, S);
    assert_eq!((history.capacity(), history.len()), (100, 100));
    // Events 11..=160 came, 61..=160 are kept.
    assert_eq!(history.oldest_accepted(), rev(60));
}

#[test]
fn a_quiet_ring_never_expires() {
    let mut history = filled(100, 1000, 100, S);
    assert_eq!(history.oldest_accepted(), rev(10));
    history.push(event(500), Mono::new(Duration::from_hours(24)));
    assert!(history.oldest_accepted() > rev(10));
}

#[test]
fn a_steady_rate_settles_where_a_window_fits() {
    // 80/s needs 6,000 places: 6,400. Nothing expires before they are full.
    let spacing = Duration::from_micros(12_500);
    let full = filled(100, 102_400, 6400, spacing);
    assert_eq!((full.capacity(), full.oldest_accepted()), (6400, rev(10)));
    let later = filled(100, 102_400, 12_000, spacing);
    assert_eq!((later.capacity(), later.len()), (6400, 6400));
    assert!(later.oldest_accepted() > rev(10));
    // 95/s needs 7,125: 12,800, so 10,000 events in 105 s expire nothing.
    let faster = filled(100, 102_400, 10_000, Duration::from_micros(10_526));
    assert_eq!(
        (faster.capacity(), faster.oldest_accepted()),
        (12_800, rev(10))
    );
}

#[test]
fn a_burst_is_kept_whole() {
    let history = filled(100, 102_400, 1200, Duration::from_millis(10));
    assert_eq!((history.len(), history.oldest_accepted()), (1200, rev(10)));
}

/// Fills a ring of exactly `cap` from position `start`, then adds one event; the new capacity.
fn resized(cap: usize, lower: usize, upper: usize, spacing: Duration, start: u64) -> usize {
    let mut history = history(lower, upper);
    history.capacity = cap;
    history.first = start;
    for n in 0..=cap as u32 {
        history.push(event(11 + u64::from(n)), Mono::new(spacing * n));
    }
    let kept = history.len();
    assert!(kept <= history.capacity);
    assert_eq!(history.first + kept as u64, start + cap as u64 + 1);
    let whole = history.first == start;
    assert_eq!(whole, history.dropped.is_none());
    history.capacity
}

#[test]
fn the_resize_table_holds_from_any_start() {
    for start in [0, 3] {
        for (cap, lower, upper, spacing, want) in [
            (5, 2, 10, W / 6, 10),
            (5, 2, 10, W / 4, 5),
            (5, 2, 10, W + S, 2),
            (5, 3, 10, W + S, 3),
            (5, 2, 8, W / 6, 8),
            (8, 4, 16, W / 9, 16),
            (8, 4, 16, W / 8, 8),
            (8, 4, 16, W / 2 + S, 4),
            (8, 7, 16, W / 2 + S, 7),
            (8, 4, 10, W / 9, 10),
        ] {
            assert_eq!(
                resized(cap, lower, upper, spacing, start),
                want,
                "{cap} {lower} {upper}"
            );
        }
    }
}

#[test]
fn a_revision_of_which_a_part_was_dropped_is_not_resumed_inside() {
    let mut history = history(2, 2);
    for n in 0..3 {
        history.push(event(20), Mono::new(W * 2 * n));
    }
    // One of three events of revision 20 is gone: after 19 would be a torn revision.
    assert_eq!(history.oldest_accepted(), rev(20));
    history.push(event(25), Mono::new(W * 7));
    history.push(event(26), Mono::new(W * 9));
    assert_eq!(history.oldest_accepted(), rev(24));
}

#[test]
fn positions_survive_dropping() {
    let history = filled(4, 4, 10, W * 2);
    assert_eq!(history.oldest_accepted(), rev(16));
    let revisions = |seq| -> Option<Vec<u64>> {
        history
            .from(seq)
            .map(|events| events.map(|event| event.revision.get()).collect())
    };
    assert_eq!(revisions(history.seq_after(rev(18))), Some(vec![19, 20]));
    assert_eq!(revisions(history.end()), Some(vec![]));
    assert_eq!(revisions(Seq(5)), None);
    assert_eq!(revisions(Seq(6)), Some(vec![17, 18, 19, 20]));
}
