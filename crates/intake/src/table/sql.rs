//! Words, names and literals of SQL text in memory. There is no grammar, because dumps use few forms of statements.

use std::borrow::Cow;

use memchr::memchr;

use super::escape::{Escapes, quoted};
use crate::stream::StreamError;

/// The SQL dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// PostgreSQL, and text that is not recognised as another dialect.
    #[default]
    PostgreSql,
    /// MySQL and MariaDB.
    MySql,
    /// The output of the `.dump` command of SQLite's shell.
    Sqlite,
}

/// The rules for reading SQL text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Syntax {
    /// The SQL dialect.
    pub(crate) dialect: Dialect,
    /// Whether a backslash is an escape in plain quotes, too: always in MySQL, by a setting in PostgreSQL.
    pub(crate) backslashes: bool,
}

impl Syntax {
    /// The syntax of a dialect before any setting changes it.
    pub(crate) const fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            backslashes: matches!(dialect, Dialect::MySql),
        }
    }

    /// The escapes between quotes; `marked` if an `E` precedes them.
    pub(crate) const fn escapes(self, marked: bool) -> Escapes {
        match (self.dialect, marked || self.backslashes) {
            (Dialect::MySql, _) => Escapes::MySql,
            (Dialect::PostgreSql, true) => Escapes::PostgreSql,
            _ => Escapes::None,
        }
    }

    /// Whether square brackets quote names.
    pub(crate) const fn quotes_with_brackets(self) -> bool {
        matches!(self.dialect, Dialect::Sqlite)
    }
}

/// The number after `/*!` or, for MariaDB alone, `/*M!`: a server executes such a comment unless the server is older
/// than this version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version {
    value: u32,
    digits: u8,
}

impl Version {
    /// Takes a byte if it belongs to the number; true if it does.
    pub(crate) fn takes(&mut self, byte: u8) -> bool {
        let is_digit = byte.is_ascii_digit() && self.digits < 6;
        if is_digit {
            self.value = self.value * 10 + u32::from(byte - b'0');
            self.digits += 1;
        }
        is_digit
    }

    /// Whether any server executes it: dumps write `99999` and `999999` for never.
    pub(crate) const fn is_executed(self) -> bool {
        match self.digits {
            6 => self.value < 990_000,
            _ => self.value < 99_999,
        }
    }
}

