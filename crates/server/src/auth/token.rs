//! [`Token`]: the admin user's secret word.

use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::crypto::SecureRandom;
use subtle::ConstantTimeEq;

use crate::pki::{PkiError, files};

/// Random bytes of a new token.
const TOKEN_BYTES: usize = 32;

/// A secret word, compared in constant time and never shown by `Debug`.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A new one: 32 random bytes, in letters that need no quoting anywhere.
    ///
    /// # Errors
    /// [`PkiError::Random`] where the system has no randomness to give.
    pub fn generate() -> Result<Self, PkiError> {
        let random: &dyn SecureRandom = rustls::crypto::aws_lc_rs::default_provider().secure_random;
        let mut bytes = [0; TOKEN_BYTES];
        random.fill(&mut bytes).map_err(|_| PkiError::Random)?;
        Ok(Self(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The token in `file`; a new one is made and kept there if there is none.
    ///
    /// # Errors
    /// [`PkiError`] where the file cannot be read or written, or holds no token.
    pub fn load_or_create(file: &Path) -> Result<Self, PkiError> {
        if let Some(text) = files::read(file)? {
            let text = text.trim_end();
            let long_enough = text.len() >= 32 && text.len() <= 4096;
            if !long_enough || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(PkiError::damaged(
                    file,
                    "it holds no token of 32 letters or more",
                ));
            }
            return Ok(Self(text.to_owned()));
        }
        let token = Self::generate()?;
        files::write_private(file, token.0.as_bytes())?;
        Ok(token)
    }

    /// The word itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether `word` is this token, in a time that says nothing about where they differ.
    pub fn is(&self, word: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(word).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_word_is_the_token() {
        let token = Token::generate().unwrap();
        let word = token.reveal().as_bytes().to_vec();
        assert!(token.is(&word));
        assert!(!token.is(&word[1..]));
        assert!(!token.is(b""));
        let mut other = word;
        other[40] ^= 1;
        assert!(!token.is(&other));
        assert!(!format!("{token:?}").contains(token.reveal()));
    }

    #[test]
    fn a_token_is_kept_and_a_damaged_one_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        let token = Token::load_or_create(&file).unwrap();
        assert_eq!(
            Token::load_or_create(&file).unwrap().reveal(),
            token.reveal()
        );
        std::fs::write(&file, "short").unwrap();
        let error = Token::load_or_create(&file).unwrap_err().to_string();
        assert!(error.contains("token"), "{error}");
    }
}
