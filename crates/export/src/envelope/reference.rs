//! Shared code of the envelopes of prompts: the reference for grading an answer of the model in training.
//!
//! It comes from one of these [`FIELDS`] of the record, else it is the answer in the conversation. An answer that is context (a bad one, for
//! example) is not a reference.

use super::ExportRow;
use super::preference::Answered;
use super::training_role::TrainingRole;
use crate::fields;
use crate::fields::of_conversations::extra_value;

/// Fields of a record that may have the reference, in order of precedence; a dot leads into an object.
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

/// The reference of a row as a text; a field that is not a text is written as JSON. `None` if there is none.
///
/// If a worked solution contains the answer of the conversation, that answer is the reference. A label that is true or false is a rating, and not a
/// reference.
pub(super) fn reference(row: &ExportRow<'_>, answered: &Answered<'_>) -> Option<String> {
    let own = |name: &str| {
        let json =
            extra_value(row.extra?, name).filter(|json| !matches!(&**json, "null" | "true" | "false"))?;
        let found = words(json);
        // The field may be an object, or its JSON text, with the truth and more.
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

/// The value as text if it is a string, else its JSON.
fn words(json: String) -> String {
    let text = fields::string_value(&json).map(std::borrow::Cow::into_owned);
    text.unwrap_or(json)
}

/// The JSON of a field of the record.
pub(super) fn field(row: &ExportRow<'_>, name: &str) -> Option<String> {
    extra_value(row.extra?, name).filter(|json| json != "null")
}
