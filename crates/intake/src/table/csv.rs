//! Comma-separated values after RFC 4180: cells with separators, quotes or line breaks are quoted.
//!
//! An empty cell is `NULL` without quotes and an empty text with them. An unquoted `\N` is also `NULL`. So is the
//! unquoted word `NULL`, but in a column of text by people only if the file quotes its texts. Any of four bytes may
//! separate cells; the header decides which one, or the line `sep=;` that Excel writes before it. Rows end with LF, or
//! with a lone CR if the header does.

use std::borrow::Cow;
use std::collections::BTreeSet;

use memchr::{memchr, memchr_iter, memchr2};

use super::TableMap;
use super::row::{Cell, SAMPLE, truth_of};
use crate::event::{Framing, Head};
use crate::stream::StreamError;

/// The bytes that may separate cells.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The bytes that end cells and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CsvStyle {
    pub(crate) separator: u8,
    line_end: u8,
    /// The length of the line before the header that names the separator, in bytes.
    pub(crate) before: usize,
}

impl CsvStyle {
    /// The styles that a file with this beginning may have.
    fn all(head: &[u8]) -> impl Iterator<Item = Self> {
        let rest = head.strip_prefix(b"sep=").and_then(<[u8]>::split_first);
        let named = rest.and_then(|(separator, rest)| {
            let blank = rest
                .iter()
                .take_while(|sign| matches!(sign, b'\r' | b'\n'))
                .count();
            (blank > 0).then_some((*separator, "sep=;".len() + blank))
        });
        let separators = SEPARATORS
            .into_iter()
            .filter(move |separator| named.is_none_or(|(named, _)| named == *separator));
        let before = named.map_or(0, |(_, before)| before);
        let (_, header) = head.split_at(before);
        separators.map(move |separator| Self {
            separator,
            line_end: line_end(header),
            before,
        })
    }

    /// The style that gives the header the most cells.
    pub(crate) fn likely(head: &[u8]) -> Self {
        let cells = |style: &Self| {
            let (_, rest) = head.split_at(style.before);
            let (header, _) = rest.split_at(Ends::new(*style).run(rest).unwrap_or(rest.len()));
            memchr_iter(style.separator, header).count()
        };
        let usual = Self {
            separator: b',',
            line_end: b'\n',
            before: 0,
        };
        Self::all(head).max_by_key(cells).unwrap_or(usual)
    }
}

/// The byte that ends the first row outside quotes.
fn line_end(header: &[u8]) -> u8 {
    let mut is_quoted = false;
    let end = header.iter().position(|sign| {
        is_quoted ^= *sign == b'"';
        !is_quoted && matches!(sign, b'\r' | b'\n')
    });
    let ends = end.and_then(|end| header.get(end..));
    match ends {
        Some([b'\r', next, ..]) if *next != b'\n' => b'\r',
        _ => b'\n',
    }
}

/// The style of a CSV file and the columns in its header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// How cells and rows end.
    pub(crate) style: CsvStyle,
    /// Names of the columns.
    pub(crate) columns: Vec<String>,
}

impl Layout {
    /// Recognises a header: a first line in which some map finds all columns that it requires.
    ///
    /// A map without required columns recognises nothing, because it would match any text.
    pub(crate) fn of(head: &[u8], is_complete: bool, maps: &[TableMap]) -> Option<Self> {
        CsvStyle::all(head).find_map(|style| {
            let head = head.get(style.before..)?;
            let end = Ends::new(style).run(head).or(is_complete.then_some(head.len()))?;
            let line = strip_line_break(head.get(..end)?);
            let columns = cells(line, style.separator)
                .map(|cell| match cell {
                    Ok(Cell::Text(name)) => String::from_utf8(name.into_owned()).ok(),
                    _ => None,
                })
                .collect::<Option<Vec<String>>>()?;
            let is_wanted = maps
                .iter()
                .any(|map| map.requires.len() > 1 && map.reads(None, &columns));
            is_wanted.then_some(Self { style, columns })
        })
    }
}

/// The number of rows below the header that must fit for a file to be recognised as CSV.
const ROWS: usize = 16;

impl TableMap {
    /// A map for a CSV file that no other map recognises: every column of its header keeps its name. `None` if the head
    /// is not CSV, that is, if a name is empty or repeated, or one of the first rows has another number of cells.
    pub fn of_header(head: &Head) -> Option<Self> {
        let found = CsvStyle::all(&head.bytes).filter_map(|style| names(head, style, ROWS));
        found.max_by_key(Vec::len).map(Self::of_names)
    }

    /// Such a map from the header alone: rows with another number of cells are errors when they are read.
    pub fn of_first_line(head: &Head) -> Option<Self> {
        names(head, CsvStyle::likely(&head.bytes), 0).map(Self::of_names)
    }

