//! What the envelopes of preferences share: a prompt, and what was answered to it.

use super::{ExportRow, borrowed};
use crate::envelope::turns::{self, Turn};

/// The turns of a rendering, cut behind the last one that is not part of the answer.
pub(super) struct Answered<'a> {
    /// What stands before the answer.
    pub(super) prompt: Vec<Turn<'a>>,
    /// The answer.
    pub(super) answer: Vec<Turn<'a>>,
}

impl<'a> Answered<'a> {
    /// Cuts the messages of a rendering; none where nobody is answered, or nothing is said.
    pub(super) fn of(row: &ExportRow<'a>) -> Option<Self> {
        let mut prompt = borrowed(row, "messages").and_then(turns::of)?;
        let asked = prompt
            .iter()
            .rposition(|turn| !turn.said.is_assistant() && turn.said.role != "tool")?;
        let answer = prompt.split_off(asked + 1);
        (!answer.is_empty() && prompt.last()?.said.role == "user").then_some(Self { prompt, answer })
    }
}

/// Two answers to one prompt, the better one first. `silent` says that nobody answers, and `apart` that the prompts differ.
pub(super) fn pair<'a>(
    row: &ExportRow<'a>,
    silent: &'static str,
    apart: &'static str,
) -> Result<(Answered<'a>, Answered<'a>), &'static str> {
    let chosen = Answered::of(row).ok_or(silent)?;
    let rejected = rejected(row).and_then(|row| Answered::of(&row)).ok_or(silent)?;
    let json = |turn: &Turn<'a>| turn.json;
    let is_one = chosen
        .prompt
        .iter()
        .map(json)
        .eq(rejected.prompt.iter().map(json));
    is_one.then_some((chosen, rejected)).ok_or(apart)
}

/// The rendering with the other answer, as a row of its own.
pub(super) fn rejected<'a>(row: &ExportRow<'a>) -> Option<ExportRow<'a>> {
    Some(ExportRow {
        content: row.rejected?,
        ..*row
    })
}
