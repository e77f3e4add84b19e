//! Writes a row as one JSON object, the same for every container format.
//!
//! The type of a value was decided before: a cell has the kind of its JSON value.

pub(crate) mod roles;

use std::borrow::Cow;

use chatmill_diag::codes::INVALID_UTF8;

use super::TableMap;
use crate::json;
use crate::stream::StreamError;

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell<'c> {
    /// `NULL`.
    Null,
    /// The value is unknown: the column is left out of the row.
    Absent,
    /// Text, UTF-8 or not.
    Text(Cow<'c, [u8]>),
    /// A number as written. Text that is no JSON number is written as a string.
    Number(Cow<'c, str>),
    /// A truth value.
    Bool(bool),
    /// Bytes that are not text.
    Blob(Cow<'c, [u8]>),
}

/// The outcome of writing a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// The row was written.
    Row,
    /// A filter passes it over; nothing was written.
    Filtered,
}

/// Writer of the rows of one table, as JSON objects.
#[derive(Clone, Debug)]
pub(crate) struct RowWriter {
    columns: Vec<Column>,
}

#[derive(Clone, Debug)]
struct Column {
    /// The name as it is written: quoted, escaped, with its colon.
    key: Vec<u8>,
    /// Whether its text is JSON.
    is_json: bool,
    /// For every filter on this column, the texts of which the cell must be one.
    filters: Vec<Vec<Option<String>>>,
    /// The roles that its values mean.
    roles: Vec<(String, String)>,
}

impl TableMap {
    /// The name of a column in a row; `has` says which columns the row has, in the table's words.
    ///
    /// A column that keeps its own name, although another one was given that name, gets `~2` after it.
    pub(super) fn key<'n>(&'n self, column: &'n str, has: impl Fn(&str) -> bool) -> Cow<'n, str> {
        let renamed = |column: &str| {
            let pair = self.columns.iter().find(|(_, theirs)| theirs == column);
            pair.map(|(ours, _)| ours.as_str())
        };
        if let Some(name) = renamed(column) {
            return Cow::Borrowed(name);
        }
        let mut theirs = self.columns.iter().map(|(_, theirs)| theirs);
        let is_taken = theirs.any(|theirs| renamed(theirs) == Some(column) && has(theirs))
            || !self.roles.is_empty() && column == roles::WORD;
        if is_taken {
            Cow::Owned(format!("{column}~2"))
        } else {
            Cow::Borrowed(column)
        }
    }
}

impl RowWriter {
    /// Prepares for rows with these columns, in the table's words.
    pub(crate) fn new(map: &TableMap, columns: &[String]) -> Self {
        let has = |name: &str| columns.iter().any(|column| column == name);
        let columns = columns
            .iter()
            .map(|column| {
                let name = map.key(column, has);
                let roles = if name == roles::ROLE {
                    map.roles.clone()
                } else {
                    Vec::new()
                };
                let mut key = Vec::new();
                push_string(&name, &mut key);
                key.push(b':');
                let filters = map.filters.iter().filter(|filter| filter.column == *column);
                Column {
                    key,
                    is_json: map.json.contains(column),
                    filters: filters.map(|filter| filter.one_of.clone()).collect(),
                    roles,
                }
            })
            .collect();
        Self { columns }
    }

    /// The number of cells in a row.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Appends a row to `out` as a JSON object. `out` is unchanged when the row is malformed or filtered.
    ///
    /// All cells are parsed even when a filter skips the row, so that a malformed row is never counted as
    /// filtered.
    pub(crate) fn write<'c>(
        &self,
        cells: impl Iterator<Item = Result<Cell<'c>, StreamError>>,
        out: &mut Vec<u8>,
    ) -> Result<Written, StreamError> {
        let before = out.len();
        let written = self.write_cells(cells, out);
        if !matches!(written, Ok(Written::Row)) {
            out.truncate(before);
        }
        written
    }

    fn write_cells<'c>(
        &self,
        mut cells: impl Iterator<Item = Result<Cell<'c>, StreamError>>,
        out: &mut Vec<u8>,
    ) -> Result<Written, StreamError> {
        let mut is_wanted = true;
        let mut mark = b'{';
        for (at, column) in self.columns.iter().enumerate() {
            let Some(cell) = cells.next().transpose()? else {
                return Err(self.wrong_width(at));
            };
            is_wanted &= column.filters.iter().all(|one_of| cell.is_one_of(one_of));
            if cell == Cell::Absent {
                continue;
            }
            out.push(mark);
            mark = b',';
            if let Some(role) = roles::of(&column.roles, &cell) {
                roles::write(role, &cell, out);
                continue;
            }
            out.extend_from_slice(&column.key);
            cell.write(column.is_json, out)?;
        }
        if cells.next().transpose()?.is_some() {
            let more = 1 + cells.count();
            return Err(self.wrong_width(self.width() + more));
        }
        if mark == b'{' {
            out.push(b'{');
        }
        out.push(b'}');
        Ok(if is_wanted {
            Written::Row
        } else {
            Written::Filtered
        })
    }

    fn wrong_width(&self, cells: usize) -> StreamError {
        StreamError::malformed(format!("{cells} cells in a row of {} columns", self.width()))
    }
}