    fn of_names(mut requires: Vec<String>) -> Self {
        if let [only] = requires.as_slice() {
            // A map with fewer than two required columns recognises nothing.
            requires.push(only.clone());
        }
        Self {
            requires,
            ..Self::default()
        }
    }
}

/// A header and the cells of the rows below it.
type Sample = (Vec<String>, Vec<Vec<Option<String>>>);

impl Head {
    /// The column names of a CSV file, and the complete rows in its head.
    pub fn table(&self) -> Option<Sample> {
        if self.framing != Framing::Tables || self.bytes.first().is_some_and(|byte| *byte == 0) {
            return None;
        }
        self.rows_of(CsvStyle::likely(&self.bytes))
    }

    /// The header and rows of a text that no map reads: the header must be words, and most rows must have the same
    /// number of cells.
    pub fn csv(&self) -> Option<Sample> {
        let is_word = |name: &String| {
            let may_be = |sign: char| sign.is_alphanumeric() || "_ -.#:/()".contains(sign);
            name.len() <= 64 && name.chars().all(may_be)
        };
        let tables = CsvStyle::all(&self.bytes).filter_map(|style| self.rows_of(style));
        let tables = tables.filter(|(columns, rows)| {
            let first = || rows.iter().take(ROWS);
            let fitting = first().filter(|row| row.len() == columns.len()).count();
            columns.len() > 1 && columns.iter().all(is_word) && fitting > 0 && 2 * fitting >= first().count()
        });
        tables.max_by_key(|(columns, _)| columns.len())
    }

    fn rows_of(&self, style: CsvStyle) -> Option<Sample> {
        let columns = names(self, style, 0)?;
        let text = |cell| match cell {
            Ok(Cell::Text(text)) => Some(String::from_utf8_lossy(&text).into_owned()),
            _ => None,
        };
        let rest = self.bytes.get(style.before..)?;
        let rows = rows(rest, style, self.complete)
            .filter(|row| !row.is_empty())
            .skip(1);
        let rows = rows.take(SAMPLE);
        let rows = rows.map(|row| cells(row, style.separator).map(text).collect());
        Some((columns, rows.collect()))
    }
}

/// The rows of a text without their line breaks. An unterminated row is returned if the text is complete.
fn rows(text: &[u8], style: CsvStyle, is_whole: bool) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let last = (is_whole && !rest.is_empty()).then_some(rest.len());
        let (row, after) = rest.split_at_checked(Ends::new(style).run(rest).or(last)?)?;
        rest = after;
        Some(strip_line_break(row))
    })
}

/// The names of a header, if this many rows below it have the same number of cells.
fn names(head: &Head, style: CsvStyle, rows: usize) -> Option<Vec<String>> {
    let mut names: Option<Vec<String>> = None;
    let mut rest = head.bytes.get(style.before..)?;
    for _ in 0..=rows {
        let end = Ends::new(style).run(rest);
        let end = end.or((head.complete && !rest.is_empty()).then_some(rest.len()));
        let Some((row, after)) = end.and_then(|end| rest.split_at_checked(end)) else {
            break;
        };
        rest = after;
        let row = strip_line_break(row);
        if row.is_empty() {
            continue;
        }
        let cells = cells(row, style.separator).collect::<Result<Vec<_>, _>>().ok()?;
        match &names {
            Some(names) if names.len() != cells.len() => return None,
            Some(_) => {}
            None => names = Some(cells.into_iter().map(name).collect::<Option<_>>()?),
        }
    }
    names.filter(|names| names.iter().collect::<BTreeSet<_>>().len() == names.len())
}

/// The name in a cell of a header.
fn name(cell: Cell<'_>) -> Option<String> {
    match cell {
        Cell::Text(name) if !name.is_empty() => String::from_utf8(name.into_owned()).ok(),
        _ => None,
    }
}

/// A row without its line break.
pub(crate) fn strip_line_break(row: &[u8]) -> &[u8] {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    row.strip_suffix(b"\r").unwrap_or(row)
}

/// Finds the ends of rows. A chunk may end at any byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    style: CsvStyle,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the start of a cell, where a quote may open.
    CellStart,
    /// In a cell without quotes, or after the quotes of one.
    Plain,
    Quoted,
    /// After a quote that closes the cell unless another one follows.
    Closed,
}

impl Ends {
    pub(crate) const fn new(style: CsvStyle) -> Self {
        Self {
            style,
            place: Place::CellStart,
        }
    }

    /// Whether the position is inside quotes.
    pub(crate) fn is_quoted(self) -> bool {
        self.place == Place::Quoted
    }

