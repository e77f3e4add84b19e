//! The rows of an `INSERT`: each is read separately, however many the statement has.

use memchr::memchr;

use super::Part;
use super::lexer::{Lexer, Mark, Scope};
use crate::frame::rows::CellsOf;
use crate::frame::{Framer, is_space};
use crate::stream::StreamError;
use crate::table::sql::Syntax;
use crate::table::statement::Statement;

impl Framer {
    /// Begins the rows of an `INSERT`; `text` is the statement before them, or `None` if it was too long to be kept.
    pub(super) fn begin_inserts(&mut self, text: Option<&[u8]>, syntax: Syntax) {
        self.sql.part = Part::Inserts;
        let statement = text.map(|text| (text.trim_ascii(), Statement::parse(text, syntax)));
        if let Some((head, Statement::Insert { table, columns })) = statement {
            let table = self.sql.full_name(table);
            self.aim(Some(table), columns, None);
            if self.window.ready() {
                self.sample(CellsOf::Insert(syntax, self.record_limit), |text| {
                    let start = memchr(b'(', text)?;
                    let (between, row) = text.split_at(start);
                    let between = between.trim_ascii();
                    // Rows of the same statement, or of another one with the same beginning.
                    let next = between.strip_prefix(b";").unwrap_or(between).trim_ascii();
                    let is_same = matches!(next, b"" | b",") || next == head;
                    let (_, length) = Lexer::row(syntax).run(row).filter(|_| is_same)?;
                    Some(start..start + length)
                });
            }
        } else {
            let error = StreamError::malformed("the statement before the rows cannot be understood");
            self.rows.reject_all(error);
        }
    }

    /// Reads the next row of an `INSERT`, or the text after the last one.
    pub(super) fn next_values(&mut self, syntax: Syntax) {
        match self.skip_separators(|byte| is_space(byte) || byte == b',') {
            None => {}
            Some(b'(') if self.rows.is_skipping() => self.skip_values(syntax),
            Some(b'(') => {
                let (mut unit, mut raw) = self.row_unit(self.record_limit);
                let mut lexer = Lexer::new(syntax, Scope::Row);
                match self.take_scope(&mut lexer, &mut unit, &mut raw) {
                    Some(Mark::Bracket) => {
                        let budget = self.record_limit.saturating_mul(4);
                        self.end_row(unit, raw, CellsOf::Insert(syntax, budget), None);
                    }
                    Some(_) => {
                        let error = StreamError::malformed("the row ends before its closing bracket");
                        self.reject_row(unit, raw, &error);
                    }
                    None => self.cut_row(unit, raw),
                }
            }
            Some(_) => self.end_inserts(syntax),
        }
    }

    fn skip_values(&mut self, syntax: Syntax) {
        let mut lexer = Lexer::new(syntax, Scope::Row);
        let start = self.place.byte;
        let mut is_ended = false;
        while !is_ended && self.window.ready() {
            let rest = self.window.rest();
            let found = lexer.run(rest);
            let count = found.map_or(rest.len(), |(_, count)| count);
            self.place.advance(rest.split_at(count).0);
            self.window.consume(count);
            is_ended = found.is_some();
        }
        self.skip_row(self.place.byte - start);
        if !is_ended {
            self.sql.cut = Some("the dump ends inside a row");
        }
    }

    /// Reads the text after the rows of an `INSERT`, which is usually its end.
    fn end_inserts(&mut self, syntax: Syntax) {
        let (unit, raw, lexer, mark) = self.read_statement(syntax);
        let first = lexer.first();
        // If the statement is in a comment that MySQL executes, the comment may end first.
        let text = unit.bytes(&raw).unwrap_or_default();
        let is_end = text.strip_prefix(b"*/").unwrap_or(text).trim_ascii() == b";";
        let is_known = is_end || ["ON", "RETURNING", "AS"].iter().any(|word| first.is(word));
        match mark {
            None if lexer.is_blank() => self.skip_unit(&unit, raw),
            None => {
                self.skip_unit(&unit, raw);
                self.sql.cut = Some("the dump ends inside a statement");
            }
            Some(Mark::Comment) => self.skip_unit(&unit, raw),
            // The `;` is missing, and the next statement has begun.
            Some(Mark::Values) => {
                let text = unit.bytes(&raw).map(<[u8]>::to_vec);
                self.skip_unit(&unit, raw);
                self.begin_inserts(text.as_deref(), syntax);
            }
            Some(_) => {
                self.sql.part = Part::Statements;
                if is_known || self.rows.is_skipping() {
                    self.skip_unit(&unit, raw);
                } else {
                    let error = StreamError::malformed("expected a row or the end of the statement");
                    self.reject_row(unit, raw, &error);
                }
            }
        }
    }
}
