//! The values of one row of an `INSERT`: literals, and the few expressions that dump programs write.
//!
//! Any other expression is an error of the row, because only a database could evaluate it.

use std::borrow::Cow;

use chatmill_diag::codes::RECORD_TOO_LONG;
use chatmill_diag::cut;
use memchr::memmem;

use super::escape;
use super::row::{Cell, from_hex};
use super::sql::{Dialect, Syntax, Token, Tokens};
use crate::stream::StreamError;

/// The maximum nesting of expressions; dump programs write three levels.
const MAX_DEPTH: u32 = 32;

/// The cells of a row with its brackets. All functions together may produce at most `budget` bytes.
pub(crate) fn cells(
    row: &[u8],
    syntax: Syntax,
    budget: u64,
) -> impl Iterator<Item = Result<Cell<'_>, StreamError>> {
    let mut values = Values {
        tokens: Tokens::new(row, syntax),
        budget: usize::try_from(budget).unwrap_or(usize::MAX),
    };
    let mut place = Place::Start;
    std::iter::from_fn(move || {
        let step = values.step(&mut place);
        if step.is_err() {
            place = Place::End;
        }
        step.transpose()
    })
}

/// The position in the row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    AfterValue,
    End,
}

struct Values<'s> {
    tokens: Tokens<'s>,
    /// The number of bytes that functions may still produce.
    budget: usize,
}

