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
const FIELDS: [&str; 11] = [
    "ground_truth",
    "reward_model.ground_truth",
    "reference_answer",
    "expected_answer",
    "final_answer",
    "verification_info",
    "answer",
    "label",
    SOLUTION,
    "reference",
    "target",
];

/// The field of a worked solution.
const SOLUTION: &str = "solution";

/// The reference of a row as a text; a field that is no text is its JSON. None where there is none.
///
/// A solution that contains the answer of the conversation is the way to it, and the answer is the reference. A label that is true or
/// false rates an answer.
pub(super) fn reference(row: &ExportRow<'_>, answered: &Answered<'_>) -> Option<String> {
    let own = |name: &str| {
        let json =
            extra_value(row.extra?, name).filter(|json| !matches!(&**json, "null" | "true" | "false"))?;
        let found = words(json);
        // An object, or its JSON text, with a truth and more.
        let truth = extra_value(&found, "ground_truth").map(words);
        Some(truth.unwrap_or(found)).filter(|text| !text.trim().is_empty())
    };
    let answer_text = || {
        let last = answered.answer.last()?;
        let text = last.message.only_text()?;
        let is_context = row.training_role(last.json) == TrainingRole::Context;
        (!is_context && !text.trim().is_empty()).then(|| text.into_owned())
    };
    let of_field = |name: &&str| {
        let found = own(name)?;
        let final_answer = answer_text().filter(|answer_text| {
            *name == SOLUTION && found.contains(answer_text.trim()) && *answer_text != found
        });
        Some(final_answer.unwrap_or(found))
    };
    FIELDS.iter().find_map(of_field).or_else(answer_text)
}

/// The text that a value is, else its JSON.
fn words(json: String) -> String {
    let text = fields::spelled(&json).map(std::borrow::Cow::into_owned);
    text.unwrap_or(json)
}

/// The JSON of a field of the record.
pub(super) fn field(row: &ExportRow<'_>, name: &str) -> Option<String> {
    extra_value(row.extra?, name).filter(|json| json != "null")
}
