//! Shared code of the envelopes of prompts: what an answer of the model in training is graded against.
//!
//! It is the record's own, in a field of one of these [`FIELDS`], else the answer that the conversation has. An answer that is context
//! (a bad one, for example) is no reference.

use super::ExportRow;
use super::preference::Answered;
use super::training_role::TrainingRole;
use crate::fields;
use crate::fields::of_conversations::extra_value;

/// Fields of a record that hold a reference, the first that is there counts; a dot leads into an object.
const FIELDS: [&str; 8] = [
    "ground_truth",
    "reward_model.ground_truth",
    "reference_answer",
    "expected_answer",
    "final_answer",
    "solution",
    "reference",
    "target",
];

/// The reference of a row as a text; a field that is no text is its JSON. None where there is none.
pub(super) fn reference(row: &ExportRow<'_>, answered: &Answered<'_>) -> Option<String> {
    let own = |name: &&str| {
        let json = extra_value(row.extra?, name).filter(|json| json != "null")?;
        let spelled = fields::spelled(&json).map(std::borrow::Cow::into_owned);
        Some(spelled.unwrap_or(json)).filter(|text| !text.trim().is_empty())
    };
    FIELDS.iter().find_map(own).or_else(|| {
        let last = answered.answer.last()?;
        let text = last.message.only_text()?;
        let is_context = row.training_role(last.json) == TrainingRole::Context;
        (!is_context && !text.trim().is_empty()).then(|| text.into_owned())
    })
}
