//! Text dumps of PostgreSQL, MySQL and SQLite: statements, the rows of `INSERT`, and the lines of `COPY`. The framer
//! calls this part once the head is recognised as a dump.
//!
//! Memory holds only one row, or the relevant beginning of a statement. Everything that is not a row is a separator.

mod copy_data;
mod detect;
mod inserts;
mod lexer;
mod statements;

use chatmill_diag::Finding;
use chatmill_diag::codes::{DUMP_INCOMPLETE, EMPTY_INPUT};
use memchr::memchr;

use super::Framer;
use super::rows::CellsOf;
use super::unit::Unit;
use crate::event::{Event, TableName};
use crate::stream::StreamError;
use crate::table::sql::{Dialect, Syntax};

pub(super) use detect::detect;
pub(super) use lexer::Lexer;
use lexer::Mark;

/// The number of bytes of a statement that are kept; a longer one is not interpreted.
const MAX_HELD_BYTES: u64 = 1 << 20;

/// The state of a text dump between events.
#[derive(Default)]
pub(super) struct Sql {
    syntax: Syntax,
    part: Part,
    /// The database to which the dump connects.
    database: Option<String>,
    /// The schema of tables that are named without one.
    pub(super) schema: Option<String>,
    /// The time zone offset of times, if the dump sets one.
    pub(super) offset: Option<String>,
    /// The blocks that were begun and must be ended.
    open: Vec<Open>,
    /// Whether the entry contains only the rows of one table.
    is_one_table: bool,
    /// Why the dump is incomplete, as long as no lost row can be pointed at and no error has reported it.
    cut: Option<&'static str>,
    /// Whether a framing error has reported that the dump is cut.
    is_cut_reported: bool,
}

/// The part of the dump that is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Statements,
    /// Between two rows of an `INSERT`.
    Inserts,
    /// Before the rest of the line with the `COPY` statement.
    CopyStart,
    /// At the start of a line of `COPY` data.
    CopyLine,
    /// After a line of `COPY` data, before its line feed.
    CopyLineEnd,
    /// After the end mark of a table that is read from an archive.
    CopyEnd,
    /// Between the client's commands that change the end of statements.
    Delimited,
}

/// A block that has an explicit beginning and end in a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Cluster,
    Database,
    MySql,
    Transaction,
}

impl Open {
    const fn missing(self) -> &'static str {
        match self {
            Self::Cluster => "the dump of all databases ends before the comment that marks it as complete",
            Self::Database | Self::MySql => "the dump ends before the comment that marks it as complete",
            Self::Transaction => "the dump ends before its COMMIT",
        }
    }
}

impl Sql {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            syntax: Syntax::new(dialect),
            ..Self::default()
        }
    }

    /// The state for the data of one `COPY`, without its statement.
    pub(super) fn of_copy_data() -> Self {
        Self {
            part: Part::CopyLine,
            ..Self::of_inserts()
        }
    }

    /// The state for the statements that fill one table.
    pub(super) fn of_inserts() -> Self {
        Self {
            is_one_table: true,
            ..Self::default()
        }
    }

    /// The name of a table with its schema, and with its database if the dump connects to several.
    pub(super) fn full_name(&self, table: String) -> TableName {
        TableName {
            database: self.database.clone(),
            table: match &self.schema {
                Some(schema) if !table.contains('.') => format!("{schema}.{table}"),
                _ => table,
            },
        }
    }

    /// Records the beginning of a block. An open block of the same kind begins anew.
    fn open(&mut self, open: Open) {
        self.close(open);
        self.open.push(open);
    }

    fn close(&mut self, open: Open) {
        self.open.retain(|other| *other != open);
    }
}

impl Framer {
    /// Reads on to the next row, comment or statement.
    pub(super) fn next_sql(&mut self, buffer: &mut Vec<u8>) {
        let (syntax, part) = (self.sql.syntax, self.sql.part);
        if !self.window.ready() {
            self.finish_dump(buffer);
            return;
        }
        match part {
            Part::Statements => self.next_statement(syntax),
            Part::Inserts => self.next_values(syntax),
            Part::CopyStart => {
                if self.skip_line().is_some() {
                    self.sql.part = Part::CopyLine;
                    if self.window.ready() {
                        self.sample(CellsOf::Copy, |text| Some(0..memchr(b'\n', text)? + 1));
                    }
                }
            }
            Part::CopyLineEnd => {
                self.skip_separator();
                self.sql.part = Part::CopyLine;
            }
            Part::CopyLine => self.next_copy_line(),
            Part::CopyEnd => self.skip_copy_end(),
            Part::Delimited => self.skip_delimited(),
        }
    }

    fn take_scope(&mut self, lexer: &mut Lexer, unit: &mut Unit, raw: &mut Vec<u8>) -> Option<Mark> {
        while self.window.ready() {
            let rest = self.window.rest();
            let found = lexer.run(rest);
            let count = found.map_or(rest.len(), |(_, count)| count);
            self.take(unit, count, raw);
            if let Some((mark, _)) = found {
                return Some(mark);
            }
        }
        None
    }

    /// Skips a unit as a separator.
    fn skip_unit(&mut self, unit: &Unit, raw: Vec<u8>) {
        self.separators += unit.length();
        self.rows.raw = raw;
    }

