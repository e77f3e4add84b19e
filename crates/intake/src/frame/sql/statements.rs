//! The statements of a text dump. Those that name the table of the following rows, and the rules for reading them, are
//! interpreted; most others are skipped.

use chatmill_diag::codes::RECORD_TOO_LONG;

use super::lexer::{Lexer, Mark, Scope};
use super::{MAX_HELD_BYTES, Open, Part};
use crate::frame::rows::Encoding;
use crate::frame::unit::Unit;
use crate::frame::{Framer, is_space};
use crate::stream::StreamError;
use crate::table::sql::{Dialect, Syntax};
use crate::table::statement::{Statement, database_of};

impl Framer {
    pub(super) fn next_statement(&mut self, syntax: Syntax) {
        let Some(first) = self.skip_separators(is_space) else {
            return;
        };
        if first == b'\\' && syntax.dialect == Dialect::PostgreSql {
            let database = self.skip_line().and_then(|line| database_of(&line));
            self.sql.database = database.or(self.sql.database.take());
            return;
        }
        let (unit, raw, lexer, mark) = self.read_statement(syntax);
        let text = unit.bytes(&raw).map(<[u8]>::to_vec);
        match (mark, text) {
            (None, _) if !lexer.is_blank() => {
                self.skip_unit(&unit, raw);
                self.sql.cut = Some("the dump ends inside a statement");
            }
            (None, text) => {
                self.skip_unit(&unit, raw);
                // A comment without its line end may have been cut.
                self.comment(&text.unwrap_or_default(), false);
            }
            (Some(Mark::Comment), text) => {
                self.skip_unit(&unit, raw);
                self.comment(&text.unwrap_or_default(), true);
            }
            (Some(Mark::Values), text) => {
                self.skip_unit(&unit, raw);
                self.begin_inserts(text.as_deref(), syntax);
            }
            (Some(_), Some(text)) if lexer.first().is("DELIMITER") && syntax.dialect == Dialect::MySql => {
                self.skip_unit(&unit, raw);
                let line = self.skip_line().unwrap_or_default();
                let is_closing =
                    text.trim_ascii_end().len() <= "DELIMITER ;".len() && line.trim_ascii().is_empty();
                if !is_closing {
                    self.sql.part = Part::Delimited;
                }
            }
            (Some(_), Some(text)) => self.obey(unit, raw, &text, syntax),
            (Some(_), None) => {
                let first = lexer.first();
                if first.is("INSERT") || first.is("REPLACE") || first.is("COPY") {
                    let message =
                        format!("a statement of more than {MAX_HELD_BYTES} bytes before its first row");
                    self.reject_row(unit, raw, &StreamError::new(&RECORD_TOO_LONG, message));
                } else {
                    self.skip_unit(&unit, raw);
                }
            }
        }
    }

    /// Reads a statement to its end, or an `INSERT` up to its rows.
    pub(super) fn read_statement(&mut self, syntax: Syntax) -> (Unit, Vec<u8>, Lexer, Option<Mark>) {
        let (mut unit, mut raw) = self.row_unit(MAX_HELD_BYTES);
        let mut lexer = Lexer::new(syntax, Scope::Statement);
        let mark = self.take_scope(&mut lexer, &mut unit, &mut raw);
        (unit, raw, lexer, mark)
    }

    /// Interprets a complete statement.
    fn obey(&mut self, unit: Unit, raw: Vec<u8>, text: &[u8], syntax: Syntax) {
        let statement = Statement::parse(text, syntax);
        if let Statement::Insert { table, .. } = &statement
            && self.rows.is_named(&self.sql.full_name(table.clone()).full())
        {
            let error = StreamError::malformed("the statement computes its rows instead of listing them");
            self.reject_row(unit, raw, &error);
            return;
        }
        self.skip_unit(&unit, raw);
        self.follow(statement, syntax);
    }

