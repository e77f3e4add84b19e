//! Redactions in the conversations of a dataset, which the renderings of the run list among their losses.

use std::collections::BTreeSet;

use chatmill_dataset::{Dataset, DatasetError, PlaceLists, Rows, Texts, columns};
use chatmill_dialect::{LossCode, Rendering};
use chatmill_model::Linked;

use super::planned::replaces;
use crate::record::redact::shown;

/// The table of losses, read in step with the conversations; `None` if nothing was replaced.
pub(super) struct Replacements<'d>(Option<Rows<'d, Lost>>);

/// The redactions in one conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct Replaced {
    /// Whether facts about the conversation were redacted, which every rendering declares.
    in_facts: bool,
    positions: BTreeSet<u32>,
}

columns! {
    /// Cells of `losses`.
    struct Lost {
        conversation_id: Texts,
        code: Texts,
        positions: PlaceLists,
    }
}

impl<'d> Replacements<'d> {
    pub(super) fn of(dataset: &'d Dataset) -> Result<Self, DatasetError> {
        let rows = replaces(dataset).then(|| Rows::of(dataset, "losses"));
        Ok(Self(rows.transpose()?))
    }

    /// Reads only the redactions in one conversation; none if the dataset lacks the table, and no dialect can be rendered.
    pub(super) fn of_one(dataset: &'d Dataset, id: &'d str) -> Result<Self, DatasetError> {
        let is_there = replaces(dataset) && dataset.has("losses");
        let rows = is_there.then(|| Rows::of_conversation(dataset, "losses", id));
        Ok(Self(rows.transpose()?))
    }

    /// Reads the redactions in the next conversation.
    pub(super) fn of_next(&mut self, id: &str) -> Result<Replaced, DatasetError> {
        let mut replaced = Replaced::default();
        let Some(rows) = &mut self.0 else {
            return Ok(replaced);
        };
        while let Some((lost, row)) = rows.current()
            && lost.conversation_id.at(row) == id
        {
            if lost.code.at(row) == LossCode::Redacted.as_str() {
                let positions = lost.positions.at(row);
                replaced.in_facts |= positions.is_empty();
                replaced.positions.extend(positions);
            }
            rows.advance()?;
        }
        Ok(replaced)
    }
}

impl Replaced {
    /// Returns whether a rendering shows redacted content.
    pub(super) fn is_in(&self, linked: &Linked, rendering: &Rendering) -> bool {
        let is_replaced = |position| self.positions.contains(&position);
        self.in_facts || !self.positions.is_empty() && shown(linked, rendering).into_iter().any(is_replaced)
    }
}