    /// Skips the rest of the line with its line feed as a separator; returns the line, cut to what is kept. `None` if
    /// the entry ends first.
    fn skip_line(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        while self.window.ready() {
            let rest = self.window.rest();
            let end = memchr(b'\n', rest);
            let count = end.map_or(rest.len(), |end| end + 1);
            let bytes = rest.split_at(count).0;
            if (line.len() + count) as u64 <= MAX_HELD_BYTES {
                line.extend_from_slice(bytes);
            }
            self.place.advance(bytes);
            self.window.consume(count);
            self.separators += count as u64;
            if end.is_some() {
                return Some(line);
            }
        }
        None
    }

    /// Ends a row that the end of the entry cuts.
    fn cut_row(&mut self, unit: Unit, raw: Vec<u8>) {
        let cut = || StreamError::incomplete("the dump ends inside a row");
        let broken = self.window.take_broken().unwrap_or_else(cut);
        self.reject_row(unit, raw, &broken);
        self.sql.is_cut_reported = true;
    }

    fn note_incomplete(&mut self, message: &str) {
        let offset = self.place.byte;
        let finding = Finding::new(&DUMP_INCOMPLETE, message).at_span(offset, offset);
        self.queue.push_back(Event::Note(finding));
    }

    /// Ends the entry and reports missing parts.
    fn finish_dump(&mut self, buffer: &mut Vec<u8>) {
        if self.flush_separators() {
            return;
        }
        let sql = &self.sql;
        let cut = sql.cut.or(match sql.part {
            Part::Statements | Part::CopyEnd | Part::Delimited => None,
            Part::Inserts => Some("the dump ends between the rows of a statement"),
            Part::CopyStart | Part::CopyLine | Part::CopyLineEnd => {
                Some("the dump ends between the rows of a table")
            }
        });
        let cut = cut.filter(|_| !sql.is_cut_reported);
        if cut.is_none() && !sql.is_cut_reported && !self.window.is_broken() {
            let (open, is_one_table) = (sql.open.clone(), sql.is_one_table);
            for open in &open {
                self.note_incomplete(open.missing());
            }
            if !self.rows.has_reported && open.is_empty() && !is_one_table {
                let finding = Finding::new(&EMPTY_INPUT, "the dump holds no rows");
                self.queue.push_back(Event::Note(finding));
            }
        }
        let cut = cut.map(StreamError::incomplete);
        self.finish(cut, buffer);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;

    use chatmill_diag::Limits;

    use crate::archive::dump::{DumpTable, RowText};
    use crate::event::Event;
    use crate::frame::{Framer, How};
    use crate::table::TableMap;

    /// The rows of one table, and the codes of the framing errors among them.
    fn read(body: &str, text: RowText, definition: &str) -> (Vec<String>, Vec<&'static str>) {
        let table = DumpTable {
            name: "public.notes".to_owned(),
            text,
            definitions: vec![definition.into()],
            encoding: None,
        };
        let maps: Arc<[TableMap]> = Arc::new([TableMap {
            table: "notes".to_owned(),
            ..TableMap::default()
        }]);
        let stream = Box::new(Cursor::new(body.as_bytes().to_vec()));
        let (mut framer, _) = Framer::new(stream, Vec::new(), &Limits::default(), &maps, How::Table(&table));
        let (mut rows, mut codes, mut buffer) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(event) = framer.next(&mut buffer) {
            match event {
                Event::Frame(frame) => rows.push(String::from_utf8(buffer[frame.buffer].to_vec()).unwrap()),
                Event::FramingError(error) => codes.push(error.code.name),
                Event::Note(note) => codes.push(note.code.name),
                _ => {}
            }
        }
        assert_eq!(framer.decoded(), body.len() as u64);
        (rows, codes)
    }

    fn copy(body: &str) -> (Vec<String>, Vec<&'static str>) {
        let columns = vec!["text".to_owned()];
        read(body, RowText::Copy { columns }, "")
    }

    #[test]
    fn the_data_of_one_table_ends_with_its_mark() {
        let row = |text: &str| format!(r#"{{"text":"{text}"}}"#);
        assert_eq!(copy("a\n\n\\.\n\n\n"), (vec![row("a"), row("")], vec![]));
        assert_eq!(copy("\\.\n"), (vec![], vec![]));
        assert_eq!(copy("a\n"), (vec![row("a")], vec!["dump-incomplete"]));
        assert_eq!(copy("a\nb"), (vec![row("a")], vec!["dump-incomplete"]));
        assert_eq!(copy(""), (vec![], vec!["dump-incomplete"]));
        assert_eq!(
            copy("a\n\\.\nmore\nand more"),
            (vec![row("a")], vec!["malformed-row"])
        );
    }

    #[test]
    fn a_byte_order_mark_is_part_of_the_first_row() {
        assert_eq!(copy("\u{feff}a\n\\.\n").0, ["{\"text\":\"\u{feff}a\"}"]);
    }

    #[test]
    fn statements_that_fill_a_table_take_its_columns_from_the_definition() {
        let inserts = |definition: &str| {
            let rows = "INSERT INTO public.notes VALUES ('a');\n\n\n";
            read(rows, RowText::Inserts, definition)
        };
        let known = inserts("CREATE TABLE public.notes (\n    text text\n);\n");
        assert_eq!(known, (vec![r#"{"text":"a"}"#.to_owned()], vec![]));
        assert_eq!(inserts("").1, ["columns-unknown"]);
    }
}
