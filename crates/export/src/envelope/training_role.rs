//! The use of each turn of a record in training, for the envelopes that mark, count or leave out context turns. The byte ranges of the
//! rendering decide, so the form of a turn does not matter.

pub(super) mod unmarkable;

use std::ops::Range;

use chatmill_diag::numbers::counted;

use super::{Envelope, ExportRow, Masking};
use crate::envelope::turns::Turn;
use crate::summary::turn_counts::TurnCounts;

/// The use of a turn in training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrainingRole {
    /// A turn of another speaker, or one without text.
    Other,
    /// A turn that is trained on.
    Trained,
    /// A turn of the assistant that is not trained on.
    Context,
}

impl ExportRow<'_> {
    /// The use of a turn; `turn` is a slice of the rendering.
    pub(crate) fn training_role(&self, turn: &str) -> TrainingRole {
        let start = (turn.as_ptr() as usize).wrapping_sub(self.content.as_ptr() as usize) as u64;
        let turn = start..start.saturating_add(turn.len() as u64);
        if overlaps(self.learned_spans, &turn) {
            TrainingRole::Trained
        } else if overlaps(self.assistant_spans, &turn) {
            TrainingRole::Context
        } else {
            TrainingRole::Other
        }
    }

    /// Counts turns by their use in training.
    pub(crate) fn turn_counts<'t>(&self, turns: impl IntoIterator<Item = &'t str>) -> TurnCounts {
        let mut turn_counts = TurnCounts::default();
        for turn in turns {
            match self.training_role(turn) {
                TrainingRole::Other => {}
                TrainingRole::Trained => turn_counts.learned += 1,
                TrainingRole::Context => turn_counts.context += 1,
            }
        }
        turn_counts
    }

    /// Counts turns by their use in training; `None` if some are context and none is trained on.
    pub(super) fn usable_counts<'t>(&self, turns: impl IntoIterator<Item = &'t str>) -> Option<TurnCounts> {
        let turn_counts = self.turn_counts(turns);
        (turn_counts.learned > 0 || turn_counts.context == 0).then_some(turn_counts)
    }

    /// The list of these turns, with `member` added to each context turn.
    fn marked<'t>(&self, turns: impl IntoIterator<Item = &'t str>, member: &str) -> String {
        let mark = |turn: &str| match (self.training_role(turn), turn.strip_suffix('}')) {
            (TrainingRole::Context, Some(open)) => format!("{open},{member}}}"),
            _ => turn.to_owned(),
        };
        let turns: Vec<String> = turns.into_iter().map(mark).collect();
        format!("[{}]", turns.join(","))
    }
}

/// Counts turns by their use, and lists them with `member` added to each context turn, if there are any. `None` if no turn is trained
/// on.
pub(super) fn mark_context(
    row: &ExportRow<'_>,
    turns: &[Turn<'_>],
    member: &str,
) -> Option<(TurnCounts, Option<String>)> {
    let turns = || turns.iter().map(|turn| turn.json);
    let turn_counts = row.usable_counts(turns())?;
    let has_context = turn_counts.context > 0;
    Some((turn_counts, has_context.then(|| row.marked(turns(), member))))
}

/// The notes of an export with these turns in its records.
pub(crate) fn notes(envelope: Option<&Envelope>, turn_counts: TurnCounts) -> Vec<String> {
    let Some(envelope) = envelope else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    if turn_counts.context > 0 {
        let turns = turns_of_assistant(turn_counts.context, "is context", "are context");
        match envelope.masking {
            Masking::InRecord | Masking::CutOff => {}
            Masking::Setting(setting) => notes.push(format!("{turns}: set `{setting}`")),
            Masking::Unknown => notes.push(format!("{turns}, which {} cannot express", envelope.id)),
        }
    }
    if turn_counts.missed > 0 {
        let (turns, id) = (turn_counts.missed, envelope.id);
        let (turns, are) = (
            counted(turns, "trained turn"),
            if turns == 1 { "is" } else { "are" },
        );
        notes.push(if envelope.masking == Masking::CutOff {
            format!(
                "{turns} of the dataset {are} not here: rows of {id} end before a turn that is context; trl-prompt-completion takes each in a row of its own, made with `window.mode = \"per_turn\"`"
            )
        } else {
            format!("{turns} of the dataset {are} context here: {id} trains on the last turn only")
        });
    }
    if turn_counts.placeholders > 0 {
        let turns = turns_of_assistant(
            turn_counts.placeholders,
            "has only words for a medium, and is left out with its question",
            "have only words for media, and are left out with their questions",
        );
        notes.push(format!("{turns}: {} cannot mark such turns", envelope.id));
    }
    notes
}

/// So many turns of the assistant, with what one is or several are.
fn turns_of_assistant(turns: u64, is: &str, are: &str) -> String {
    let predicate = if turns == 1 { is } else { are };
    format!("{} of the assistant {predicate}", counted(turns, "turn"))
}

/// Whether a range overlaps one of these sorted ranges.
fn overlaps(ranges: &[Range<u64>], turn: &Range<u64>) -> bool {
    let next = ranges.partition_point(|range| range.end <= turn.start);
    ranges.get(next).is_some_and(|range| range.start < turn.end)
}
