//! Decodes the text between quotes in SQL: doubled quotes, and the escapes of PostgreSQL, MySQL and SQLite's `unistr`.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::copy;
use crate::stream::StreamError;

/// The meaning of a backslash between quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// A backslash is an ordinary character.
    None,
    /// The escapes of PostgreSQL's `E'…'`.
    PostgreSql,
    /// The escapes of MySQL.
    MySql,
}

/// The text between quotes and the text after the closing quote; `after` begins after the opening quote. `None` if no
/// quote closes.
#[expect(clippy::type_complexity, reason = "two slices, and what can go wrong")]
pub(super) fn quoted(
    quote: u8,
    after: &[u8],
    escapes: Escapes,
) -> Result<Option<(Cow<'_, [u8]>, &[u8])>, StreamError> {
    let mut text = Vec::new();
    let mut rest = after;
    loop {
        let stop = match escapes {
            Escapes::None => memchr(quote, rest),
            _ => memchr2(quote, b'\\', rest),
        };
        let Some(stop) = stop else { return Ok(None) };
        let (plain, from) = rest.split_at(stop);
        let behind = from.split_at(1).1;
        if from.first() == Some(&b'\\') {
            text.extend_from_slice(plain);
            let length = if escapes == Escapes::MySql {
                mysql(behind, &mut text)
            } else {
                postgresql(behind, &mut text)?
            };
            rest = behind.split_at(length).1;
        } else if behind.first() == Some(&quote) {
            text.extend_from_slice(plain);
            text.push(quote);
            rest = behind.split_at(1).1;
        } else if rest.len() == after.len() {
            return Ok(Some((Cow::Borrowed(plain), behind)));
        } else {
            text.extend_from_slice(plain);
            return Ok(Some((Cow::Owned(text), behind)));
        }
    }
}

/// Decodes the escape after a backslash in MySQL; returns its length.
fn mysql(escape: &[u8], text: &mut Vec<u8>) -> usize {
    let Some(byte) = escape.first() else { return 0 };
    let decoded = match byte {
        b'0' => 0,
        b'b' => 0x08,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 0x1A,
        other => *other,
    };
    // An escaped wildcard of LIKE keeps its backslash.
    if matches!(byte, b'%' | b'_') {
        text.push(b'\\');
    }
    text.push(decoded);
    1
}

/// Decodes the escape after a backslash in PostgreSQL; returns its length.
fn postgresql(escape: &[u8], text: &mut Vec<u8>) -> Result<usize, StreamError> {
    let (byte, length) = match escape {
        [b'u', digits @ ..] => return Ok(1 + code_point(digits, 4, b"\\u", text)?),
        [b'U', digits @ ..] => return Ok(1 + code_point(digits, 8, b"\\U", text)?),
        [] => return Ok(0),
        // This escape exists only in `COPY`.
        [b'v', ..] => (b'v', 1),
        _ => copy::decode(escape),
    };
    text.push(byte);
    Ok(length)
}

/// Decodes the escapes of SQLite's `unistr`: a backslash before four hexadecimal digits, before `u` and four, `+` and six, or `U` and
/// eight of them, and a doubled backslash.
pub(super) fn unistr(text: &[u8]) -> Result<Vec<u8>, StreamError> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(backslash) = memchr(b'\\', rest) {
        let (plain, from) = rest.split_at(backslash);
        out.extend_from_slice(plain);
        let escape = from.split_at(1).1;
        let length = match escape {
            [b'\\', ..] => {
                out.push(b'\\');
                1
            }
            [b'u', digits @ ..] => 1 + code_point(digits, 4, b"\\u", &mut out)?,
            [b'U', digits @ ..] => 1 + code_point(digits, 8, b"\\U", &mut out)?,
            [b'+', digits @ ..] => 1 + code_point(digits, 6, b"\\+", &mut out)?,
            digits => code_point(digits, 4, b"\\", &mut out)?,
        };
        rest = escape.split_at(length).1;
    }
    out.extend_from_slice(rest);
    Ok(out)
}

/// Decodes `count` hexadecimal digits to a character. For a high surrogate, the low one after `mark` is read as well.
/// Returns the number of bytes read.
fn code_point(digits: &[u8], count: usize, mark: &[u8], text: &mut Vec<u8>) -> Result<usize, StreamError> {
    let malformed = || StreamError::malformed("an escape that is not a character");
    let unit = |digits: &[u8]| {
        let digits = digits
            .get(..count)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let first = unit(digits).ok_or_else(malformed)?;
    let (code, length) = if (0xD800..0xDC00).contains(&first) {
        let behind = digits.get(count..).and_then(|behind| behind.strip_prefix(mark));
        let low = behind.and_then(unit).filter(|low| (0xDC00..0xE000).contains(low));
        let low = low.ok_or_else(malformed)?;
        (
            0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00),
            count + mark.len() + count,
        )
    } else {
        (first, count)
    };
    let character = char::from_u32(code).ok_or_else(malformed)?;
    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(text: &str, escapes: Escapes) -> String {
        let (text, rest) = quoted(b'\'', text.as_bytes(), escapes).unwrap().unwrap();
        assert_eq!(rest, b" rest");
        String::from_utf8(text.into_owned()).unwrap()
    }

    #[test]
    fn quotes_and_backslashes_in_sql_strings_follow_the_dialect() {
        assert_eq!(inside(r"a\n''b' rest", Escapes::None), r"a\n'b");
        assert_eq!(inside("' rest", Escapes::None).len(), 0);
        assert_eq!(inside("''' rest", Escapes::None), "'");
        assert_eq!(
            inside(
                r"\b\f\n\r\t\\\'\101\x42\u0043\U00000044\ud83d\ude00\q' rest",
                Escapes::PostgreSql
            ),
            "\u{8}\u{c}\n\r\t\\'ABCD😀q"
        );
        assert_eq!(
            inside(r"\0\'\b\n\r\t\Z\\\%\_\q''' rest", Escapes::MySql),
            "\0'\u{8}\n\r\t\u{1a}\\\\%\\_q'"
        );
    }

    #[test]
    fn text_without_escapes_is_borrowed() {
        let is_borrowed = |text: &str| {
            matches!(
                quoted(b'\'', text.as_bytes(), Escapes::MySql),
                Ok(Some((Cow::Borrowed(_), _)))
            )
        };
        assert!(is_borrowed("abc'"));
        assert!(is_borrowed("'"));
        assert!(!is_borrowed("''abc'"));
        assert!(!is_borrowed(r"\%'"));
    }

    #[test]
    fn unistr_knows_four_forms() {
        let text = unistr(br"a\\b\000a\u000d\+01F600\U0001F601\d83d\de00").unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "a\\b\n\r😀😁😀");
        for broken in [r"\", r"\00", r"\uD83D", r"\U00110000", r"\+", r"\uzzzz"] {
            assert!(unistr(broken.as_bytes()).is_err(), "{broken}");
        }
    }
}
