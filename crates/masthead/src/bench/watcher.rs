//! [`Watcher`]: one watch as it is read, and [`WatchError`], which ends it.

use std::time::Duration;

use http::Response;
use hyper::body::Incoming;
use tokio::time::sleep;

use super::client::{Call, ClientError};
use super::connection::Connection;
use super::wire::{EndlessLine, Frame, Lines, Marker, Reader};

/// A server that is busy is asked so often for one watch.
const OPENINGS_MAX: u32 = 20;
/// Why a watcher ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum WatchError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("the stream broke: {0}")]
    Broken(#[from] hyper::Error),
    #[error("the server ended the watch: {0}")]
    Told(String),
    #[error("the server ended the watch without a word")]
    Ended,
    #[error("a line is no frame")]
    Unknown,
    #[error(transparent)]
    Endless(#[from] EndlessLine),
    #[error("version {now} came after version {before}")]
    Disorder { before: u64, now: u64 },
}

/// Where one watcher stands.
#[derive(Default)]
pub(super) struct Watcher {
    lines: Lines,
    version: u64,
}

impl Watcher {
    /// Takes in the next part of the stream, and hands the marker of each update to `each`.
    ///
    /// # Errors
    /// The first thing that is wrong; what came before it was handed out.
    pub(super) fn take(
        &mut self,
        reader: &Reader,
        data: &[u8],
        mut each: impl FnMut(Marker),
    ) -> Result<(), WatchError> {
        let Self { lines, version } = self;
        let mut wrong = None;
        let cut = lines.push(data, |line| {
            if wrong.is_some() {
                return;
            }
            match update(reader, version, line) {
                Ok(marker) => marker.into_iter().for_each(&mut each),
                Err(error) => wrong = Some(error),
            }
        });
        wrong.map_or(Ok(cut?), Err)
    }
}

/// The marker of one line, if it is an update; versions must rise.
fn update(reader: &Reader, last: &mut u64, line: &[u8]) -> Result<Option<Marker>, WatchError> {
    match reader.frame(line) {
        Frame::Change { version, marker } => {
            let before = std::mem::replace(last, version);
            if version <= before {
                return Err(WatchError::Disorder {
                    before,
                    now: version,
                });
            }
            Ok(marker)
        }
        Frame::Bookmark => Ok(None),
        Frame::Error(message) => Err(WatchError::Told(message)),
        Frame::Unknown => Err(WatchError::Unknown),
    }
}

/// Opens a watch; a server that is busy is asked again.
pub(super) async fn open(
    connection: &mut Connection,
    call: &Call,
) -> Result<Response<Incoming>, ClientError> {
    let mut attempt = 1;
    loop {
        match connection.send(call).await {
            Err(ClientError::Refused {
                retry_after_seconds: Some(seconds),
                ..
            }) if attempt < OPENINGS_MAX => {
                attempt += 1;
                sleep(Duration::from_secs(seconds.clamp(1, 10))).await;
            }
            answer => return answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(version: u64, number: u64) -> String {
        format!(
            "{{\"type\":\"MODIFIED\",\"object\":{{\"resourceVersion\":\"{version}\",\
             \"masthead-bench.sent\":\"{number}.0\"}}}}\n"
        )
    }

    /// The numbers of the updates in `stream`, and what is wrong with it.
    fn check(stream: &str) -> (Vec<u64>, Option<String>) {
        let (mut watcher, mut numbers) = (Watcher::default(), Vec::new());
        let taken = watcher.take(&Reader::default(), stream.as_bytes(), |marker| {
            numbers.push(marker.number);
        });
        (numbers, taken.err().map(|error| error.to_string()))
    }

    #[test]
    fn updates_are_handed_out_and_bookmarks_are_not() {
        let bookmark = "{\"type\":\"BOOKMARK\",\"object\":{\"resourceVersion\":\"9\"}}\n";
        let stream = [&change(3, 0), bookmark, &change(5, 1)].concat();
        assert_eq!(check(&stream), (vec![0, 1], None));
    }

    #[test]
    fn nothing_is_taken_from_behind_what_is_wrong() {
        let told = "{\"type\":\"ERROR\",\"object\":{\"message\":\"too old\"}}\n";
        for (wrong, wanted) in [
            (change(3, 7), "version 3 came after version 3"),
            (change(2, 7), "version 2 came after version 3"),
            (told.to_owned(), "too old"),
            ("garbage\n".to_owned(), "no frame"),
        ] {
            let (numbers, error) = check(&[change(3, 0), wrong, change(9, 1)].concat());
            assert_eq!(numbers, [0], "{wanted}");
            assert!(error.unwrap().contains(wanted), "{wanted}");
        }
    }
}