impl<'s> Values<'s> {
    fn step(&mut self, place: &mut Place) -> Result<Option<Cell<'s>>, StreamError> {
        let is_over = match *place {
            Place::Start => {
                self.expect(b'(')?;
                self.tokens.take_symbol(b')')
            }
            Place::AfterValue if self.tokens.take_symbol(b',') => false,
            Place::AfterValue => {
                self.expect(b')')?;
                true
            }
            Place::End => return Ok(None),
        };
        if is_over {
            *place = Place::End;
            return match self.tokens.next()? {
                None => Ok(None),
                Some(_) => Err(StreamError::malformed(
                    "something follows the row's closing bracket",
                )),
            };
        }
        *place = Place::AfterValue;
        let cell = self.expression(MAX_DEPTH)?;
        Ok(Some(normalise(cell, self.tokens.syntax().dialect)))
    }

    /// Reads a value, or several joined by `||`.
    fn expression(&mut self, depth: u32) -> Result<Cell<'s>, StreamError> {
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| StreamError::malformed("expressions are nested too deep"))?;
        let mut cell = self.value(depth)?;
        while self.tokens.take_symbol(b'|') {
            self.expect(b'|')?;
            let right = self.value(depth)?;
            if self.tokens.syntax().dialect == Dialect::MySql {
                return Err(no_literal());
            }
            cell = match (cell, right) {
                (Cell::Null, _) | (_, Cell::Null) => Cell::Null,
                (left, right) => {
                    let (left, right) = (self.text(left)?, self.text(right)?);
                    self.spend(left.len() + right.len())?;
                    Cell::Text([left, right].concat().into())
                }
            };
        }
        Ok(cell)
    }

    fn value(&mut self, depth: u32) -> Result<Cell<'s>, StreamError> {
        let token = self
            .tokens
            .next()?
            .ok_or_else(|| StreamError::malformed("a value is missing"))?;
        let cell = match token {
            Token::Text(text) => Cell::Text(text),
            Token::Hex(digits) => Cell::Blob(Cow::Owned(bytes(digits)?)),
            Token::Bits(digits) => Cell::Text(Cow::Borrowed(digits)),
            Token::Number(number) => Cell::Number(ascii(number)?.into()),
            Token::Symbol(sign @ (b'-' | b'+')) => match self.tokens.next()? {
                Some(Token::Number(number)) if sign == b'-' => {
                    Cell::Number(format!("-{}", ascii(number)?).into())
                }
                Some(Token::Number(number)) => Cell::Number(ascii(number)?.into()),
                _ => return Err(no_literal()),
            },
            Token::Symbol(b'(') => {
                let inside = self.expression(depth)?;
                self.expect(b')')?;
                inside
            }
            Token::Word(word) => self.named(word, depth)?,
            _ => return Err(no_literal()),
        };
        if self.tokens.syntax().dialect == Dialect::PostgreSql {
            self.skip_casts()?;
        }
        Ok(cell)
    }

    /// Reads a value that begins with a word: a constant, a function, or a text after its type.
    fn named(&mut self, word: &'s [u8], depth: u32) -> Result<Cell<'s>, StreamError> {
        let upper = word.to_ascii_uppercase();
        Ok(match upper.as_slice() {
            b"NULL" => Cell::Null,
            b"TRUE" => Cell::Bool(true),
            b"FALSE" => Cell::Bool(false),
            b"DEFAULT" => Cell::Absent,
            name if self.tokens.take_symbol(b'(') => {
                let cell = self.function(name, depth)?;
                self.expect(b')')?;
                cell
            }
            name => {
                let Some(Token::Text(text)) = self.tokens.next()? else {
                    return Err(no_literal());
                };
                match (self.tokens.syntax().dialect, name) {
                    (Dialect::MySql, b"_BINARY") => Cell::Blob(text),
                    (
                        Dialect::MySql,
                        b"_UTF8" | b"_UTF8MB3" | b"_UTF8MB4" | b"DATE" | b"TIME" | b"TIMESTAMP",
                    )
                    | (Dialect::PostgreSql, _) => Cell::Text(text),
                    _ => return Err(no_literal()),
                }
            }
        })
    }

    /// Reads a function that SQLite's shell writes for values that have no plain literal, or a cast.
    fn function(&mut self, name: &[u8], depth: u32) -> Result<Cell<'s>, StreamError> {
        match name {
            b"REPLACE" => {
                let text = self.argument(depth)?;
                self.expect(b',')?;
                let from = self.argument(depth)?;
                self.expect(b',')?;
                let to = self.argument(depth)?;
                Ok(Cell::Text(self.replace(&text, &from, &to)?.into()))
            }
            b"CHAR" => {
                let mut text = String::new();
                loop {
                    let number = self.argument(depth)?;
                    let code = ascii(&number)?.parse().ok().and_then(char::from_u32);
                    text.push(code.ok_or_else(no_literal)?);
                    if !self.tokens.take_symbol(b',') {
                        return Ok(Cell::Text(text.into_bytes().into()));
                    }
                }
            }
            b"UNISTR" => {
                let text = self.argument(depth)?;
                Ok(Cell::Text(escape::unistr(&text)?.into()))
            }
            b"CAST" => {
                let cell = self.expression(depth)?;
                if !self.tokens.take_word("AS") {
                    return Err(no_literal());
                }
                let is_text = matches!(self.tokens.next()?, Some(Token::Word(word)) if is_text_type(word));
                match cell {
                    Cell::Null => Ok(Cell::Null),
                    Cell::Text(bytes) | Cell::Blob(bytes) if is_text => Ok(Cell::Text(bytes)),
                    _ => Err(no_literal()),
                }
            }
            _ => Err(no_literal()),
        }
    }

    fn argument(&mut self, depth: u32) -> Result<Cow<'s, [u8]>, StreamError> {
        let cell = self.expression(depth)?;
        self.text(cell)
    }

    /// The text of a cell, as an operand of an operator or function.
    #[expect(clippy::unused_self, reason = "the lifetime is that of the row")]
    fn text(&self, cell: Cell<'s>) -> Result<Cow<'s, [u8]>, StreamError> {
        match cell {
            Cell::Text(text) => Ok(text),
            Cell::Number(Cow::Borrowed(number)) => Ok(Cow::Borrowed(number.as_bytes())),
            Cell::Number(Cow::Owned(number)) => Ok(Cow::Owned(number.into_bytes())),
            _ => Err(no_literal()),
        }
    }

    fn replace(&mut self, text: &[u8], from: &[u8], to: &[u8]) -> Result<Vec<u8>, StreamError> {
        // Searching the text also takes time.
        self.spend(text.len())?;
        let mut out = Vec::new();
        let mut copied = 0;
        if !from.is_empty() {
            for found in memmem::find_iter(text, from) {
                self.spend(to.len())?;
                out.extend_from_slice(cut::slice(text, copied..found));
                out.extend_from_slice(to);
                copied = found + from.len();
            }
        }
        out.extend_from_slice(text.split_at(copied).1);
        Ok(out)
    }

    fn spend(&mut self, bytes: usize) -> Result<(), StreamError> {
        self.budget = self.budget.checked_sub(bytes).ok_or_else(|| {
            StreamError::new(&RECORD_TOO_LONG, "functions make a value longer than the limit")
        })?;
        Ok(())
    }

    /// Skips `::type` with its precision and brackets.
    fn skip_casts(&mut self) -> Result<(), StreamError> {
        while self.tokens.take_symbol(b':') {
            self.expect(b':')?;
            loop {
                match self.tokens.peek()? {
                    Some(Token::Word(_) | Token::Name(_) | Token::Symbol(b'.' | b'[' | b']')) => {
                        self.tokens.next()?;
                    }
                    Some(Token::Symbol(b'(')) => {
                        self.tokens.next()?;
                        self.tokens.skip_bracket()?;
                    }
                    _ => break,
                }
            }
        }
        Ok(())
    }

    fn expect(&mut self, symbol: u8) -> Result<(), StreamError> {
        if self.tokens.take_symbol(symbol) {
            return Ok(());
        }
        Err(match symbol {
            b')' => no_literal(),
            _ => StreamError::malformed(format!("expected `{}`", char::from(symbol))),
        })
    }
}