/// A token of SQL text. White space and comments may be between tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    /// A word without quotes.
    Word(&'s [u8]),
    /// A quoted name.
    Name(Cow<'s, [u8]>),
    /// A text literal, decoded.
    Text(Cow<'s, [u8]>),
    /// Digits of `X'…'` or `0x…`.
    Hex(&'s [u8]),
    /// Digits of `B'…'`.
    Bits(&'s [u8]),
    /// A number, without a sign.
    Number(&'s [u8]),
    /// Any other byte.
    Symbol(u8),
}

/// Cuts SQL text into tokens.
#[derive(Clone, Debug)]
pub(crate) struct Tokens<'s> {
    rest: &'s [u8],
    syntax: Syntax,
    /// Whether the position is in a comment that MySQL executes.
    is_versioned: bool,
}

/// Whether a byte can be part of a word; bytes above ASCII are letters.
pub(crate) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl<'s> Tokens<'s> {
    pub(crate) const fn new(text: &'s [u8], syntax: Syntax) -> Self {
        Self {
            rest: text,
            syntax,
            is_versioned: false,
        }
    }

    /// The rules for reading the text.
    pub(crate) const fn syntax(&self) -> Syntax {
        self.syntax
    }

    /// The next token without taking it.
    pub(crate) fn peek(&self) -> Result<Option<Token<'s>>, StreamError> {
        self.clone().next()
    }

    /// The next token; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Token<'s>>, StreamError> {
        self.skip_blank();
        let Some((first, after)) = self.rest.split_first() else {
            return Ok(None);
        };
        let token = match first {
            b'\'' => Token::Text(self.quoted(b'\'', after, self.syntax.escapes(false))?),
            b'"' if self.syntax.dialect == Dialect::MySql => {
                Token::Text(self.quoted(b'"', after, Escapes::MySql)?)
            }
            b'"' | b'`' => Token::Name(self.quoted(*first, after, Escapes::None)?),
            b'[' if self.syntax.quotes_with_brackets() => {
                let (name, from) = after.split_at(memchr(b']', after).ok_or_else(open_quote)?);
                self.rest = from.split_at(1).1;
                Token::Name(Cow::Borrowed(name))
            }
            b'$' if self.syntax.dialect == Dialect::PostgreSql => self.dollar_quoted(after)?,
            b'0'..=b'9' => self.number(),
            b'.' if after.first().is_some_and(u8::is_ascii_digit) => self.number(),
            byte if is_word(*byte) => self.word()?,
            byte => {
                self.rest = after;
                Token::Symbol(*byte)
            }
        };
        Ok(Some(token))
    }

    /// Takes a symbol if it is next; true if it was.
    pub(crate) fn take_symbol(&mut self, symbol: u8) -> bool {
        self.skip_blank();
        let Some(after) = self.rest.strip_prefix(&[symbol]) else {
            return false;
        };
        self.rest = after;
        true
    }

    /// Takes a word if it is next, in upper or lower case; true if it was.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        self.skip_blank();
        let length = self.rest.iter().take_while(|byte| is_word(**byte)).count();
        let (next, after) = self.rest.split_at(length);
        let is_next = next.eq_ignore_ascii_case(word.as_bytes());
        if is_next {
            self.rest = after;
        }
        is_next
    }

    /// Skips tokens up to the bracket that closes an open one.
    pub(crate) fn skip_bracket(&mut self) -> Result<(), StreamError> {
        let mut depth = 1_u32;
        while depth > 0 {
            match self.next()? {
                Some(Token::Symbol(b'(')) => depth += 1,
                Some(Token::Symbol(b')')) => depth -= 1,
                Some(_) => {}
                None => return Err(StreamError::malformed("a bracket does not end")),
            }
        }
        Ok(())
    }

    fn quoted(&mut self, quote: u8, after: &'s [u8], escapes: Escapes) -> Result<Cow<'s, [u8]>, StreamError> {
        let (text, rest) = quoted(quote, after, escapes)?.ok_or_else(open_quote)?;
        self.rest = rest;
        Ok(text)
    }

    fn word(&mut self) -> Result<Token<'s>, StreamError> {
        let length = self.rest.iter().take_while(|byte| is_word(**byte)).count();
        let (word, after) = self.rest.split_at(length);
        self.rest = after;
        let Some(inside) = after.strip_prefix(b"'") else {
            return Ok(Token::Word(word));
        };
        let digits = |text: Cow<'s, [u8]>| match text {
            Cow::Borrowed(digits) => Ok(digits),
            Cow::Owned(_) => Err(StreamError::malformed("digits with quotes among them")),
        };
        Ok(match word {
            b"E" | b"e" if self.syntax.dialect == Dialect::PostgreSql => {
                Token::Text(self.quoted(b'\'', inside, self.syntax.escapes(true))?)
            }
            b"N" | b"n" => Token::Text(self.quoted(b'\'', inside, self.syntax.escapes(false))?),
            b"X" | b"x" => Token::Hex(digits(self.quoted(b'\'', inside, Escapes::None)?)?),
            b"B" | b"b" => Token::Bits(digits(self.quoted(b'\'', inside, Escapes::None)?)?),
            _ => Token::Word(word),
        })
    }

    fn number(&mut self) -> Token<'s> {
        if let Some(digits) = self.rest.strip_prefix(b"0x").or(self.rest.strip_prefix(b"0X")) {
            let length = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            let (hex, after) = digits.split_at(length);
            self.rest = after;
            return Token::Hex(hex);
        }
        let mut length = 0;
        while let Some(byte) = self.rest.get(length) {
            let before = length.checked_sub(1).and_then(|before| self.rest.get(before));
            let is_sign = matches!(byte, b'+' | b'-') && matches!(before, Some(b'e' | b'E'));
            if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || is_sign) {
                break;
            }
            length += 1;
        }
        let (number, after) = self.rest.split_at(length);
        self.rest = after;
        Token::Number(number)
    }

    /// A text between `$tag$` and `$tag$`, or a bare dollar sign.
    fn dollar_quoted(&mut self, after: &'s [u8]) -> Result<Token<'s>, StreamError> {
        let tag = after.iter().take_while(|byte| is_tag(**byte)).count();
        let starts_with_digit = after.first().is_some_and(u8::is_ascii_digit);
        if after.get(tag) != Some(&b'$') || starts_with_digit {
            self.rest = after;
            return Ok(Token::Symbol(b'$'));
        }
        let (mark, body) = self.rest.split_at(tag + 2);
        let (text, from) = body.split_at(memchr::memmem::find(body, mark).ok_or_else(open_quote)?);
        self.rest = from.split_at(mark.len()).1;
        Ok(Token::Text(Cow::Borrowed(text)))
    }

    /// Skips white space and comments, but not the content of a comment that MySQL executes. A block comment without an
    /// end takes the rest.
    fn skip_blank(&mut self) {
        loop {
            self.rest = self.rest.trim_ascii_start();
            if self.rest.starts_with(b"--")
                || (self.syntax.dialect == Dialect::MySql && self.rest.starts_with(b"#"))
            {
                let end = memchr(b'\n', self.rest).unwrap_or(self.rest.len());
                self.rest = self.rest.split_at(end).1;
            } else if let Some(after) = self.rest.strip_prefix(b"*/").filter(|_| self.is_versioned) {
                self.is_versioned = false;
                self.rest = after;
            } else if self.syntax.dialect == Dialect::MySql
                && let Some(inside) = executed(self.rest)
            {
                self.is_versioned = true;
                self.rest = inside;
            } else if let Some(inside) = self.rest.strip_prefix(b"/*") {
                self.rest = after_comment(inside, self.syntax.dialect == Dialect::PostgreSql);
            } else {
                return;
            }
        }
    }
}

