//! Base64 of the standard alphabet with padding: what byte members of objects look like.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// How many bytes `text` stands for; line breaks are not counted.
///
/// # Errors
/// The position of the first byte that does not belong there.
pub(super) fn decoded_len(text: &str) -> Result<usize, usize> {
    let mut letters = 0_usize;
    let mut padding = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\r' | b'\n' => {}
            b'=' if letters % 4 + padding >= 2 && padding < 2 => padding += 1,
            _ if padding > 0 || !ALPHABET.contains(&byte) => return Err(at),
            _ => letters += 1,
        }
    }
    if (letters + padding).is_multiple_of(4) {
        Ok(letters * 3 / 4)
    } else {
        Err(text.len() - letters % 4 - padding)
    }
}

/// The base64 of `bytes`.
pub(super) fn encode(bytes: &[u8]) -> String {
    let letter = |six: u32| char::from(ALPHABET.get(six as usize & 63).copied().unwrap_or(b'='));
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        text.push(letter(bits >> 18));
        text.push(letter(bits >> 12));
        text.push(if chunk.len() > 1 {
            letter(bits >> 6)
        } else {
            '='
        });
        text.push(if chunk.len() > 2 { letter(bits) } else { '=' });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_has_the_length_that_decoding_finds() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"b", "Yg=="),
            (b"wins", "d2lucw=="),
            (b"\0\x01\x02", "AAEC"),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decoded_len(text), Ok(bytes.len()), "{text}");
        }
    }

    #[test]
    fn what_is_no_base64_is_told_by_position() {
        for (text, at) in [("!!", 0), ("v", 0), ("YQ=a", 3), ("YWI=YWI=", 4), ("=", 0)] {
            assert_eq!(decoded_len(text), Err(at), "{text}");
        }
    }
}
