//! Writes a row as one JSON object, the same for every container: the framing of dumps and CSV and the scan of
//! databases pass the cells of a row to a [`RowWriter`].
//!
//! The type of each value has already been decided: a cell has the kind of its JSON value.

pub(crate) mod roles;
pub(crate) mod senders;

use std::borrow::Cow;

use chatmill_diag::codes::INVALID_UTF8;

use self::senders::SenderNames;
use super::TableMap;
use super::column::{Column, ColumnKind};
use crate::json;
use crate::stream::StreamError;

/// The number of rows in a sample.
pub(crate) const SAMPLE: usize = 256;

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cell<'c> {
    /// `NULL`.
    Null,
    /// The unquoted word `NULL` in a CSV file: text in a column of text by people, unless the file quotes its texts.
    NullWord,
    /// The value is unknown, and the column is omitted from the row.
    Absent,
    /// Text, which need not be UTF-8.
    Text(Cow<'c, [u8]>),
    /// A number as written; if it is not a JSON number, it is written as a string.
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
    /// A filter skipped the row; nothing was written.
    Filtered,
}

/// Writer of the rows of one table, as JSON objects.
#[derive(Clone, Debug)]
pub(crate) struct RowWriter {
    columns: Vec<Target>,
    /// The time zone offset of times that have none.
    pub(crate) offset: Option<String>,
    /// Whether texts are in quotes, so that `NULL` is no text.
    pub(crate) has_quotes: bool,
    /// Whether the first rows have been inspected.
    is_sampled: bool,
}

#[derive(Clone, Debug)]
struct Target {
    /// The names that are written, usually one: quoted, escaped, and with a colon.
    keys: Vec<RowKey>,
    kind: ColumnKind,
    /// Whether its values are truth values, which have several spellings.
    is_truth: bool,
    /// Whether it holds text by people.
    is_words: bool,
    /// Whether its text is JSON.
    is_json: bool,
    /// For each filter on this column, the texts of which the cell must be one.
    filters: Vec<Vec<Option<String>>>,
}

#[derive(Clone, Debug)]
struct RowKey {
    name: Vec<u8>,
    bytes: BytesOf,
    /// The roles that its values mean.
    roles: Vec<(String, String)>,
    /// Whether the role is in the column of senders; if the value has no role, the sender decides.
    is_of_sender: bool,
    /// The known senders with these values as ids.
    senders: Option<SenderNames>,
}

/// How bytes in a column are interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BytesOf {
    /// As text: other bytes are an error of the row.
    Text,
    /// As an id, which is text if it has no control characters.
    Id,
    /// As any bytes, which are written as hexadecimal digits.
    Other,
}

impl BytesOf {
    fn of(key: &str, is_mapped: bool) -> Self {
        match key {
            "content" | "text" | "role" | "sender_name" | "metadata" | "tool_calls" | "name" => Self::Text,
            "id" | "conversation" | "sender" | "reply_to" | "order" | "tool_call_id" | "created_at" => {
                Self::Id
            }
            _ if is_mapped => Self::Id,
            _ => Self::Other,
        }
    }

    /// The text of a cell with bytes, if they are text.
    fn text<'c>(self, cell: &'c Cell<'_>) -> Result<Option<Cell<'c>>, StreamError> {
        let Cell::Blob(bytes) = cell else {
            return Ok(None);
        };
        let text = || Some(Cell::Text(Cow::Borrowed(&**bytes)));
        match (self, str::from_utf8(bytes)) {
            (Self::Text, Ok(_)) => Ok(text()),
            (Self::Text, Err(_)) => Err(StreamError::garbled()),
            (Self::Id, Ok(id)) if !id.contains(char::is_control) => Ok(text()),
            (Self::Id | Self::Other, _) => Ok(None),
        }
    }
}

impl TableMap {
    /// The columns of text, if this is the user's map.
    pub(crate) fn words(&self) -> impl Iterator<Item = &String> {
        let columns = self.columns.iter().filter(|_| self.is_own);
        let texts = columns.filter(|(ours, _)| BytesOf::of(ours, true) == BytesOf::Text);
        texts.map(|(_, theirs)| theirs)
    }

    /// Whether this column holds the senders, and the roles are those of senders.
    pub(super) fn has_roles_of_senders(&self, column: &str) -> bool {
        let mut columns = self.columns.iter().filter(|(_, theirs)| theirs == column);
        !self.roles.is_empty() && columns.any(|(ours, _)| ours == "sender" || ours == "sender_name")
    }

