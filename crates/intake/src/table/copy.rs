//! The text format of PostgreSQL's `COPY`: cells are separated by tabs, and escapes begin with a backslash.
//!
//! The escapes follow the chapter about COPY in PostgreSQL's manual. The caller cuts the stream into lines.

use std::borrow::Cow;

use chatmill_diag::cut;
use memchr::memchr;

use super::row::Cell;

/// The line that ends the rows of a table.
pub(crate) const END: &[u8] = b"\\.";

/// The cells of a line without its line feed.
///
/// An empty line is one empty cell; the caller knows whether the table has no columns at all.
pub(crate) fn cells(line: &[u8]) -> impl Iterator<Item = Cell<'_>> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let tab = memchr(b'\t', line);
        rest = tab.and_then(|tab| line.get(tab + 1..));
        let field = line.get(..tab.unwrap_or(line.len()))?;
        Some(match field {
            b"\\N" => Cell::Null,
            _ => Cell::Text(unescape(field)),
        })
    })
}

/// Decodes the escapes. A backslash before any other character is dropped, and one at the end stays.
pub(crate) fn unescape(field: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr(b'\\', field) else {
        return Cow::Borrowed(field);
    };
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    let mut next = Some(first);
    while let Some(backslash) = next {
        let (plain, escape) = rest.split_at(backslash);
        bytes.extend_from_slice(plain);
        let (byte, length) = decode(escape.split_at(1).1);
        bytes.push(byte);
        rest = escape.split_at(1 + length).1;
        next = memchr(b'\\', rest);
    }
    bytes.extend_from_slice(rest);
    Cow::Owned(bytes)
}

/// The byte that an escape denotes, and the length of the escape; `escape` is the text after the backslash.
pub(super) fn decode(escape: &[u8]) -> (u8, usize) {
    match escape {
        [b'b', ..] => (0x08, 1),
        [b'f', ..] => (0x0C, 1),
        [b'n', ..] => (b'\n', 1),
        [b'r', ..] => (b'\r', 1),
        [b't', ..] => (b'\t', 1),
        [b'v', ..] => (0x0B, 1),
        [b'x', digits @ ..] if digits.first().is_some_and(u8::is_ascii_hexdigit) => {
            let (byte, count) = number(digits, 16, 2);
            (byte, 1 + count)
        }
        [b'0'..=b'7', ..] => number(escape, 8, 3),
        [other, ..] => (*other, 1),
        [] => (b'\\', 0),
    }
}

/// The low byte of a number of at most `most` digits, and the number of digits.
fn number(digits: &[u8], radix: u32, most: usize) -> (u8, usize) {
    let mut value = 0_u32;
    let mut count = 0;
    for digit in digits.iter().take(most) {
        let Some(digit) = char::from(*digit).to_digit(radix) else {
            break;
        };
        value = value * radix + digit;
        count += 1;
    }
    (value as u8, count)
}

/// The letter after the backslash for a byte that a server escapes.
const fn letter(byte: u8) -> Option<u8> {
    match byte {
        b'\\' => Some(b'\\'),
        0x08 => Some(b'b'),
        0x0C => Some(b'f'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        b'\t' => Some(b't'),
        0x0B => Some(b'v'),
        _ => None,
    }
}

/// A frame of [`Form::Copied`](crate::Form::Copied): maps a decoded line back to the line that a server wrote.
#[derive(Clone, Copy, Debug)]
pub struct CopiedLine<'f> {
    value: &'f [u8],
}

impl<'f> CopiedLine<'f> {
    /// The line with these decoded bytes.
    pub fn new(value: &'f [u8]) -> Self {
        Self { value }
    }

    /// The bytes of the line in the entry.
    pub fn text(&self) -> Vec<u8> {
        let mut line = Vec::with_capacity(self.value.len() + self.value.len() / 8);
        for byte in self.value {
            match letter(*byte) {
                Some(letter) => line.extend([b'\\', letter]),
                None => line.push(*byte),
            }
        }
        line
    }

    /// Maps ascending offsets in the decoded line to offsets in the written line; those after the end become the end.
    pub fn offsets(&self) -> impl FnMut(u64) -> u64 + use<'f> {
        let value = self.value;
        let (mut at, mut escapes) = (0, 0);
        move |offset| {
            let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(value.len());
            if offset < at {
                (at, escapes) = (0, 0);
            }
            let between = cut::slice(value, at..offset).iter();
            escapes += between.filter(|byte| letter(**byte).is_some()).count();
            at = offset;
            (offset + escapes) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(bytes: &[u8]) -> Cell<'static> {
        Cell::Text(Cow::Owned(bytes.to_vec()))
    }

    #[test]
    fn cells_stand_between_tabs_and_null_is_not_empty() {
        let line = b"a\t\t\\N\t\\\\N\tx\\tb\\nc\\rd\\\\e\\bf\\fg\\vh\t\\\\.\t\xE2\x80\xA8";
        let cells: Vec<_> = cells(line).collect();
        assert_eq!(
            cells,
            [
                text(b"a"),
                text(b""),
                Cell::Null,
                text(b"\\N"),
                text(b"x\tb\nc\rd\\e\x08f\x0Cg\x0Bh"),
                text(b"\\."),
                text(b"\xE2\x80\xA8"),
            ]
        );
        assert_eq!(super::cells(b"").collect::<Vec<_>>(), [text(b"")]);
    }

    #[test]
    fn octal_and_hexadecimal_escapes_give_bytes() {
        let plain = |field: &str| unescape(field.as_bytes()).into_owned();
        assert_eq!(plain(r"\101\60\7x"), b"A0\x07x");
        assert_eq!(plain(r"\1234"), b"S4");
        assert_eq!(plain(r"\x41\xC3\xA9\x4g"), b"A\xC3\xA9\x04g");
        assert_eq!(plain(r"\xg\q\"), br"xgq\");
    }

    /// Encodes a cell as a server writes it.
    fn encode(cell: Option<&[u8]>, line: &mut Vec<u8>) {
        let Some(bytes) = cell else {
            line.extend_from_slice(b"\\N");
            return;
        };
        line.extend(CopiedLine::new(bytes).text());
    }

    proptest! {
        #![proptest_config(chatmill_drawn::law(64))]

        #[test]
        fn copy_rows_are_read_back(
            row in prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..12)), 1..6)
        ) {
            let mut line = Vec::new();
            for (at, cell) in row.iter().enumerate() {
                if at > 0 {
                    line.push(b'\t');
                }
                encode(cell.as_deref(), &mut line);
            }
            prop_assert!(!line.contains(&b'\n') && line != END);
            let expected: Vec<_> = row.iter().map(|cell| cell.as_deref().map_or(Cell::Null, text)).collect();
            prop_assert_eq!(cells(&line).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn every_offset_leads_back_to_its_byte(value in prop::collection::vec(any::<u8>(), 0..40)) {
            let line = CopiedLine::new(&value);
            let text = line.text();
            prop_assert_eq!(&*unescape(&text), &*value);
            let mut offset = line.offsets();
            for at in (0..=value.len()).chain([0, value.len() + 1]) {
                let before = value.get(..at).unwrap_or(&value);
                prop_assert_eq!(offset(at as u64), CopiedLine::new(before).text().len() as u64);
            }
        }

        #[test]
        fn any_bytes_unescape(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert!(unescape(&bytes).len() <= bytes.len());
        }
    }
}
