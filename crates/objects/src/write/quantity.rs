//! Quantities (`500m`, `1.5Gi`, `1e3`) in their canonical spelling: no fraction, no superfluous
//! zeros, the largest suffix that allows it; a plain integer is left as it was written.

const DECIMAL: &[(&str, i32)] = &[
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const BINARY: &[&str] = &["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Longer numbers are left as they are.
const DIGITS_MAX: usize = 18;
/// The smallest unit is a billionth.
const EXPONENT_MIN: i32 = -9;
const EXPONENT_MAX: i32 = 18;

/// The canonical spelling of `text`; `None` where it is no quantity, or a very long one.
pub(super) fn canonical(text: &str) -> Option<String> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    let (number, suffix) = rest.split_at_checked(end)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if suffix.is_empty() && number == whole && !whole.is_empty() {
        // A plain integer is kept as it was written.
        return Some(text.to_owned());
    }
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || digits.len() > DIGITS_MAX {
        return None;
    }
    let mantissa: i128 = digits.parse().ok()?;
    let exponent = -i32::try_from(fraction.len()).ok()?;
    if mantissa == 0 {
        return Some("0".to_owned());
    }
    let spelled = if let Some(at) = BINARY.iter().position(|s| *s == suffix) {
        binary(mantissa, exponent, at)?
    } else if let Some((_, shift)) = DECIMAL.iter().find(|(s, _)| *s == suffix) {
        decimal(mantissa, exponent + shift)?
    } else {
        let shift: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
        let wide = EXPONENT_MIN..=EXPONENT_MAX;
        let (mantissa, exponent) = settle(
            mantissa,
            exponent.checked_add(shift).filter(|e| wide.contains(e))?,
        )?;
        if exponent == 0 {
            mantissa.to_string()
        } else {
            format!("{mantissa}e{exponent}")
        }
    };
    Some(format!("{sign}{spelled}"))
}

fn binary(mantissa: i128, exponent: i32, power: usize) -> Option<String> {
    let shift = 10 * u32::try_from(power + 1).ok()?;
    let scaled = mantissa.checked_mul(1_i128.checked_shl(shift)?)?;
    let divisor = 10_i128.checked_pow(exponent.unsigned_abs())?;
    // A part of a byte is a whole one.
    let mut value = (scaled + divisor - 1) / divisor;
    if value < 1024 {
        return decimal(value, 0);
    }
    let mut suffix = "";
    for next in BINARY {
        if value % 1024 != 0 {
            break;
        }
        value /= 1024;
        suffix = next;
    }
    Some(format!("{value}{suffix}"))
}

fn decimal(mantissa: i128, exponent: i32) -> Option<String> {
    let (mantissa, exponent) = settle(mantissa, exponent)?;
    let (suffix, _) = DECIMAL.iter().find(|(_, e)| *e == exponent)?;
    Some(format!("{mantissa}{suffix}"))
}

/// The same value with an exponent that a suffix stands for, rounded up to a billionth.
fn settle(mut mantissa: i128, mut exponent: i32) -> Option<(i128, i32)> {
    while exponent < EXPONENT_MIN {
        mantissa = (mantissa + 9) / 10;
        exponent += 1;
    }
    while mantissa % 10 == 0 && mantissa != 0 && exponent < EXPONENT_MAX {
        mantissa /= 10;
        exponent += 1;
    }
    while exponent.rem_euclid(3) != 0 || exponent > EXPONENT_MAX {
        mantissa = mantissa.checked_mul(10)?;
        exponent -= 1;
    }
    Some((mantissa, exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_spelled_in_one_way() {
        for (text, expected) in [
            ("0.5", "500m"),
            ("1500m", "1500m"),
            ("2000m", "2"),
            ("1000m", "1"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("1e3", "1e3"),
            ("1k", "1k"),
            ("1000", "1000"),
            ("010", "010"),
            ("0", "0"),
            ("0Gi", "0"),
            ("-1024Ki", "-1Mi"),
            ("10.0", "10"),
            ("1n", "1n"),
        ] {
            let once = canonical(text);
            assert_eq!(once.as_deref(), Some(expected), "{text}");
            assert_eq!(
                canonical(expected).as_deref(),
                Some(expected),
                "{text} twice"
            );
        }
        for text in ["", "x", "12x", "1e", "1e999999999", ".", "-"] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }
}
