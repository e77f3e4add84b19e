//! What the envelopes of preferences share: a prompt, and what was answered to it.

use std::ops::Range;

use super::{ExportRow, borrowed};
use crate::turns::{self, Turn};

/// The turns of a rendering, cut behind the last one that is not part of the answer.
pub(super) struct Answered<'a> {
    turns: Vec<Turn<'a>>,
    answer: Range<usize>,
}

impl<'a> Answered<'a> {
    /// Cuts the messages of a rendering; none where nobody is answered, or nothing is said.
    pub(super) fn of(row: &ExportRow<'a>) -> Option<Self> {
        let turns = borrowed(row, "messages").and_then(turns::of)?;
        let asked = turns
            .iter()
            .rposition(|turn| !turn.said.is_assistant() && turn.said.role != "tool")?;
        let answer = asked + 1..turns.len();
        (!answer.is_empty() && turns.get(asked)?.said.role == "user").then_some(Self { turns, answer })
    }

    /// What stands before the answer.
    pub(super) fn prompt(&self) -> &[Turn<'a>] {
        self.turns.get(..self.answer.start).unwrap_or_default()
    }

    /// The answer.
    pub(super) fn answer(&self) -> &[Turn<'a>] {
        self.turns.get(self.answer.clone()).unwrap_or_default()
    }

    /// Whether both answer the same.
    pub(super) fn answers_the_same(&self, other: &Self) -> bool {
        self.prompt()
            .iter()
            .map(|turn| turn.json)
            .eq(other.prompt().iter().map(|turn| turn.json))
    }
}

/// The rendering with the other answer, as a row of its own.
pub(super) fn rejected<'a>(row: &ExportRow<'a>) -> Option<ExportRow<'a>> {
    Some(ExportRow {
        content: row.rejected?,
        ..*row
    })
}
