//! The counts of an export while its rows are read, and the notes that follow from them. `convert` adds each rendering, and moves the
//! counts into the summary at the end.

pub(crate) mod remedies;

use std::collections::BTreeMap;

use chatmill_dialect::LossAmounts;
use chatmill_model::LabelBasis;
use serde_json::Value;

use crate::candidate::Candidate;
use crate::convert::exclusion::wanted;
use crate::convert::row_counts::remedies::{LastTurns, not_set_yet};
use crate::envelope::{Envelope, notes};
use crate::summary::left_out::LeftOutRows;
use crate::summary::losses::LossCounts;
use crate::summary::split_summary::SplitSummary;
use crate::summary::turn_counts::TurnCounts;

/// The counts of an export.
#[derive(Default)]
pub(crate) struct RowCounts {
    /// Renderings that were read.
    pub(crate) read: u64,
    /// Turns after the assistant's last one, which the envelope cut.
    pub(crate) turns_cut: u64,
    pub(crate) turn_counts: TurnCounts,
    /// Labels by their basis.
    pub(crate) labels: BTreeMap<&'static str, u64>,
    pub(crate) losses: LossCounts,
    pub(crate) left_out: LeftOutRows,
    pub(crate) split: Option<SplitSummary>,
    pub(crate) last_turns: Option<LastTurns>,
    /// Renderings that were left out and have no assistant.
    pub(crate) without_assistant: u64,
}

impl RowCounts {
    /// Counts a rendering with its losses and the part of its record; `leaks` is whether it shares words with an earlier part.
    pub(crate) fn keep(
        &mut self,
        candidate: &Candidate<'_>,
        amounts: Option<&LossAmounts>,
        turns: (u64, TurnCounts),
        (part, leaks): (usize, bool),
    ) {
        self.losses.add(candidate.rendering.loss_codes, amounts);
        let (turns_cut, turn_counts) = turns;
        self.turns_cut += turns_cut;
        self.turn_counts.add(turn_counts);
        if let Some((_, basis)) = candidate.rendering.label {
            *self.labels.entry(basis.as_str()).or_default() += 1;
        }
        if let Some(split) = self.split.as_mut().filter(|_| leaks) {
            split.add_leak(part);
        }
    }

    /// Counts a rendering that is left out.
    pub(crate) fn leave_out(&mut self, candidate: &Candidate<'_>, reason: String) {
        let row = candidate.row();
        self.without_assistant += u64::from(row.perspective.is_empty());
        if let Some(last_turns) = &mut self.last_turns {
            last_turns.add(&reason, &row);
        }
        let detail = wanted::too_large(&reason, candidate.rendering);
        self.left_out
            .add((row.conversation, row.perspective, row.ordinal), reason, detail);
    }

    /// The notes of the summary; `uncounted` is the reason for which shared words of the parts are not known.
    pub(crate) fn notes(
        &self,
        envelope: Option<&Envelope>,
        written: u64,
        uncounted: Option<&str>,
        plan: &Value,
    ) -> Vec<String> {
        let of_turns = envelope.filter(|envelope| envelope.has_turns());
        let turns = of_turns.map(|_| self.turn_counts.learned + self.turn_counts.context);
        let mut notes = notes(envelope, self.turn_counts);
        notes.extend(of_turns.and_then(|_| silence(self.without_assistant, plan)));
        let last_turns = self.last_turns.as_ref();
        notes.extend(last_turns.and_then(|last_turns| last_turns.note(self.read, written, turns)));
        notes.extend(of_rankings(&self.labels));
        notes.extend(uncounted.map(|why| format!("shared words of the parts were not counted: {why}")));
        notes
    }
}

/// A note about left-out renderings without an assistant: the setting that makes every participant the assistant.
fn silence(renderings: u64, plan: &Value) -> Option<String> {
    let subject = match renderings {
        0 => return None,
        1 => "1 rendering that was left out has".to_owned(),
        more => format!("{more} renderings that were left out have"),
    };
    let note = format!(
        "{subject} no assistant, because no participant is an agent: `perspective.as = \"each-participant\"` in the pipeline, or \
         `convert --set perspective.as=each-participant`, makes each participant the assistant once"
    );
    not_set_yet(plan, &note)
}

/// A note about labels that are derived, not stated in a record.
fn of_rankings(labels: &BTreeMap<&'static str, u64>) -> Option<String> {
    let all: u64 = labels.values().sum();
    let stated = labels.get(LabelBasis::Stated.as_str()).copied().unwrap_or(0);
    (all > stated).then(|| {
        format!(
            "{} of {all} labels follow from ranks or scores: of the answers to a question the best is good and the worst is bad",
            all - stated
        )
    })
}
