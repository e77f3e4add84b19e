//! Turns of the assistant that are context, for readers that cannot mark them.
//!
//! A turn with nothing but placeholders for media is left out with the question that it answers, or alone if the assistant has several turns in a
//! row. Other context is kept: a record ends before the first context that follows a trained turn.

use std::borrow::Cow;

use chatmill_dialect::stands_for_media;

use super::{ExportRow, TrainingRole};

/// The speaker of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::envelope) enum TurnRole {
    /// A person.
    Person,
    /// The assistant.
    Assistant,
    /// System text, or the result of a tool.
    Other,
}

/// A turn with its JSON, its speaker, and its text if it has nothing else.
pub(in crate::envelope) type RoleTurn<'t> = (&'t str, TurnRole, Option<Cow<'t, str>>);

/// The turns that a record keeps.
#[derive(Debug, Default)]
pub(in crate::envelope) struct RecordTurns<'t> {
    /// Their bytes, in order.
    pub(in crate::envelope) turns: Vec<&'t str>,
    /// Turns of the assistant that were left out.
    pub(in crate::envelope) placeholders: u64,
}

impl<'t> RecordTurns<'t> {
    /// Leaves out the assistant's turns that are not trained on because they are only placeholders for media.
    pub(in crate::envelope) fn of(row: &ExportRow<'_>, turns: &[RoleTurn<'t>]) -> Self {
        let is_wordless = |(json, by, text): &RoleTurn<'_>| {
            *by == TurnRole::Assistant
                && text.as_ref().is_some_and(|text| stands_for_media(text))
                && row.training_role(json) == TrainingRole::Context
        };
        let mut record = Self::default();
        for run in turns.chunk_by(|(_, one, _), (_, next, _)| one == next) {
            let before = record.placeholders;
            let others = run.iter().filter(|turn| !is_wordless(turn));
            let others: Vec<&str> = others.map(|(json, ..)| *json).collect();
            record.placeholders += (run.len() - others.len()) as u64;
            if others.is_empty() && record.placeholders > before {
                record.leave_out_question(turns);
            }
            record.turns.extend(others);
        }
        record
    }

    fn leave_out_question(&mut self, turns: &[RoleTurn<'t>]) {
        let is_person = |json: &&str| {
            let known = turns.iter().find(|(other, ..)| std::ptr::eq(*other, *json));
            known.is_some_and(|(_, by, _)| *by == TurnRole::Person)
        };
        while self.turns.last().is_some_and(is_person) {
            self.turns.pop();
        }
    }

    /// Ends the record with the last trained turn before other context, and counts the trained turns after it; `None` if context comes
    /// first.
    pub(in crate::envelope) fn end_before_context(&mut self, row: &ExportRow<'_>) -> Option<u64> {
        let role = |json: &&str| row.training_role(json);
        let Some(context) = self
            .turns
            .iter()
            .position(|turn| role(turn) == TrainingRole::Context)
        else {
            return Some(0);
        };
        let (before, after) = self.turns.split_at(context);
        let last = before
            .iter()
            .rposition(|turn| role(turn) == TrainingRole::Trained)?;
        let missed = after
            .iter()
            .filter(|turn| role(turn) == TrainingRole::Trained)
            .count();
        self.turns.truncate(last + 1);
        Some(missed as u64)
    }

    /// The list of the turns.
    pub(in crate::envelope) fn list(&self) -> String {
        format!("[{}]", self.turns.join(","))
    }
}
