//! What each turn of a record is to a trainer, by the bytes of its rendering: so it holds whatever form a turn has.

use std::ops::Range;

use super::{Envelope, ExportRow, Masking};
use crate::envelope::turns::Turn;
use crate::summary::teaching::Taught;

/// What a turn is to a trainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// Somebody else's, or without words.
    Unsaid,
    /// Its words are learned.
    Learned,
    /// The assistant's, and not learned.
    Context,
}

impl ExportRow<'_> {
    /// What a turn is, by its bytes, which are a part of the rendering.
    pub(crate) fn lesson(&self, turn: &str) -> Lesson {
        let start = (turn.as_ptr() as usize).wrapping_sub(self.content.as_ptr() as usize) as u64;
        let turn = start..start.saturating_add(turn.len() as u64);
        if overlaps(self.learned_spans, &turn) {
            Lesson::Learned
        } else if overlaps(self.assistant_spans, &turn) {
            Lesson::Context
        } else {
            Lesson::Unsaid
        }
    }

    /// What all of some turns are.
    pub(crate) fn taught<'t>(&self, turns: impl IntoIterator<Item = &'t str>) -> Taught {
        let mut taught = Taught::default();
        for turn in turns {
            match self.lesson(turn) {
                Lesson::Unsaid => {}
                Lesson::Learned => taught.learned += 1,
                Lesson::Context => taught.context += 1,
            }
        }
        taught
    }

    /// A list of objects, with a member added to those that are context.
    fn marked<'t>(&self, turns: impl IntoIterator<Item = &'t str>, member: &str) -> String {
        let mark = |turn: &str| match (self.lesson(turn), turn.strip_suffix('}')) {
            (Lesson::Context, Some(open)) => format!("{open},{member}}}"),
            _ => turn.to_owned(),
        };
        let turns: Vec<String> = turns.into_iter().map(mark).collect();
        format!("[{}]", turns.join(","))
    }
}

/// What all of some turns are, and their list with a member added to those that are context, where some are. None where nothing is
/// learned beside them.
pub(super) fn mark_context(
    row: &ExportRow<'_>,
    turns: &[Turn<'_>],
    member: &str,
) -> Option<(Taught, Option<String>)> {
    let turns = || turns.iter().map(|turn| turn.json);
    let taught = row.taught(turns());
    let has_context = taught.context > 0;
    let is_taught = taught.learned > 0 || !has_context;
    is_taught.then(|| (taught, has_context.then(|| row.marked(turns(), member))))
}

/// What there is to say of an export whose records hold such turns.
pub(crate) fn notes(envelope: Option<&Envelope>, taught: Taught) -> Vec<String> {
    let Some(envelope) = envelope else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    if taught.context > 0 {
        let turns = format!("{} turns of the assistant are context", taught.context);
        match envelope.masking {
            Masking::InRecord | Masking::LeftOut => {}
            Masking::Setting(setting) => notes.push(format!("{turns}: set `{setting}`")),
            Masking::Unknown => notes.push(format!("{turns}, and {} has no word for that", envelope.id)),
        }
    }
    if taught.missed > 0 {
        notes.push(format!(
            "{} turns that the dataset teaches are context here: {} learns the last turn alone",
            taught.missed, envelope.id
        ));
    }
    notes
}

/// Whether a range has a byte in common with one of some ranges in order.
fn overlaps(ranges: &[Range<u64>], turn: &Range<u64>) -> bool {
    let next = ranges.partition_point(|range| range.end <= turn.start);
    ranges.get(next).is_some_and(|range| range.start < turn.end)
}
