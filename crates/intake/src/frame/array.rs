//! A top-level array of any size: one record per element.

use chatmill_diag::codes::{INVALID_JSON, RECORD_TOO_LONG};

use super::balance::Balance;
use super::unit::Unit;
use super::{Framer, is_space};
use crate::event::Form;
use crate::stream::StreamError;

/// The position in the array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Before the opening bracket.
    Start,
    /// Before an element.
    Before,
    /// After an element.
    After,
    /// After the closing bracket.
    Closed,
}

/// How the end of a unit is found.
enum Kind {
    /// It begins with a bracket or quote and ends with the counterpart.
    Balanced,
    /// A number or word ends at a separator or bracket.
    Scalar,
    /// It ends at the next comma or `]` outside brackets.
    NotValue,
    /// It ends with the entry.
    Rest,
}

impl Framer {
    /// Cuts the next element, or any other text in its place.
    pub(super) fn next_element(&mut self, state: State, buffer: &mut Vec<u8>) {
        let separator = match state {
            State::Before => |byte| is_space(byte) || byte == b',',
            _ => is_space,
        };
        let Some(byte) = self.skip_separators(separator) else {
            let open = (state != State::Closed)
                .then(|| StreamError::truncated("the entry ends before the array's closing bracket"));
            self.finish(open, buffer);
            return;
        };
        let kind = match (state, byte) {
            (State::Start, _) | (State::After, b',') => return self.skip_bracket(State::Before),
            (State::Before | State::After, b']') => return self.skip_bracket(State::Closed),
            (State::Before, b'{' | b'[' | b'"') => Kind::Balanced,
            (State::Before, b'}' | b':') | (State::After, _) => Kind::NotValue,
            (State::Before, _) => Kind::Scalar,
            (State::Closed, _) => Kind::Rest,
        };
        let Some(mut unit) = self.unit(self.record_limit, &RECORD_TOO_LONG, buffer) else {
            return;
        };
        if !self.take_until_end(&kind, &mut unit, buffer) {
            if matches!(kind, Kind::Rest) && !self.window.is_broken() {
                let broken = StreamError::new(
                    &INVALID_JSON,
                    "expected nothing after the array's closing bracket",
                );
                self.reject(unit, &broken, buffer);
                self.state = super::State::Over;
            } else {
                self.finish_inside(
                    unit,
                    StreamError::truncated("the entry ends inside an array element"),
                    buffer,
                );
            }
            return;
        }
        if matches!(kind, Kind::NotValue) {
            let broken = StreamError::new(&INVALID_JSON, "expected `,` or `]` between array elements");
            self.reject(unit, &broken, buffer);
        } else {
            self.accept(unit, Form::Original, buffer);
        }
        self.state = super::State::Array(State::After);
    }

    fn skip_bracket(&mut self, next: State) {
        self.skip_separator();
        self.state = super::State::Array(next);
    }

    /// Moves the bytes of a unit; true if its end was found.
    fn take_until_end(&mut self, kind: &Kind, unit: &mut Unit, buffer: &mut Vec<u8>) -> bool {
        let mut balance = Balance::default();
        while self.window.ready() {
            let rest = self.window.rest();
            let end = match kind {
                Kind::Balanced => balance.run(rest),
                Kind::Scalar => rest
                    .iter()
                    .position(|byte| is_space(*byte) || b",:[]{}\"".contains(byte)),
                Kind::NotValue => balance.run_to_separator(rest),
                Kind::Rest => None,
            };
            let count = end.unwrap_or(rest.len());
            self.take(unit, count, buffer);
            if end.is_some() {
                return true;
            }
        }
        false
    }
}
