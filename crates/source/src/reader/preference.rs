//! Preference data: records that judge an answer instead of holding a conversation.
//!
//! A row whose `label` says whether an answer is good is rejected: read as a conversation, a bad answer would become a training
//! target like any other. Of a pair of answers the better one is read, with a finding.

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Kind, Value};

use crate::frame::FrameView;
use crate::reader::fields::present;
use crate::reader::notes::Notes;

/// Fields that say whether an answer is good.
const LABELS: [&str; 2] = ["label", "kto_tag"];

/// Fields with the answer that was not preferred.
const REJECTED: [&str; 4] = [
    "rejected",
    "rejected_messages",
    "non_preferred_output",
    "rejected_response",
];

/// Rejects a record that is a labelled answer.
pub(crate) fn refuse(frame: &FrameView<'_>) -> Result<(), Box<Finding>> {
    let labelled = LABELS.into_iter().find_map(|key| {
        let value = frame.root().get(key)?;
        matches!(value.kind(), Kind::Bool(_)).then_some((key, value))
    });
    let Some((key, value)) = labelled else {
        return Ok(());
    };
    let text = format!(
        "{key} says whether the answer is good: the record judges an answer and is not a conversation"
    );
    Err(frame.fault(&codes::LABELLED_ANSWER, text, format!("$.{key}"), value))
}

/// Reports that the record compares two answers, where it does.
pub(crate) fn compare(root: Value<'_>, notes: &mut Notes) {
    let other = REJECTED.into_iter().find_map(|key| {
        let value = present(root, key)?;
        Some((key, value))
    });
    if let Some((key, value)) = other {
        let text = format!("the record compares two answers: the better one is read, {key} is kept as it is");
        let finding = Finding::new(&codes::PREFERENCE_PAIR, text);
        notes.push(finding.at_path(format!("$.{key}")), Some(value));
    }
}