    /// Reads on; returns the length up to the row's end with its line break, if that is in `bytes`.
    pub(crate) fn run(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let rest = bytes.split_at(at).1;
            match (self.place, byte) {
                (Place::Quoted, _) => {
                    at += memchr(b'"', rest)? + 1;
                    self.place = Place::Closed;
                }
                (Place::CellStart | Place::Closed, b'"') => {
                    at += 1;
                    self.place = Place::Quoted;
                }
                _ => {
                    self.place = Place::Plain;
                    at += memchr2(self.style.separator, self.style.line_end, rest)? + 1;
                    self.place = Place::CellStart;
                    if bytes.get(at - 1) == Some(&self.style.line_end) {
                        return Some(at);
                    }
                }
            }
        }
        None
    }
}

/// The cells of a row without its line break.
pub(crate) fn cells(row: &[u8], separator: u8) -> impl Iterator<Item = Result<Cell<'_>, StreamError>> {
    texts(row, separator).map(|text| {
        let (text, is_quoted) = text?;
        Ok(match &*text {
            _ if is_quoted => Cell::Text(text),
            b"" | b"\\N" => Cell::Null,
            b"NULL" => Cell::NullWord,
            _ => Cell::Text(text),
        })
    })
}

/// Whether the complete rows in a text quote everything except numbers, truth values and null. An unquoted word is then
/// no text by people.
pub(crate) fn quotes_texts(text: &[u8], style: CsvStyle) -> bool {
    let rows = rows(text, style, false);
    let cells = rows.take(SAMPLE).flat_map(|row| texts(row, style.separator));
    let mut any = false;
    let all = cells.filter_map(Result::ok).all(|(text, is_quoted)| {
        any |= is_quoted;
        let is_number = text.first().is_none_or(|first| b"-+.0123456789".contains(first));
        is_quoted || is_number || truth_of(&text).is_some() || matches!(&*text, b"\\N" | b"NULL")
    });
    any && all
}

/// The texts of a row's cells; the flag is true for quoted ones.
fn texts(row: &[u8], separator: u8) -> impl Iterator<Item = Result<(Cow<'_, [u8]>, bool), StreamError>> {
    let mut rest = Some(row);
    std::iter::from_fn(move || {
        let row = rest.take()?;
        let inside = row.strip_prefix(b"\"");
        let (text, after) = if let Some(inside) = inside {
            match quoted(inside) {
                Ok(found) => found,
                Err(error) => return Some(Err(error)),
            }
        } else {
            let (text, after) = row.split_at(memchr(separator, row).unwrap_or(row.len()));
            (Cow::Borrowed(text), after)
        };
        if let Some((next, behind)) = after.split_first() {
            if *next != separator {
                return Some(Err(StreamError::malformed(
                    "something follows the closing quote of a cell",
                )));
            }
            rest = Some(behind);
        }
        Some(Ok((text, inside.is_some())))
    })
}