impl Cell<'_> {
    /// Whether the cell's text is among these, where `None` stands for `NULL`.
    pub(super) fn is_one_of(&self, texts: &[Option<String>]) -> bool {
        texts.iter().any(|text| match (self, text) {
            (Cell::Null | Cell::Absent, None) => true,
            (Cell::Text(own), Some(text)) => **own == *text.as_bytes(),
            (Cell::Number(own), Some(text)) => own == text,
            (Cell::Bool(own), Some(text)) => (if *own { "true" } else { "false" }) == text,
            _ => false,
        })
    }

    pub(super) fn write(&self, is_json: bool, out: &mut Vec<u8>) -> Result<(), StreamError> {
        match self {
            Cell::Null | Cell::Absent => out.extend_from_slice(b"null"),
            Cell::Text(text) if is_json && json::scan(text, u32::MAX).is_ok() => out.extend_from_slice(text),
            Cell::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => push_string(text, out),
                Err(_) => {
                    return Err(StreamError::new(
                        &INVALID_UTF8,
                        "a cell holds bytes that are not UTF-8",
                    ));
                }
            },
            Cell::Number(text) if is_number(text) => out.extend_from_slice(text.as_bytes()),
            Cell::Number(text) => push_string(text, out),
            Cell::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Cell::Blob(bytes) => {
                out.extend_from_slice(b"\"\\\\x");
                for byte in bytes.iter() {
                    push_hex(*byte, out);
                }
                out.push(b'"');
            }
        }
        Ok(())
    }
}

/// Whether JSON takes a text for a number.
fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && text.ends_with(|last: char| last.is_ascii_digit())
        && json::scan(text.as_bytes(), 0).is_ok()
}

/// Appends a JSON string.
pub(crate) fn push_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    push_escaped(text.as_bytes(), out);
    out.push(b'"');
}

/// Appends the inside of a JSON string. Bytes that are not UTF-8 stay as they are.
pub(crate) fn push_escaped(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    loop {
        let (plain, from) = rest.split_at(json::plain_run(rest));
        out.extend_from_slice(plain);
        let Some((byte, after)) = from.split_first() else {
            break;
        };
        let short = match byte {
            b'"' | b'\\' => *byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0C => b'f',
            _ => b'u',
        };
        out.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            out.extend_from_slice(b"00");
            push_hex(*byte, out);
        }
        rest = after;
    }
}

