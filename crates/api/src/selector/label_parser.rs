//! The grammar of label selectors, with upstream's words for each fault.
//!
//! ```text
//! selector    = [ requirement { "," requirement } ]
//! requirement = [ "!" ] key | key ( "=" | "==" | "!=" | ">" | "<" ) [ value ]
//!             | key ( "in" | "notin" ) "(" [ value ] { "," [ value ] } ")"
//! ```
//! Keys and values run to the next white space or special character; `in` and `notin` are words of
//! the grammar only where an operator is due.

use super::{LabelRequirement, REQUIREMENTS_MAX, SELECTOR_BYTES_MAX};
use crate::FieldError;
use crate::names::{label_value_errors, qualified_name_errors};

/// The requirements of `text`, ordered by key.
pub(super) fn parse(text: &str) -> Result<Vec<LabelRequirement>, String> {
    if text.len() > SELECTOR_BYTES_MAX {
        return Err(format!(
            "unable to parse requirement: selector longer than {SELECTOR_BYTES_MAX} bytes"
        ));
    }
    let mut parser = Parser {
        tokens: lex(text),
        at: 0,
    };
    let mut requirements = parser.requirements()?;
    requirements.sort_by(|a, b| a.key().cmp(b.key()));
    Ok(requirements)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Not,
    Equals,
    NotEquals,
    In,
    NotIn,
    Greater,
    Less,
    Open,
    Close,
    Comma,
    End,
}

#[derive(Clone, Copy)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
}

const fn is_special(byte: u8) -> bool {
    matches!(byte, b'=' | b'!' | b'(' | b')' | b',' | b'>' | b'<')
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn lex(text: &str) -> Vec<Token<'_>> {
    let text = text.split('\0').next().unwrap_or_default();
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let length = token_length(rest.as_bytes());
        let (token, after) = rest.split_at(length);
        if token.is_empty() {
            return tokens;
        }
        tokens.push(Token {
            kind: kind_of(token),
            text: token,
        });
        rest = after;
    }
}

/// How long the token is that `bytes` begin with; it ends at an ASCII character, so a cut there
/// is a cut between characters.
fn token_length(bytes: &[u8]) -> usize {
    match bytes {
        [b'=' | b'!', b'=', ..] => 2,
        [first, ..] if is_special(*first) => 1,
        bytes => bytes
            .iter()
            .take_while(|&&b| !is_special(b) && !is_space(b))
            .count(),
    }
}

