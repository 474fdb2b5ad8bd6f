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
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let Some(step) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
                return self.malformed();
            };
            self.at += step;
            if self.bytes.get(self.at) == Some(&b'"') {
                let text = self.bytes.get(from..self.at).unwrap_or_default();
                self.at += 1;
                return Ok((text, escaped));
            }
            escaped = true;
            self.at += 2;
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
        let (mut depth, mut in_string) = (0_usize, false);
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += 1;
            match (byte, in_string) {
                (b'"', _) => in_string = !in_string,
                (b'\\', true) => self.at += 1,
                (b'{' | b'[', false) => depth += 1,
                (b'}' | b']', false) => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                _ => {}
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

    /// Nothing but white space may follow.
    pub(crate) fn end(&mut self) -> Result<(), DecodeError> {
        if self.peek().is_none() {
            Ok(())
        } else {
            self.malformed()
        }
    }
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
}