fn push_hex(byte: u8, out: &mut Vec<u8>) {
    for digit in [byte >> 4, byte & 0xF] {
        out.push(if digit < 10 {
            b'0' + digit
        } else {
            b'a' + digit - 10
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::TableFilter;

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn text(text: &str) -> Cell<'_> {
        Cell::Text(Cow::Borrowed(text.as_bytes()))
    }

    fn write(
        map: &TableMap,
        columns: &[&str],
        cells: Vec<Cell<'_>>,
    ) -> Result<(Written, String), StreamError> {
        let mut out = b"before".to_vec();
        let writer = RowWriter::new(map, &texts(columns));
        let written = writer.write(cells.into_iter().map(Ok), &mut out);
        let row = String::from_utf8(out)
            .unwrap()
            .strip_prefix("before")
            .unwrap()
            .to_owned();
        assert_eq!(row.is_empty(), !matches!(written, Ok(Written::Row)));
        Ok((written?, row))
    }

    #[test]
    fn every_kind_of_cell_has_its_kind_of_value() {
        let cells = vec![
            Cell::Null,
            text("a\"\\\n\r\t\u{8}\u{c}\u{1}\u{7f}é"),
            Cell::Number("-12345678901234567890.5e3".into()),
            Cell::Number("1e999".into()),
            Cell::Number(".5".into()),
            Cell::Bool(true),
            Cell::Blob(Cow::Borrowed(b"\x00\xFF")),
            Cell::Absent,
        ];
        let (_, row) = write(
            &TableMap::default(),
            &["a", "b", "c", "d", "e", "f", "g", "h"],
            cells,
        )
        .unwrap();
        assert_eq!(
            row,
            "{\"a\":null,\"b\":\"a\\\"\\\\\\n\\r\\t\\b\\f\\u0001\u{7f}é\",\"c\":-12345678901234567890.5e3,\
             \"d\":1e999,\"e\":\".5\",\"f\":true,\"g\":\"\\\\x00ff\"}"
        );
        serde_json::from_str::<&serde_json::value::RawValue>(&row).unwrap();
    }

    #[test]
    fn columns_are_renamed_and_never_collide() {
        let map = TableMap {
            columns: vec![("content".to_owned(), "body \"x\"".to_owned())],
            ..TableMap::default()
        };
        let (_, row) = write(&map, &["body \"x\"", "content"], vec![text("1"), text("2")]).unwrap();
        assert_eq!(row, r#"{"content":"1","content~2":"2"}"#);
    }

    #[test]
    fn json_is_embedded_where_it_is_json() {
        let map = TableMap {
            json: texts(&["a", "b", "c", "d"]),
            ..TableMap::default()
        };
        let cells = vec![
            text(r#"{"n": 12345678901234567890}"#),
            text("{cut"),
            text(""),
            Cell::Null,
            text("[1]"),
        ];
        let (_, row) = write(&map, &["a", "b", "c", "d", "e"], cells).unwrap();
        assert_eq!(
            row,
            r#"{"a":{"n": 12345678901234567890},"b":"{cut","c":"","d":null,"e":"[1]"}"#
        );
    }

    #[test]
    fn filters_skip_rows_and_errors_are_reported_all_the_same() {
        let map = TableMap {
            filters: vec![TableFilter {
                column: "kind".to_owned(),
                one_of: vec![None, Some("chat".to_owned()), Some("3".to_owned())],
            }],
            ..TableMap::default()
        };
        let kind = |cell| write(&map, &["kind"], vec![cell]).unwrap().0;
        assert_eq!(kind(text("chat")), Written::Row);
        assert_eq!(kind(Cell::Null), Written::Row);
        assert_eq!(kind(Cell::Number("3".into())), Written::Row);
        assert_eq!(kind(text("note")), Written::Filtered);
        assert_eq!(kind(Cell::Bool(true)), Written::Filtered);
        let error = write(&map, &["kind", "b"], vec![text("note")]).unwrap_err();
        assert_eq!(
            (error.code.name, error.message.as_str()),
            ("malformed-row", "1 cells in a row of 2 columns")
        );
    }

    #[test]
    fn a_row_has_as_many_cells_as_columns_and_is_utf8() {
        let columns = &["a", "b"];
        let three = write(
            &TableMap::default(),
            columns,
            vec![Cell::Null, Cell::Null, Cell::Null],
        )
        .unwrap_err();
        assert_eq!(three.message, "3 cells in a row of 2 columns");
        let bytes = Cell::Text(Cow::Borrowed(b"caf\xE9"));
        let error = write(&TableMap::default(), columns, vec![bytes, Cell::Null]).unwrap_err();
        assert_eq!(error.code.name, "invalid-utf8");
        assert_eq!(write(&TableMap::default(), &[], Vec::new()).unwrap().1, "{}");
    }

    proptest! {
        #![proptest_config(chatmill_drawn::law(64))]

        #[test]
        fn any_text_round_trips_through_a_json_string(text in any::<String>()) {
            let mut written = Vec::new();
            push_string(&text, &mut written);
            prop_assert_eq!(serde_json::from_slice::<String>(&written).unwrap(), text);
        }
    }
}