/// Whether a byte can be part of the tag of a dollar quote.
pub(crate) const fn is_tag(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The text after the opening mark of a comment that MySQL executes; `None` if there is none.
fn executed(text: &[u8]) -> Option<&[u8]> {
    let inside = text.strip_prefix(b"/*!").or(text.strip_prefix(b"/*M!"))?;
    let mut version = Version::default();
    let length = inside.iter().take_while(|byte| version.takes(**byte)).count();
    version.is_executed().then(|| inside.split_at(length).1)
}

/// The text after a block comment; `rest` begins after its opening mark.
fn after_comment(mut rest: &[u8], nests: bool) -> &[u8] {
    let mut depth = 1_u32;
    while let Some(at) = memchr::memchr2(b'*', b'/', rest) {
        rest = rest.split_at(at).1;
        if let Some(after) = rest.strip_prefix(b"*/") {
            depth -= 1;
            rest = after;
            if depth == 0 {
                return rest;
            }
        } else if let Some(after) = rest.strip_prefix(b"/*").filter(|_| nests) {
            depth += 1;
            rest = after;
        } else {
            rest = rest.split_at(1).1;
        }
    }
    &[]
}

fn open_quote() -> StreamError {
    StreamError::malformed("a quoted text does not end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::testing::{cases, dialect as named};

    fn tokens(text: &str, dialect: Dialect) -> Result<Vec<String>, StreamError> {
        let mut tokens = Tokens::new(text.as_bytes(), Syntax::new(dialect));
        let mut found = Vec::new();
        while let Some(token) = tokens.next()? {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            found.push(match token {
                Token::Word(word) => text(word),
                Token::Name(name) => format!("«{}»", text(&name)),
                Token::Text(inside) => format!("‹{}›", text(&inside)),
                Token::Hex(digits) => format!("x{}", text(digits)),
                Token::Bits(digits) => format!("b{}", text(digits)),
                Token::Number(number) => format!("#{}", text(number)),
                Token::Symbol(symbol) => char::from(symbol).to_string(),
            });
        }
        Ok(found)
    }

    #[test]
    fn tokens_of_texts_match_the_case_file() {
        cases("tokens", |dialect, text| match tokens(text, named(dialect)) {
            Ok(tokens) => tokens.join(" "),
            Err(error) => error.message,
        });
    }
}
