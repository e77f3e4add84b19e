//! A sequence of JSON documents in any layout.

use chatmill_diag::codes::{DOCUMENT_TOO_LARGE, INVALID_JSON};
use memchr::memchr;

use super::balance::Balance;
use super::{Framer, State, is_space};
use crate::event::Form;
use crate::json;
use crate::stream::StreamError;

impl Framer {
    /// Cuts the next document, or any other text in its place.
    pub(super) fn next_document(&mut self, buffer: &mut Vec<u8>) {
        match self.skip_separators(is_space) {
            None => self.finish(None, buffer),
            Some(b'{' | b'[') => self.next_balanced(buffer),
            Some(_) => self.next_text(buffer),
        }
    }

    fn next_balanced(&mut self, buffer: &mut Vec<u8>) {
        let Some(mut unit) = self.unit(self.document_limit, &DOCUMENT_TOO_LARGE, buffer) else {
            return;
        };
        let mut balance = Balance::default();
        while self.window.ready() {
            let rest = self.window.rest();
            let end = balance.run(rest);
            let count = end.unwrap_or(rest.len());
            self.take(&mut unit, count, buffer);
            if end.is_some() {
                self.accept(unit, Form::Original, buffer);
                return;
            }
        }
        let cut = StreamError::truncated("the entry ends inside a JSON document");
        self.finish_inside(unit, cut, buffer);
    }

    /// Cuts text up to the next line that begins with a bracket. A single scalar is a document; other text is an error.
    fn next_text(&mut self, buffer: &mut Vec<u8>) {
        let Some(mut unit) = self.unit(self.document_limit, &DOCUMENT_TOO_LARGE, buffer) else {
            return;
        };
        let mut line_begins = false;
        let mut ended = false;
        while !ended && self.window.ready() {
            let rest = self.window.rest();
            ended = line_begins && matches!(rest.first(), Some(b'{' | b'['));
            if !ended {
                let line = memchr(b'\n', rest).map(|end| end + 1);
                line_begins = line.is_some();
                let count = line.unwrap_or(rest.len());
                self.take(&mut unit, count, buffer);
            }
        }
        if !ended && self.window.is_broken() {
            let cut = StreamError::truncated("the entry ends inside a JSON document");
            self.finish_inside(unit, cut, buffer);
        } else if unit
            .bytes(buffer)
            .is_some_and(|bytes| json::scan(bytes, 0).is_ok())
        {
            self.accept(unit, Form::Original, buffer);
        } else {
            self.reject(
                unit,
                &StreamError::new(&INVALID_JSON, "expected a JSON document"),
                buffer,
            );
            if !ended {
                self.state = State::Over;
            }
        }
    }
}
