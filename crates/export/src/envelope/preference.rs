//! Shared code of the envelopes of preferences: a prompt, and the answers to it.

use super::{ExportRow, borrowed};
use crate::envelope::turns::{self, Turn};

/// The turns of a rendering, cut after the last one that is not part of the answer.
pub(super) struct Answered<'a> {
    /// The turns before the answer.
    pub(super) prompt: Vec<Turn<'a>>,
    /// The answer.
    pub(super) answer: Vec<Turn<'a>>,
}

impl<'a> Answered<'a> {
    /// Cuts the messages of a rendering; `None` if the prompt does not end with a user, or has no answer.
    pub(super) fn of(row: &ExportRow<'a>) -> Option<Self> {
        Self::asked(row).filter(|asked| !asked.answer.is_empty())
    }

    /// Cuts the messages like [`Self::of`], but the answer may be missing.
    pub(super) fn asked(row: &ExportRow<'a>) -> Option<Self> {
        let mut prompt = borrowed(row, "messages").and_then(turns::of)?;
        let asked = prompt
            .iter()
            .rposition(|turn| !turn.message.is_assistant() && turn.message.role != "tool")?;
        let answer = prompt.split_off(asked + 1);
        (prompt.last()?.message.role == "user").then_some(Self { prompt, answer })
    }
}

/// Two answers to one prompt, the better one first. `silent` is the rule for a missing answer, `differ` the rule for prompts that differ.
pub(super) fn pair<'a>(
    row: &ExportRow<'a>,
    silent: &'static str,
    differ: &'static str,
) -> Result<(Answered<'a>, Answered<'a>), &'static str> {
    let chosen = Answered::of(row).ok_or(silent)?;
    let rejected = rejected(row).and_then(|row| Answered::of(&row)).ok_or(silent)?;
    let json = |turn: &Turn<'a>| turn.json;
    let is_one = chosen
        .prompt
        .iter()
        .map(json)
        .eq(rejected.prompt.iter().map(json));
    is_one.then_some((chosen, rejected)).ok_or(differ)
}

/// The rendering with the other answer, as a separate row.
pub(super) fn rejected<'a>(row: &ExportRow<'a>) -> Option<ExportRow<'a>> {
    Some(ExportRow {
        content: row.rejected?,
        ..*row
    })
}