fn kind_of(token: &str) -> Kind {
    match token {
        "!" => Kind::Not,
        "=" | "==" => Kind::Equals,
        "!=" => Kind::NotEquals,
        "in" => Kind::In,
        "notin" => Kind::NotIn,
        ">" => Kind::Greater,
        "<" => Kind::Less,
        "(" => Kind::Open,
        ")" => Kind::Close,
        "," => Kind::Comma,
        _ => Kind::Word,
    }
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Parser<'a> {
    /// The next token where an operator may stand.
    fn peek_operator(&self) -> Token<'a> {
        self.tokens.get(self.at).copied().unwrap_or(Token {
            kind: Kind::End,
            text: "",
        })
    }

    /// The next token where a key or value may stand: `in` is a word there.
    fn peek(&self) -> Token<'a> {
        let mut token = self.peek_operator();
        if matches!(token.kind, Kind::In | Kind::NotIn) {
            token.kind = Kind::Word;
        }
        token
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn requirements(&mut self) -> Result<Vec<LabelRequirement>, String> {
        let mut requirements = Vec::new();
        loop {
            let token = self.peek();
            match token.kind {
                Kind::Word | Kind::Not => {}
                Kind::End => return Ok(requirements),
                _ => {
                    let text = token.text;
                    return Err(format!(
                        "found '{text}', expected: !, identifier, or 'end of string'"
                    ));
                }
            }
            if requirements.len() == REQUIREMENTS_MAX {
                return Err(format!(
                    "unable to parse requirement: more than {REQUIREMENTS_MAX} requirements"
                ));
            }
            requirements.push(
                self.requirement()
                    .map_err(|e| format!("unable to parse requirement: {e}"))?,
            );
            let Token { kind, text } = self.next();
            match kind {
                Kind::End => return Ok(requirements),
                Kind::Comma => {
                    let Token { kind, text } = self.peek();
                    if !matches!(kind, Kind::Word | Kind::Not) {
                        return Err(format!("found '{text}', expected: identifier after ','"));
                    }
                }
                _ => return Err(format!("found '{text}', expected: ',' or 'end of string'")),
            }
        }
    }

    fn requirement(&mut self) -> Result<LabelRequirement, String> {
        let mut token = self.next();
        let negated = token.kind == Kind::Not;
        if negated {
            token = self.next();
        }
        if token.kind != Kind::Word {
            return Err(format!("found '{}', expected: identifier", token.text));
        }
        let key = token.text.to_owned();
        let errors = qualified_name_errors(&key);
        if !errors.is_empty() {
            return Err(FieldError::invalid("", key, errors.join("; ")).to_string());
        }
        if negated {
            return Ok(LabelRequirement::DoesNotExist { key });
        }
        if matches!(self.peek().kind, Kind::End | Kind::Comma) {
            return Ok(LabelRequirement::Exists { key });
        }
        let operator = self.peek_operator();
        self.at += 1;
        match operator.kind {
            Kind::Equals => Ok(LabelRequirement::In {
                values: self.one_value(&key)?,
                key,
            }),
            Kind::NotEquals => Ok(LabelRequirement::NotIn {
                values: self.one_value(&key)?,
                key,
            }),
            Kind::In => Ok(LabelRequirement::In {
                values: self.values(&key)?,
                key,
            }),
            Kind::NotIn => Ok(LabelRequirement::NotIn {
                values: self.values(&key)?,
                key,
            }),
            Kind::Greater => Ok(LabelRequirement::GreaterThan {
                bound: self.bound(&key)?,
                key,
            }),
            Kind::Less => Ok(LabelRequirement::LessThan {
                bound: self.bound(&key)?,
                key,
            }),
            _ => {
                let text = operator.text;
                Err(format!(
                    "found '{text}', expected: in, notin, =, ==, !=, gt, lt"
                ))
            }
        }
    }

    /// The word that follows, or nothing at the end of a requirement.
    fn word(&mut self) -> Result<&'a str, String> {
        if matches!(self.peek().kind, Kind::End | Kind::Comma) {
            return Ok("");
        }
        let token = self.next();
        match token.kind {
            Kind::Word => Ok(token.text),
            _ => Err(format!("found '{}', expected: identifier", token.text)),
        }
    }

    fn one_value(&mut self, key: &str) -> Result<Vec<String>, String> {
        let word = self.word()?;
        checked(key, vec![word.to_owned()], Vec::new())
    }

    fn bound(&mut self, key: &str) -> Result<i64, String> {
        let word = self.word()?;
        let parsed = word.parse::<i64>();
        let mut errors = Vec::new();
        if parsed.is_err() {
            let rule = "for 'Gt', 'Lt' operators, the value must be an integer";
            errors.push(FieldError::invalid("values[0]", word, rule));
        }
        checked(key, vec![word.to_owned()], errors)?;
        Ok(parsed.unwrap_or_default())
    }

    /// `(a,b)`; a gap is the empty value. Ordered, each once.
    fn values(&mut self, key: &str) -> Result<Vec<String>, String> {
        let token = self.next();
        if token.kind != Kind::Open {
            return Err(format!("found '{}' expected: '('", token.text));
        }
        let mut values = Vec::new();
        match self.peek() {
            Token {
                kind: Kind::Close, ..
            } => values.push(String::new()),
            Token {
                kind: Kind::Word | Kind::Comma,
                ..
            } => self.list(&mut values)?,
            Token { text, .. } => {
                return Err(format!("found '{text}', expected: ',', ')' or identifier"));
            }
        }
        self.at += 1; // The closing bracket.
        values.sort_unstable();
        values.dedup();
        checked(key, values, Vec::new())
    }

    /// Reads up to the closing bracket.
    fn list(&mut self, values: &mut Vec<String>) -> Result<(), String> {
        loop {
            let token = self.next();
            let next = self.peek();
            match (token.kind, next.kind) {
                (Kind::Word, Kind::Comma) => values.push(token.text.to_owned()),
                (Kind::Word, Kind::Close) => {
                    values.push(token.text.to_owned());
                    return Ok(());
                }
                (Kind::Word, _) => {
                    return Err(format!("found '{}', expected: ',' or ')'", next.text));
                }
                (Kind::Comma, _) => {
                    if values.is_empty() || matches!(next.kind, Kind::Close | Kind::Comma) {
                        values.push(String::new());
                    }
                    match next.kind {
                        Kind::Close => return Ok(()),
                        Kind::Comma => self.at += 1,
                        _ => {}
                    }
                }
                _ => {
                    let text = token.text;
                    return Err(format!("found '{text}', expected: ',', or identifier"));
                }
            }
        }
    }
}

/// `values`, if each of them may be a label's value and there were no `errors` before.
fn checked(
    key: &str,
    values: Vec<String>,
    mut errors: Vec<FieldError>,
) -> Result<Vec<String>, String> {
    for (index, value) in values.iter().enumerate() {
        let faults = label_value_errors(value);
        if !faults.is_empty() {
            let field = format!("values[{index}][{key}]");
            errors.push(FieldError::invalid(
                field,
                value.as_str(),
                faults.join("; "),
            ));
        }
    }
    if errors.is_empty() {
        Ok(values)
    } else {
        Err(FieldError::aggregate(&errors))
    }
}

#[cfg(test)]
mod tests;