    /// Applies a statement to the following rows.
    pub(in crate::frame) fn follow(&mut self, statement: Statement, syntax: Syntax) {
        let limit = self.record_limit;
        let sql = &mut self.sql;
        match statement {
            Statement::Copy {
                table,
                columns,
                is_plain,
            } => {
                let table = sql.full_name(table);
                sql.part = Part::CopyStart;
                let error = (!is_plain).then(|| StreamError::malformed("COPY with options is not read"));
                self.aim(Some(table), columns, error);
            }
            Statement::Domain { name, kind, base } => {
                let full = |name| sql.full_name(name).full();
                self.rows.define(full(name), kind, base.map(full), limit);
            }
            Statement::Create {
                table,
                mut columns,
                parents,
            } => {
                let full = |name| sql.full_name(name).full();
                for column in &mut columns {
                    column.domain = column.domain.take().map(full);
                }
                let parents = parents.into_iter().map(full).collect();
                self.rows.remember(full(table), columns, parents, limit);
            }
            Statement::Attach { parent, child } => {
                let full = |name| sql.full_name(name).full();
                self.rows.attach(full(child), full(parent), limit);
            }
            Statement::Offset(offset) if syntax.dialect == Dialect::MySql => sql.offset = Some(offset),
            Statement::Encoding(name) => {
                self.rows.encoding = Encoding::named(&name, syntax.dialect == Dialect::MySql);
            }
            Statement::SearchPath(schema) => sql.schema = schema,
            Statement::Backslashes(backslashes) if syntax.dialect == Dialect::PostgreSql => {
                sql.syntax.backslashes = backslashes;
            }
            Statement::Database(name) if syntax.dialect == Dialect::MySql => sql.database = Some(name),
            Statement::Begin if syntax.dialect == Dialect::Sqlite => sql.open(Open::Transaction),
            Statement::Commit => sql.close(Open::Transaction),
            Statement::Rollback if sql.open.contains(&Open::Transaction) => {
                sql.close(Open::Transaction);
                self.note_incomplete("the dump ends with ROLLBACK: the program that wrote it met errors");
            }
            _ => {}
        }
    }

    /// Inspects a comment: dump programs write the kind of the dump, and that it is complete, into comments.
    fn comment(&mut self, text: &[u8], is_whole: bool) {
        let syntax = self.sql.syntax;
        let is_executed = text.starts_with(b"/*!") || text.starts_with(b"/*M!");
        if is_executed && syntax.dialect == Dialect::MySql {
            // The comment is executed, so the statement in it counts: `/*!40101 SET NAMES utf8mb4 */`.
            self.follow(Statement::parse(text, syntax), syntax);
        }
        let Some(text) = text.strip_prefix(b"--").map(<[u8]>::trim_ascii) else {
            return;
        };
        let sql = &mut self.sql;
        match text {
            b"PostgreSQL database dump complete" => sql.close(Open::Database),
            b"PostgreSQL database cluster dump complete" => sql.close(Open::Cluster),
            b"PostgreSQL database cluster dump" if is_whole => sql.open(Open::Cluster),
            b"PostgreSQL database dump" if is_whole => {
                let was_open = sql.open.contains(&Open::Database);
                sql.open(Open::Database);
                sql.schema = None;
                sql.syntax = Syntax::new(sql.syntax.dialect);
                self.rows.encoding = Encoding::Utf8;
                if was_open {
                    self.note_incomplete(Open::Database.missing());
                }
            }
            text if text.starts_with(b"Dump completed") => sql.close(Open::MySql),
            text if is_whole && (text.starts_with(b"MySQL dump ") || text.starts_with(b"MariaDB dump ")) => {
                sql.open(Open::MySql);
            }
            _ => {}
        }
    }

    /// Skips lines up to the one that makes `;` the end of statements again.
    pub(super) fn skip_delimited(&mut self) {
        let Some(line) = self.skip_line() else {
            self.sql.cut = Some("the dump ends inside a statement");
            return;
        };
        let line = line.trim_ascii();
        let (word, rest) = line.split_at_checked("DELIMITER".len()).unwrap_or_default();
        if word.eq_ignore_ascii_case(b"DELIMITER") && rest.trim_ascii() == b";" {
            self.sql.part = Part::Statements;
        }
    }
}
