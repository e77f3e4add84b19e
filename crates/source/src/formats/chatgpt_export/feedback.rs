//! `message_feedback.json`: the thumbs up and down that users gave to answers, in a file next to the conversations.
//!
//! ```json
//! [{"id": "b", "conversation_id": "c", "user_id": "user-1", "rating": "thumbs_up", "content": "{}"}]
//! ```
//!
//! Older exports have `message_id` and `thumbsUp` instead. Without `message_id`, `id` is read as the id of the message. A row labels the
//! answer with that message as good or bad ([`thumbs`]). If its conversation has no such message, its fields are kept in `extra.feedback`
//! of the conversation, and it is reported. Ids of conversations are compared without their dashes, because some exports omit these.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::{Mark, Value};
use chatmill_model::Extra;

use crate::base::{Keep as _, Notes, holds_something, id, present, text};
use crate::frame::Reading;
use crate::layout::ListReader;
use crate::layout::preference::thumbs::{self, Thumb};

/// Fields that are not kept with a labelled answer: those that are read, and the user and the times of the thumb.
const READ: [&str; 7] = [
    "id",
    "message_id",
    "conversation_id",
    "user_id",
    "rating",
    "create_time",
    "update_time",
];

/// The rows about the answers of one conversation, and the thumbs among them.
pub(super) struct Feedback<'d> {
    rows: Vec<(String, Value<'d>)>,
    thumbs: Vec<Thumb<'d>>,
    /// Ids of the messages with a thumb in the branches that were read so far.
    met: RefCell<HashSet<String>>,
}

/// Whether a row of a group is a thumb for an answer, and not the conversation.
pub(super) fn is_one(row: Value<'_>) -> bool {
    row.get("rating").is_some() && row.get("conversation_id").is_some() && row.get("mapping").is_none()
}

/// Returns the key of a conversation or of a row about it: the id of the conversation without dashes.
pub(super) fn conversation(row: Value<'_>) -> Option<String> {
    let names: &[&str] = if is_one(row) {
        &["conversation_id"]
    } else {
        row.get("mapping")?;
        &["conversation_id", "id"]
    };
    let own = names.iter().find_map(|name| present(row, name).and_then(id))?;
    Some(own.replace('-', ""))
}

impl<'d> Feedback<'d> {
    /// Collects rows, each with its path in the frame. A row with another rating, or without a message, has no thumb.
    pub(super) fn of(rows: Vec<(String, Value<'d>)>) -> Self {
        let thumb = |(path, row): &(String, Value<'d>)| {
            let word = text(row.get("rating"))?.to_lowercase();
            let is_good = match word.replace('_', "").as_str() {
                "thumbsup" => true,
                "thumbsdown" => false,
                _ => return None,
            };
            Some(Thumb {
                message: message(*row)?,
                is_good,
                path: path.clone(),
                value: *row,
            })
        };
        Self {
            thumbs: rows.iter().filter_map(thumb).collect(),
            rows,
            met: RefCell::default(),
        }
    }

    /// Labels the answers of a branch and the alternatives to them, and keeps the remaining fields of each row with its message.
    pub(super) fn apply(&self, list: &mut ListReader<'d, '_>) {
        let mut met = self.met.borrow_mut();
        thumbs::apply(list, &self.thumbs, &mut met);
        let mut rows: HashMap<&str, Vec<Value<'d>>> = HashMap::new();
        for thumb in &self.thumbs {
            rows.entry(&thumb.message).or_default().push(thumb.value);
        }
        let others = list.alternatives.iter_mut();
        let others = others.filter_map(|alternative| alternative.messages.as_mut());
        for message in list.messages.iter_mut().chain(others.flatten()) {
            let own = message.id.as_deref().and_then(|id| rows.get(id));
            for row in own.into_iter().flatten() {
                keep(&mut message.extra, *row, "feedback", &READ);
            }
        }
    }

    /// Counts the rows in the ledger of their conversation, as merged, and reports those that label none of its answers.
    pub(super) fn finish(self, reading: &mut Reading, mut notes: Notes) {
        let count = self.rows.len() as u64;
        reading.rows.rows += count;
        reading.rows.merged += count;
        let met = self.met.into_inner();
        for (number, (path, row)) in self.rows.into_iter().enumerate() {
            if message(row).is_some_and(|message| met.contains(&message)) {
                continue;
            }
            let text = match &reading.conversation {
                Some(_) => "the thumb is about no answer of its conversation, and labels nothing",
                None => "the thumb is about a conversation that is not in the export",
            };
            let finding = Finding::new(&codes::INCOMPLETE_EXPORT, text);
            notes.push(finding.at_path(path), Some(row));
            let Some(conversation) = &mut reading.conversation else {
                row.mark(Mark::Reported);
                continue;
            };
            let path = format!("feedback[{number}]");
            keep(
                &mut conversation.extra,
                row,
                &path,
                &["conversation_id", "user_id"],
            );
        }
        reading.findings.extend(notes.findings);
    }
}

/// Returns the id of the message that a row is about.
fn message(row: Value<'_>) -> Option<String> {
    ["message_id", "id"]
        .iter()
        .find_map(|key| present(row, key).and_then(id))
}

/// Keeps the fields of a row that are neither empty nor in `known` as extra fields below `path`.
fn keep(extra: &mut Extra, row: Value<'_>, path: &str, known: &[&str]) {
    for (key, value) in row.fields() {
        if value.written() == "\"{}\"" {
            // This is how an empty `content` is written: a text with an empty object.
            value.mark(Mark::Taken);
        } else if !known.contains(&&*key) && holds_something(value) {
            extra.keep_reported(format!("{path}.{key}"), value);
        }
    }
}