/// The text of a quoted cell, after its opening quote, and the text after the cell.
fn quoted(inside: &[u8]) -> Result<(Cow<'_, [u8]>, &[u8]), StreamError> {
    let mut text = Cow::Borrowed(&[][..]);
    let mut rest = inside;
    loop {
        let end = memchr(b'"', rest).ok_or_else(|| StreamError::malformed("a quoted cell does not end"))?;
        let (plain, from) = rest.split_at(end);
        let after = from.split_at(1).1;
        if after.first() != Some(&b'"') {
            if text.is_empty() {
                text = Cow::Borrowed(plain);
            } else {
                text.to_mut().extend_from_slice(plain);
            }
            return Ok((text, after));
        }
        let own = text.to_mut();
        own.extend_from_slice(plain);
        own.push(b'"');
        rest = after.split_at(1).1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMMAS: CsvStyle = CsvStyle {
        separator: b',',
        line_end: b'\n',
        before: 0,
    };

    fn row(text: &str, separator: u8) -> Vec<Option<String>> {
        cells(text.as_bytes(), separator)
            .map(|cell| match cell.unwrap() {
                Cell::Text(text) => Some(String::from_utf8(text.into_owned()).unwrap()),
                _ => None,
            })
            .collect()
    }

    fn some(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[test]
    fn cells_are_quoted_or_plain_and_null_is_not_empty() {
        assert_eq!(
            row(r#"a,"b,c","d""e","""""#, b','),
            some(&["a", "b,c", "d\"e", "\""])
        );
        assert_eq!(row("\"x\ny\";z", b';'), some(&["x\ny", "z"]));
        assert_eq!(
            row(r#",a,"","#, b','),
            [None, Some("a".to_owned()), Some(String::new()), None]
        );
        assert_eq!(row(r#"a"b,it's"#, b','), some(&["a\"b", "it's"]));
        for broken in [r#""a"#, r#""a"b,c"#, r#""a""#.trim_end_matches('"')] {
            assert!(
                cells(broken.as_bytes(), b',').any(|cell| cell.is_err()),
                "{broken}"
            );
        }
    }

    #[test]
    fn a_header_is_a_line_that_a_map_recognises() {
        let map = TableMap {
            requires: vec!["id".to_owned(), "body".to_owned()],
            ..TableMap::default()
        };
        let of =
            |head: &str, is_complete| Layout::of(head.as_bytes(), is_complete, std::slice::from_ref(&map));
        for (head, separator) in [
            ("id,body\n1,x", b','),
            ("\"id\";x;\"body\"\r\n", b';'),
            ("id\tbody\n", b'\t'),
        ] {
            assert_eq!(of(head, true).unwrap().style.separator, separator, "{head}");
        }
        assert!(of("id,body", true).is_some() && of("id,body", false).is_none());
        assert!(of("id,text\n", true).is_none());
        assert!(Layout::of(b"id,body\n", true, &[TableMap::default()]).is_none());
    }

    #[test]
    fn a_header_alone_makes_a_map_whatever_its_rows_are() {
        let of = |head: &str| {
            let head = Head {
                framing: Framing::Documents,
                complete: true,
                bytes: head.as_bytes().to_vec(),
            };
            TableMap::of_first_line(&head).map(|map| map.requires)
        };
        assert_eq!(of("a\tb, c\td\n1\n").unwrap(), ["a", "b, c", "d"]);
        assert_eq!(of("prompt\n\"x\"y\n").unwrap(), ["prompt", "prompt"]);
        for text in ["", "a,,b\n", "a,a\n", "\"open\nx,y\n"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn a_map_is_made_of_a_header_with_different_names() {
        let of = |head: &str| {
            TableMap::of_header(&Head {
                framing: Framing::Documents,
                complete: true,
                bytes: head.as_bytes().to_vec(),
            })
            .map(|map| map.requires)
        };
        let several = |head| of(head).filter(|names| names[0] != names[1]);
        assert_eq!(of("question;\"a,b\"\nx;y\n").unwrap(), ["question", "a,b"]);
        assert_eq!(of("prompt").unwrap(), ["prompt", "prompt"]);
        for text in [
            "",
            "one,,two\n",
            "so, so,\n",
            "a,b,a\n",
            "a,b\n1,2\n3\n",
            "\"open\nx\n",
        ] {
            assert_eq!(several(text), None, "{text}");
        }
    }

    #[test]
    fn the_reader_says_what_a_table_is() {
        let of = |text: &str| {
            let head = Head {
                framing: Framing::Documents,
                complete: true,
                bytes: text.as_bytes().to_vec(),
            };
            head.csv().map(|(columns, rows)| (columns.join(" "), rows.len()))
        };
        let table = |rows| Some(("who said".to_owned(), rows));
        assert_eq!(of("who,said\nkim,\"one, two\"\nlee,\"three, four\"\n"), table(2));
        for text in [
            "sep=;\r\nwho;said\r\nkim;x, y\r\n",
            "who|said\nkim|x\n",
            "who\tsaid\nkim\tx",
        ] {
            assert_eq!(of(text), table(1), "{text}");
        }
        assert_eq!(of("who,said\rkim,\"x\ny\"\rlee,z\r"), table(2));
        for text in [
            "Hello, Ann\n",
            "so it is\nand so\n",
            "a,b\n1\n2\n3,4\n",
            "| a | b |\n|---|---|\n| 1 | 2 |\n",
            "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2}\n",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(chatmill_drawn::law(64))]

        #[test]
        fn chunks_change_nothing(text in "[a\",\r\n]{0,30}", cut in 0_usize..30) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            let mut whole = Ends::new(COMMAS);
            let mut parts = Ends::new(COMMAS);
            let split = parts.run(&bytes[..cut]).or_else(|| Some(cut + parts.run(&bytes[cut..])?));
            prop_assert_eq!(split, whole.run(bytes));
        }

        #[test]
        fn quoted_cells_are_read_back(texts in prop::collection::vec("[a\",\r\n]{0,5}", 1..5)) {
            let quoted: Vec<String> = texts.iter().map(|text| format!("\"{}\"", text.replace('"', "\"\""))).collect();
            let line = quoted.join(",") + "\n";
            prop_assert_eq!(Ends::new(COMMAS).run(line.as_bytes()), Some(line.len()));
            let read = row(line.strip_suffix('\n').unwrap(), b',');
            prop_assert_eq!(read, texts.into_iter().map(Some).collect::<Vec<_>>());
        }
    }
}
