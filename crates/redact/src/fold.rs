//! Folds a text for detection: escapes of JSON, URLs and HTML are decoded, full-width characters become plain ones, and invisible
//! characters are removed.
//!
//! Only detection reads the folded text, and every position in it maps back to the original text. An escape is one position, so that a
//! replacement never begins or ends inside one: text that contains JSON at any depth remains valid JSON.

use std::borrow::Cow;
use std::ops::Range;

use chatmill_diag::cut;
use memchr::memchr3;

/// A folded text.
#[derive(Debug)]
pub(crate) struct Folded<'t> {
    /// The folded text.
    pub(crate) text: Cow<'t, str>,
    /// Positions in the folded text and in the text as written; between two of them both advance equally.
    anchors: Vec<(usize, usize)>,
}

impl Folded<'_> {
    /// A range of the folded text as a range of the text as written.
    pub(crate) fn written(&self, range: &Range<usize>) -> Range<usize> {
        self.origin(range.start)..self.origin(range.end)
    }

    fn origin(&self, at: usize) -> usize {
        let after = self.anchors.partition_point(|(folded, _)| *folded <= at);
        match after.checked_sub(1).and_then(|index| self.anchors.get(index)) {
            None => at,
            Some((folded, written)) => written + (at - folded),
        }
    }
}

/// Folds a text; borrowed if folding changes nothing.
pub(crate) fn fold(text: &str) -> Folded<'_> {
    let plain = Folded {
        text: Cow::Borrowed(text),
        anchors: Vec::new(),
    };
    if !may_fold(text.as_bytes()) {
        return plain;
    }
    let mut folded = String::with_capacity(text.len());
    let mut anchors = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let (reading, length) = match read(text, at, character) {
            Reading::Plain if character == '\\' => {
                // A run of backslashes is read once, however long it is.
                let rest = text.as_bytes().split_at(at).1;
                at += rest.iter().take_while(|byte| **byte == b'\\').count();
                continue;
            }
            Reading::Plain => {
                at += character.len_utf8();
                continue;
            }
            Reading::As(reading, length) => (Some(reading), length),
            Reading::Nothing(length) => (None, length),
        };
        folded.push_str(cut::text(text, copied..at));
        anchors.push((folded.len(), at));
        folded.extend(reading);
        at += length;
        copied = at;
        anchors.push((folded.len(), at));
    }
    if anchors.is_empty() {
        return plain;
    }
    folded.push_str(text.split_at(copied).1);
    Folded {
        text: Cow::Owned(folded),
        anchors,
    }
}

fn may_fold(bytes: &[u8]) -> bool {
    memchr3(b'\\', b'%', b'&', bytes).is_some()
        || bytes.iter().any(
            |byte| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 127 | 0xc2 | 0xcc | 0xcd | 0xe2 | 0xe3 | 0xef),
        )
}

/// The decoded form of a character and the characters after it.
enum Reading {
    /// The character itself.
    Plain,
    /// Another character, for this many bytes as written.
    As(char, usize),
    /// No character, for this many bytes as written.
    Nothing(usize),
}

fn read(text: &str, at: usize, character: char) -> Reading {
    let rest = text.as_bytes().split_at(at).1;
    let escape = match character {
        '\\' if ends_with_users(text.split_at(at).0) => {
            let run = rest.iter().take_while(|byte| **byte == b'\\').count();
            Some(('\\', run))
        }
        '\\' => backslash(rest),
        '%' => percent(rest),
        '&' => entity(rest),
        _ => None,
    };
    let (decoded, length) = escape.unwrap_or((character, character.len_utf8()));
    match shown(decoded) {
        None => Reading::Nothing(length),
        Some(reading) if reading == character && length == character.len_utf8() => Reading::Plain,
        Some(reading) => Reading::As(reading, length),
    }
}

/// Whether a text ends with the folder of accounts in a Windows path: then a name follows, as in `\Users\ben`, and no escape.
fn ends_with_users(before: &str) -> bool {
    ["\\Users", "\\home"]
        .iter()
        .any(|folder| before.ends_with(folder))
}

/// The character for comparison: none for invisible characters and for accents after their letters, the plain one for full-width forms,
/// spaces and hyphens.
fn shown(character: char) -> Option<char> {
    match character {
        '\t' | '\n' | '\r' => Some(character),
        '\0'..='\u{1f}'
        | '\u{7f}'
        | '\u{ad}'
        | '\u{300}'..='\u{36f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => None,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => Some(' '),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(character) - 0xfee0),
        other => Some(other),
    }
}