/// Converts a value to the form that it has in other containers: `COPY` has only text and writes truth values as one
/// letter, and an SQLite file stores reals, for which its dump writes more digits than they have.
fn normalise(cell: Cell<'_>, dialect: Dialect) -> Cell<'_> {
    match (dialect, cell) {
        (Dialect::PostgreSql, Cell::Number(Cow::Borrowed(number))) => {
            Cell::Text(Cow::Borrowed(number.as_bytes()))
        }
        (Dialect::PostgreSql, Cell::Number(Cow::Owned(number))) => Cell::Text(number.into_bytes().into()),
        (Dialect::PostgreSql, Cell::Bool(value)) => {
            Cell::Text(Cow::Borrowed(if value { b"t" } else { b"f" }))
        }
        (Dialect::Sqlite, Cell::Number(number)) => match number.parse::<f64>() {
            Ok(real) if real.is_finite() && number.contains(['.', 'e', 'E']) => {
                Cell::Number(format!("{real:?}").into())
            }
            _ => Cell::Number(number),
        },
        (_, other) => other,
    }
}

fn no_literal() -> StreamError {
    StreamError::malformed("a value is an expression that only a database can evaluate")
}

fn is_text_type(word: &[u8]) -> bool {
    ["TEXT", "CHAR", "VARCHAR"]
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
}

fn ascii(bytes: &[u8]) -> Result<&str, StreamError> {
    std::str::from_utf8(bytes).map_err(|_| no_literal())
}

/// Decodes pairs of hexadecimal digits.
fn bytes(digits: &[u8]) -> Result<Vec<u8>, StreamError> {
    if !digits.len().is_multiple_of(2) {
        return Err(StreamError::malformed("an odd number of hexadecimal digits"));
    }
    from_hex(digits).ok_or_else(no_literal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::testing::{cases, dialect as named};

    fn row(text: &str, dialect: Dialect) -> Result<Vec<Cell<'_>>, StreamError> {
        cells(text.as_bytes(), Syntax::new(dialect), 100).collect()
    }

    fn text(text: &str) -> Cell<'static> {
        Cell::Text(Cow::Owned(text.as_bytes().to_vec()))
    }

    #[test]
    fn rows_match_the_case_file() {
        cases("literals", |dialect, text| {
            let cells = cells(text.as_bytes(), Syntax::new(named(dialect)), 100);
            let described = cells.map(|cell| match cell {
                Ok(Cell::Text(text)) => format!("{:?}\n", String::from_utf8_lossy(&text)),
                Ok(cell) => format!("{cell:?}\n"),
                Err(error) => format!("{}: {}\n", error.code.name, error.message),
            });
            described.collect()
        });
    }

    #[test]
    fn functions_make_no_more_than_they_may() {
        let fits = format!("(replace('{}','a','bb'))", "a".repeat(33));
        assert_eq!(row(&fits, Dialect::Sqlite).unwrap(), [text(&"bb".repeat(33))]);
        let bursts = format!("(replace('{}','a','bb'))", "a".repeat(34));
        assert_eq!(
            row(&bursts, Dialect::Sqlite).unwrap_err().code.name,
            "record-too-long"
        );
        let deep = |levels: usize| format!("({}1{})", "(".repeat(levels), ")".repeat(levels));
        assert!(row(&deep(31), Dialect::Sqlite).is_ok());
        assert!(row(&deep(32), Dialect::Sqlite).is_err());
    }
}
