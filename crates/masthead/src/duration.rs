//! Durations as Go's flags write them: `1h30m`, `90s`, `500ms`; a bare number counts seconds.

use std::time::Duration;

/// Units, longer spellings before those that they start with.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];

/// Not a duration.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a duration like 1h30m, 90s or 500ms")]
pub(crate) struct DurationError;

/// The duration that `text` says.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    if let Ok(seconds) = text.parse::<u64>() {
        return Ok(Duration::from_secs(seconds));
    }
    let mut rest = text;
    let mut millis = 0_u64;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .ok_or(DurationError)?;
        let (number, unit) = rest.split_at(digits);
        let number: u64 = number.parse().map_err(|_| DurationError)?;
        let (after, factor) = UNITS
            .iter()
            .find_map(|(name, factor)| Some((unit.strip_prefix(name)?, factor)))
            .ok_or(DurationError)?;
        let part = number.checked_mul(*factor).ok_or(DurationError)?;
        millis = millis.checked_add(part).ok_or(DurationError)?;
        rest = after;
    }
    if text.is_empty() {
        Err(DurationError)
    } else {
        Ok(Duration::from_millis(millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        let check = |text: &str, millis: u64| {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        };
        check("1h0m0s", 3_600_000);
        check("5m", 300_000);
        check("1m30s", 90_000);
        check("250ms", 250);
        check("1800", 1_800_000);
        check("0", 0);
        for wrong in [
            "",
            "h",
            "1",
            "1x",
            "1h2",
            "-1s",
            "1.5h",
            "99999999999999999999s",
        ] {
            assert_eq!(parse(wrong).is_ok(), wrong == "1", "{wrong}");
        }
    }
}
