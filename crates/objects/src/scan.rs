//! A reader of compact JSON that knows where it stands: finds members and their byte spans without
//! building a tree. It checks the structure it walks through, not the scalars it skips.

use std::borrow::Cow;

/// Stored bytes are not the JSON of an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes at `at` are not what JSON has there.
    #[error("malformed JSON at byte {at}")]
    Malformed {
        /// Byte offset.
        at: usize,
    },
    /// The object has no `metadata` object.
    #[error("the object has no metadata")]
    NoMetadata,
    /// The object holds a resourceVersion, which belongs to the commit.
    #[error("the stored object holds a resourceVersion")]
    HoldsResourceVersion,
}

/// Half-open byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: usize,
    pub(crate) until: usize,
}

/// A place in JSON text.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    fn malformed<T>(&self) -> Result<T, DecodeError> {
        Err(DecodeError::Malformed { at: self.at })
    }

    /// The next byte that is no white space, not taken.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn take(&mut self, wanted: u8) -> Result<(), DecodeError> {
        if self.peek() == Some(wanted) {
            self.at += 1;
            return Ok(());
        }
        self.malformed()
    }

    /// The text between the quotes of the string that starts here, escapes as they are.
    fn raw_string(&mut self) -> Result<(&'a [u8], bool), DecodeError> {
        self.take(b'"')?;
        let from = self.at;
        let mut escaped = false;
        loop {
            let Some(at) = quote_or_escape(self.bytes, self.at) else {
                return self.malformed();
            };
            if self.bytes.get(at) == Some(&b'"') {
                let text = self.bytes.get(from..at).unwrap_or_default();
                self.at = at + 1;
                return Ok((text, escaped));
            }
            escaped = true;
            self.at = at + 2;
        }
    }

    /// The string that starts here.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, DecodeError> {
        self.peek();
        let from = self.at;
        let (raw, escaped) = self.raw_string()?;
        let malformed = DecodeError::Malformed { at: from };
        if !escaped {
            return std::str::from_utf8(raw)
                .map(Cow::Borrowed)
                .map_err(|_| malformed);
        }
        let quoted = self.bytes.get(from..self.at).unwrap_or_default();
        serde_json::from_slice(quoted)
            .map(Cow::Owned)
            .map_err(|_| malformed)
    }

    /// Steps over one value and tells where it was.
    pub(crate) fn skip(&mut self) -> Result<Span, DecodeError> {
        let first = self.peek();
        let from = self.at;
        match first {
            Some(b'"') => {
                self.raw_string()?;
            }
            Some(b'{' | b'[') => self.skip_nested()?,
            Some(b't' | b'f' | b'n' | b'-' | b'0'..=b'9') => self.skip_scalar(),
            _ => return self.malformed(),
        }
        Ok(Span {
            from,
            until: self.at,
        })
    }

    fn skip_nested(&mut self) -> Result<(), DecodeError> {
        let mut depth = 0_usize;
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.raw_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        self.malformed()
    }

    fn skip_scalar(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            if matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t') {
                return;
            }
            self.at += 1;
        }
    }

    /// The text of the bytes in `span`.
    pub(crate) fn text(&self, span: Span) -> &'a str {
        std::str::from_utf8(self.bytes.get(span.from..span.until).unwrap_or_default())
            .unwrap_or_default()
    }

    /// Calls `member` for each member of the object that starts here, with its key and where the
    /// key started; `member` must take the value.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &str, usize) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        self.take(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.peek();
            let key_at = self.at;
            let key = self.string()?;
            self.take(b':')?;
            member(self, &key, key_at)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.malformed(),
            }
        }
    }

    /// Calls `item` for each item of the array that starts here; `item` must take the value.
    pub(crate) fn array(
        &mut self,
        mut item: impl FnMut(&mut Self, usize) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        self.take(b'[')?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        for number in 0.. {
            item(self, number)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return self.malformed(),
            }
        }
        self.at += 1;
        Ok(())
    }

    /// The value of the member `wanted` of the object that starts here; what follows it is not read.
    pub(crate) fn find(&mut self, wanted: &str) -> Result<Option<Span>, DecodeError> {
        self.take(b'{')?;
        while self.peek() == Some(b'"') {
            let key = self.string()?;
            self.take(b':')?;
            let span = self.skip()?;
            if key == wanted {
                return Ok(Some(span));
            }
            if self.peek() == Some(b',') {
                self.at += 1;
            }
        }
        self.take(b'}')?;
        Ok(None)
    }

    /// Nothing but white space may follow.
    pub(crate) fn end(&mut self) -> Result<(), DecodeError> {
        if self.peek().is_none() {
            Ok(())
        } else {
            self.malformed()
        }
    }
}

/// Where the next quote or backslash is, from `at` on; eight bytes at a time.
fn quote_or_escape(bytes: &[u8], mut at: usize) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // The lowest bit set is that of the first byte that is zero.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    while let Some(chunk) = bytes.get(at..)?.first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let same = |byte: u8| zero(word ^ (ONES * u64::from(byte)));
        let hits = same(b'"') | same(b'\\');
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let step = bytes
        .get(at..)?
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\\'))?;
    Some(at + step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_with_their_places_and_escapes() {
        let json = br#"{"a":"x\"}","b\n":[1,{"c":"]"}],"d":-1.5e3}"#;
        let mut seen = Vec::new();
        let mut scanner = Scanner::new(json);
        scanner
            .object(|s, key, at| {
                let span = s.skip()?;
                seen.push((key.to_owned(), at, s.text(span).to_owned()));
                Ok(())
            })
            .unwrap();
        assert_eq!(scanner.end(), Ok(()));
        assert_eq!(seen[0], ("a".into(), 1, r#""x\"}""#.into()));
        assert_eq!(seen[1], ("b\n".into(), 12, r#"[1,{"c":"]"}]"#.into()));
        assert_eq!(seen[2].2, "-1.5e3");
    }

    #[test]
    fn cut_json_is_an_error_at_every_byte() {
        let json = br#"{"a":{"b":["c",1,true,null,"\u0041"]}}"#;
        for until in 0..json.len() {
            let mut scanner = Scanner::new(&json[..until]);
            assert!(scanner.skip().is_err(), "{until}");
        }
        assert!(Scanner::new(json).skip().is_ok());
    }

    #[test]
    fn quotes_are_found_wherever_they_stand() {
        for at in 0..20 {
            for special in [b'"', b'\\'] {
                let mut bytes = [0xA2_u8; 24];
                bytes[at] = special;
                bytes[22] = b'"';
                assert_eq!(quote_or_escape(&bytes, 0), Some(at));
                assert_eq!(quote_or_escape(&bytes, at + 1), Some(22));
            }
        }
        assert_eq!(quote_or_escape(b"ab", 5), None);
    }
}