/// `\n`, `\u0040`, `\u{40}`, `\x40` and similar escapes, after any number of backslashes: each level of JSON in JSON doubles them.
fn backslash(rest: &[u8]) -> Option<(char, usize)> {
    let run = rest.iter().take_while(|byte| **byte == b'\\').count();
    let simple = |character| Some((character, run + 1));
    match rest.get(run)? {
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'b' | b'f' => simple(' '),
        b'"' => simple('"'),
        b'/' => simple('/'),
        b'x' => {
            let unit = hexadecimal(rest.get(run + 1..run + 3)?)?;
            Some((char::from_u32(unit)?, run + 3))
        }
        b'u' if rest.get(run + 1) == Some(&b'{') => {
            let inside = rest.get(run + 2..)?;
            let length = inside.iter().take(7).position(|byte| *byte == b'}')?;
            let code = hexadecimal(inside.get(..length)?)?;
            Some((char::from_u32(code)?, run + 3 + length))
        }
        b'u' => {
            let unit = hexadecimal(rest.get(run + 1..run + 5)?)?;
            let end = run + 5;
            if !(0xd800..0xdc00).contains(&unit) {
                return Some((char::from_u32(unit)?, end));
            }
            let second = rest.get(end..)?;
            let again = second.iter().take_while(|byte| **byte == b'\\').count();
            let low = second
                .get(again..again + 5)
                .filter(|low| again > 0 && low.first() == Some(&b'u'))?;
            let low = hexadecimal(low.get(1..)?)?.checked_sub(0xdc00)?;
            let whole = 0x1_0000 + ((unit - 0xd800) << 10) + low;
            Some((char::from_u32(whole)?, end + again + 5))
        }
        _ => None,
    }
}

/// `%40` and other escapes of printable ASCII.
fn percent(rest: &[u8]) -> Option<(char, usize)> {
    let value = hexadecimal(rest.get(1..3)?)?;
    let character = char::from_u32(value).filter(|character| matches!(character, ' '..='~'))?;
    Some((character, 3))
}

/// `&#64;`, `&#x40;` and `&amp;`.
fn entity(rest: &[u8]) -> Option<(char, usize)> {
    let length = rest.iter().take(10).position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(rest.get(1..length)?).ok()?;
    let character = if name == "amp" {
        '&'
    } else {
        let number = name.strip_prefix('#')?;
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        char::from_u32(code)?
    };
    Some((character, length + 1))
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        fold(text).text.into_owned()
    }

    #[test]
    fn text_without_rare_spellings_is_borrowed() {
        for text in ["plain", "до побачення", "a + b = 100", "line\nbreak\tand tab"] {
            assert!(matches!(fold(text).text, Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn escapes_are_decoded_at_any_depth() {
        assert_eq!(read(r"a\u0040b"), "a@b");
        assert_eq!(read(r"a\\u0040b"), "a@b");
        assert_eq!(read(r"a\\\\\u0040b"), "a@b");
        assert_eq!(read(r"a%40b &#64; &#x40; &amp; \x40"), "a@b @ @ & @");
        assert_eq!(read(r"\u674e\u660e \ud83d\ude00"), "李明 😀");
        assert_eq!(read(r"x\ny\\tz"), "x\ny\tz");
        assert_eq!(read(r"a\u{40}b \u{1}c \u{}"), r"a@b c \u{}");
    }

    #[test]
    fn invisible_characters_are_removed_and_full_width_becomes_plain() {
        assert_eq!(read("a\u{200b}n\u{ad}n\u{1}@b"), "ann@b");
        assert_eq!(read("ａｎｎ＠ｂ．ｃ １２３\u{a0}4\u{2011}5"), "ann@b.c 123 4-5");
    }

    #[test]
    fn incomplete_escapes_are_read_as_they_are_written() {
        for text in [r"\q \u12 \ud800 \", "100% of 5%zz", "a & b &nbsp; &#xffffffff;"] {
            assert_eq!(read(text), text);
        }
    }

    #[test]
    fn places_lead_back_to_whole_escapes() {
        let text = r"x a\u0040b\ny";
        let folded = fold(text);
        let at = folded.text.find("a@b").unwrap();
        assert_eq!(text.get(folded.written(&(at..at + 3))).unwrap(), r"a\u0040b");
        let text = "é\u{200b}１２ z";
        let folded = fold(text);
        let at = folded.text.find("12").unwrap();
        assert_eq!(text.get(folded.written(&(at..at + 2))).unwrap(), "１２");
    }
}