    /// The names of a column in a row: every key that the map gives it, or else its name. `has` reports which columns
    /// the row has, under the table's names.
    ///
    /// If a column keeps its name although the map gave that name to another one, `~2` is appended.
    pub(super) fn keys<'n>(&'n self, column: &'n str, has: impl Fn(&str) -> bool) -> Vec<Cow<'n, str>> {
        let renamed = self.columns.iter().filter(|(_, theirs)| theirs == column);
        let names: Vec<Cow<'_, str>> = renamed.map(|(ours, _)| ours.as_str().into()).collect();
        if !names.is_empty() {
            return names;
        }
        let is_taken = self
            .columns
            .iter()
            .any(|(ours, theirs)| ours == column && has(theirs))
            || !self.roles.is_empty() && column == roles::WORD;
        vec![if is_taken {
            format!("{column}~2").into()
        } else {
            column.into()
        }]
    }
}

impl RowWriter {
    /// Prepares for rows with these columns, under the table's names.
    pub(crate) fn new(map: &TableMap, columns: &[Column]) -> Self {
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let map = &*map.spelled_as(&names);
        let has = |name: &str| names.iter().any(|column| column == name);
        let target = |declared: &Column| {
            let (column, kind) = (&declared.name, declared.kind);
            let is_mapped = map.columns.iter().any(|(_, theirs)| theirs == column);
            let key = |name: Cow<'_, str>| {
                let is_role = name == roles::ROLE;
                let is_of_sender = is_role && map.has_roles_of_senders(column);
                let mut key = Vec::new();
                push_string(&name, &mut key);
                key.push(b':');
                RowKey {
                    name: key,
                    bytes: BytesOf::of(&name, is_mapped),
                    roles: map.roles.iter().filter(|_| is_role).cloned().collect(),
                    is_of_sender,
                    senders: map.sender_names().filter(|_| name == "sender"),
                }
            };
            let filters = map.filters.iter().filter(|filter| filter.column == *column);
            let keys: Vec<Cow<'_, str>> = map.keys(column, has);
            Target {
                kind,
                is_truth: kind == ColumnKind::Truth,
                is_words: keys.iter().any(|key| key == "content" || key == "text"),
                is_json: map.json.contains(column) || kind == ColumnKind::Json && is_mapped,
                filters: filters.map(|filter| filter.one_of.clone()).collect(),
                keys: keys.into_iter().map(key).collect(),
            }
        };
        Self {
            columns: columns.iter().map(target).collect(),
            offset: None,
            has_quotes: false,
            is_sampled: false,
        }
    }

    /// Inspects the first rows of the table: a column in which all values are truth values is treated as such.
    pub(crate) fn sample<'c>(&mut self, rows: impl Iterator<Item = Vec<Cell<'c>>>) {
        self.is_sampled = true;
        let mut seen = vec![(false, true); self.columns.len()];
        for row in rows.take(SAMPLE) {
            for ((any, all), cell) in seen.iter_mut().zip(&row) {
                let is_empty = matches!(cell, Cell::Null | Cell::NullWord | Cell::Absent);
                *any |= !is_empty;
                *all &= is_empty || cell.truth().is_some();
            }
        }
        for (column, (any, all)) in self.columns.iter_mut().zip(seen) {
            column.is_truth |= any && all;
        }
    }

    /// Whether a sample of rows would decide anything.
    pub(crate) fn needs_sample(&self) -> bool {
        let mut columns = self.columns.iter().filter(|_| !self.is_sampled);
        columns.any(|column| {
            let roles = column.keys.iter().any(|key| !key.roles.is_empty());
            !column.is_truth && (roles || !column.filters.is_empty())
        })
    }

    /// The number of cells in a row.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Appends a row to `out` as a JSON object. `out` does not change if the row is malformed or filtered.
    ///
    /// All cells are parsed even if a filter skips the row, so that a malformed row is never counted as filtered.
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
        let mut has_role = false;
        let mut mark = b'{';
        for (at, column) in self.columns.iter().enumerate() {
            let Some(cell) = cells.next().transpose()? else {
                return Err(self.wrong_width(at));
            };
            let cell = match cell {
                Cell::NullWord if column.is_words && !self.has_quotes => Cell::Text(Cow::Borrowed(b"NULL")),
                Cell::NullWord => Cell::Null,
                cell if column.is_truth => cell.of_bit(),
                cell => cell,
            };
            is_wanted &= column
                .filters
                .iter()
                .all(|one_of| cell.is_one_of(one_of, column.is_truth));
            if cell == Cell::Absent {
                continue;
            }
            let cell = cell.of_kind(column.kind, self.offset.as_deref());
            for key in &column.keys {
                let text = key.bytes.text(&cell)?;
                let cell = text.as_ref().unwrap_or(&cell);
                let role = roles::of(&key.roles, cell, column.is_truth);
                if role.is_none() && key.is_of_sender || role.is_some() && has_role {
                    continue;
                }
                out.push(mark);
                mark = b',';
                if let Some(role) = role {
                    has_role = true;
                    roles::write(role, cell, out);
                } else {
                    out.extend_from_slice(&key.name);
                    cell.write(column.is_json, out)?;
                }
                if let Some(senders) = &key.senders {
                    has_role |= senders.write(cell, has_role, out);
                }
            }
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
    /// The cell in a column of a declared kind: bytes and times are written as text.
    fn of_kind(self, kind: ColumnKind, offset: Option<&str>) -> Self {
        match (kind, self, offset) {
            (ColumnKind::Bytes, Cell::Text(text), _) => {
                let digits = text.strip_prefix(b"\\x").and_then(from_hex);
                Cell::Blob(digits.map_or(text, Cow::Owned))
            }
            (ColumnKind::Instant, Cell::Text(text), Some(offset)) => {
                Cell::Text([&*text, offset.as_bytes()].concat().into())
            }
            (_, cell, _) => cell,
        }
    }

    /// The cell in a column of truth values: bits, which `MySQL` writes as bytes, are digits.
    fn of_bit(self) -> Self {
        match &self {
            Cell::Text(bits) | Cell::Blob(bits) => match &**bits {
                [0] => Cell::Text(Cow::Borrowed(b"0")),
                [1] => Cell::Text(Cow::Borrowed(b"1")),
                _ => self,
            },
            _ => self,
        }
    }

    /// Whether the text of the cell is one of these, where `None` is `NULL`. Different spellings of a truth value are equal.
    pub(super) fn is_one_of(&self, texts: &[Option<String>], is_truth: bool) -> bool {
        let truth = self.truth().filter(|_| is_truth || matches!(self, Cell::Bool(_)));
        texts.iter().any(|text| match (self, text) {
            (_, Some(text)) if truth.is_some() && truth == truth_of(text.as_bytes()) => true,
            (Cell::Null | Cell::NullWord | Cell::Absent, None) => true,
            (Cell::Text(own), Some(text)) => **own == *text.as_bytes(),
            (Cell::Number(own), Some(text)) => own == text,
            (Cell::Bool(own), Some(text)) => (if *own { "true" } else { "false" }) == text,
            _ => false,
        })
    }

    /// The truth value of the cell, if it is one.
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Cell::Text(text) | Cell::Blob(text) => truth_of(text),
            Cell::Number(text) => truth_of(text.as_bytes()),
            Cell::Bool(value) => Some(*value),
            Cell::Null | Cell::NullWord | Cell::Absent => None,
        }
    }

    pub(super) fn write(&self, is_json: bool, out: &mut Vec<u8>) -> Result<(), StreamError> {
        match self {
            Cell::Null | Cell::NullWord | Cell::Absent => out.extend_from_slice(b"null"),
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

/// The truth value of a word, in upper or lower case, or of a bit.
pub(super) fn truth_of(word: &[u8]) -> Option<bool> {
    let is = |words: [&str; 5]| {
        words
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
    };
    let (is_true, is_false) = (
        ["true", "t", "1", "yes", "\u{1}"],
        ["false", "f", "0", "no", "\0"],
    );
    match (is(is_true), is(is_false)) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// Whether a text is a number in JSON.
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

/// Appends the inside of a JSON string. Bytes that are not UTF-8 remain.
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

/// Decodes pairs of hexadecimal digits.
pub(super) fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
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
        let columns: Vec<Column> = columns.iter().map(|name| Column::plain(name)).collect();
        let writer = RowWriter::new(map, &columns);
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
    fn declared_types_and_keys_say_what_a_cell_is() {
        let pairs = [
            ("content", "body"),
            ("id", "key"),
            ("order", "key"),
            ("metadata", "meta"),
        ];
        let map = TableMap {
            columns: pairs
                .map(|(ours, theirs)| (ours.to_owned(), theirs.to_owned()))
                .to_vec(),
            ..TableMap::default()
        };
        let columns = [
            ("body", ColumnKind::Bytes),
            ("key", ColumnKind::Bytes),
            ("meta", ColumnKind::Json),
            ("raw", ColumnKind::Bytes),
            ("seen", ColumnKind::Instant),
        ];
        let columns = columns.map(|(name, kind)| Column::of(name.to_owned(), kind));
        let mut writer = RowWriter::new(&map, &columns);
        writer.offset = Some("+00:00".to_owned());
        let written = |body: &'static [u8]| {
            let bytes = |bytes: &'static [u8]| Cell::Text(Cow::Borrowed(bytes));
            let cells = [
                bytes(body),
                bytes(b"\xFF\x01"),
                text("[1, 2]"),
                text("hi"),
                text("2026-01-05 10:00:00"),
            ];
            let mut out = Vec::new();
            let written = writer.write(cells.into_iter().map(Ok), &mut out);
            written.map(|_| String::from_utf8(out).unwrap())
        };
        let row = |body: &str| {
            format!(
                "{{\"content\":\"{body}\",\"id\":\"\\\\xff01\",\"order\":\"\\\\xff01\",\"metadata\":[1, 2],\
                 \"raw\":\"\\\\x6869\",\"seen\":\"2026-01-05 10:00:00+00:00\"}}"
            )
        };
        assert_eq!(written(b"hello").unwrap(), row("hello"));
        assert_eq!(written(b"\\x68656c6c6f").unwrap(), row("hello"));
        assert_eq!(written(b"\xFF\xFE").unwrap_err().code.name, "invalid-utf8");
    }

    #[test]
    fn truth_values_are_equal_where_a_column_holds_nothing_else() {
        let map = TableMap {
            filters: vec![TableFilter {
                column: "a".to_owned(),
                one_of: vec![Some("no".to_owned())],
            }],
            ..TableMap::default()
        };
        let taken = |sample: &[&'static str], value: &'static str| {
            let mut writer = RowWriter::new(&map, &[Column::plain("a")]);
            writer.sample(sample.iter().map(|value| vec![text(value)]));
            let written = writer.write(std::iter::once(Ok(text(value))), &mut Vec::new());
            written.unwrap() == Written::Row
        };
        assert!(taken(&["f", "T", "0"], "F") && taken(&["0"], "0") && taken(&["no"], "FALSE"));
        assert!(!taken(&["f", "t"], "t"));
        assert!(taken(&["en", "no"], "no") && !taken(&["en", "no", "0"], "0"));
        assert!(!taken(&[], "0"));
    }

    #[test]
    fn a_bit_is_a_truth_value_however_a_dump_writes_it() {
        let map = TableMap {
            columns: [("role", "bot"), ("flag", "bot")]
                .map(|(ours, theirs)| (ours.to_owned(), theirs.to_owned()))
                .to_vec(),
            filters: vec![TableFilter {
                column: "bot".to_owned(),
                one_of: vec![Some("true".to_owned())],
            }],
            roles: vec![("true".to_owned(), "assistant".to_owned())],
            ..TableMap::default()
        };
        let bytes = |bit: &'static [u8]| [Cell::Text(bit.into()), Cell::Blob(bit.into())];
        let cells = |bit: &'static [u8], digit: &'static str| {
            [bytes(bit), [text(digit), Cell::Number(digit.into())]].concat()
        };
        let column = Column::of("bot".to_owned(), ColumnKind::Truth);
        let declared = RowWriter::new(&map, &[column]);
        let mut sampled = RowWriter::new(&map, &[Column::plain("bot")]);
        sampled.sample(
            bytes(b"\0")
                .into_iter()
                .chain(bytes(b"\x01"))
                .map(|cell| vec![cell]),
        );
        for writer in [declared, sampled] {
            let written = |cell| {
                let mut out = Vec::new();
                let written = writer.write(std::iter::once(Ok(cell)), &mut out).unwrap();
                (written == Written::Row).then(|| String::from_utf8(out).unwrap().replace('"', ""))
            };
            for cell in cells(b"\x01", "1") {
                assert_eq!(written(cell).unwrap(), "{role:assistant,source_type:1,flag:1}");
            }
            assert!(cells(b"\0", "0").into_iter().all(|cell| written(cell).is_none()));
        }
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
