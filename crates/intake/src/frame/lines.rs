//! JSON lines: a record ends at the line feed, even inside brackets.

use chatmill_diag::codes::RECORD_TOO_LONG;
use memchr::memchr;

use super::unit::Unit;
use super::{Framer, State, is_space};
use crate::event::Form;
use crate::table::copy::{self, CopiedLine};

impl Framer {
    /// Cuts the next line that is not blank. White space before it and a CR at its end are separators.
    pub(super) fn next_line(&mut self, buffer: &mut Vec<u8>) {
        if self.skip_separators(is_space).is_none() {
            self.finish(None, buffer);
            return;
        }
        let Some(mut unit) = self.unit(self.record_limit, &RECORD_TOO_LONG, buffer) else {
            return;
        };
        // A CR is held back until the next byte decides whether it belongs to the line break.
        let mut pending_cr = false;
        loop {
            let rest = self.window.rest();
            let line_end = memchr(b'\n', rest);
            let line = rest.split_at(line_end.unwrap_or(rest.len())).0;
            let length = line.len();
            if pending_cr && length > 0 {
                unit.push(b"\r", buffer);
                pending_cr = false;
            }
            let text = line.strip_suffix(b"\r").unwrap_or(line);
            pending_cr |= text.len() < length;
            unit.push(text, buffer);
            // Only the line feed, which is skipped as a separator, can change the line; no caller needs a column inside a line.
            self.place.byte += length as u64;
            self.window.consume(length);
            if line_end.is_some() || !self.window.ready() {
                let broken = if line_end.is_none() {
                    self.window.take_broken()
                } else {
                    None
                };
                if let Some(broken) = broken {
                    if pending_cr {
                        unit.push(b"\r", buffer);
                    }
                    self.reject(unit, &broken, buffer);
                    self.state = State::Over;
                    return;
                }
                self.separators += u64::from(pending_cr);
                if self.state == State::EscapedLines {
                    self.accept_unescaped(unit, buffer);
                } else {
                    self.accept(unit, Form::Original, buffer);
                }
                return;
            }
        }
    }

    /// Ends a line as a frame of its text without the escapes of `COPY`.
    fn accept_unescaped(&mut self, unit: Unit, buffer: &mut Vec<u8>) {
        let mut form = Form::Row;
        if let Some(line) = unit.bytes(buffer) {
            let text = copy::unescape(line).into_owned();
            // Unusual escapes, which no server writes, cannot be mapped back although the text is the same; the frame
            // is then a row.
            if CopiedLine::new(&text).text() == line {
                form = Form::Copied;
            }
            buffer.truncate(unit.buffer_start());
            buffer.extend_from_slice(&text);
        }
        self.accept(unit, form, buffer);
    }
}
