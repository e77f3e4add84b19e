//! Recognises the format in the first records of an entry.

use chatmill_intake::{Framing, RecordSketch, Sketch};

use super::history;
use crate::base::words;
use crate::layout::{has, holds, surest};

/// Fields that name the conversation of a record.
const PLACES: [&str; 4] = ["conversationId", "conversation_id", "channelId", "channel_id"];

/// The confidence that an entry is of this format, and the evidence.
pub(super) fn recognise(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    surest(sketch, recognise_record)
        .or_else(|| recognise_formatted(sketch))
        .or_else(|| recognise_lists(sketch))
}

/// Whether records of an entry form conversations together: they name one, or are the messages of one list.
pub(super) fn belongs_together(sketch: &Sketch) -> bool {
    let is_request = |record: &RecordSketch| {
        let at_top = record.keys.iter().map(String::as_str);
        let below = record.nested.iter();
        let below = below.filter(|(key, _)| matches!(key.as_str(), "" | "content"));
        let mut keys = at_top.chain(below.map(|(_, inner)| inner.as_str()));
        keys.any(|key| PLACES.contains(&key))
    };
    let is_list = sketch.framing == Framing::Array
        && sketch.records.len() > 1
        && sketch.records.iter().all(is_formatted);
    is_list || sketch.records.iter().any(is_request)
}

/// Fields with the speaker or the text in records of other formats.
const OTHERS: [&str; 13] = words!(
    role messages prompt conversation conversations conversation_list chosen question query instruction data input request
);

/// Recognises the format in one record.
fn recognise_record(record: &RecordSketch) -> Option<(u8, Vec<String>)> {
    let has = |wanted: &str| has(record, wanted);
    let is_other_format = OTHERS.iter().any(|key| has(key));
    if has("messageContent") && !is_other_format {
        let others = ["referencedMessage", "currentPersonality", "userName"].into_iter();
        let seen = ["messageContent"]
            .into_iter()
            .chain(others.filter(|key| has(key)));
        let why: Vec<String> = seen.map(|key| format!("the record has {key}")).collect();
        return Some((if why.len() > 1 { 95 } else { 70 }, why));
    }
    if history::is_sketched(record) {
        let why = "the record has the columns of conversation_history";
        return Some((95, vec![why.to_owned()]));
    }
    if is_other_format || !has("content") || !has("currentPersonality") {
        return None;
    }
    let mut why = vec!["the record has content and currentPersonality".to_owned()];
    if holds(record, "content", "messageContent") {
        why.push("content holds messageContent".to_owned());
    }
    Some((90, why))
}

/// Recognises the formatter's result: an array of a single user message. Longer arrays are lists of messages.
fn recognise_formatted(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    let [record] = sketch.records.as_slice() else {
        return None;
    };
    let why = "the array holds one message, of role user and with nothing but content";
    let is_formatted = sketch.framing == Framing::Array && is_users(record) && is_formatted(record);
    is_formatted.then(|| (40, vec![why.to_owned()]))
}

/// Recognises arrays of one user message each: results of the formatter, one after another. Lists of messages from other
/// programs are longer.
fn recognise_lists(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    let is_formatted = |record: &RecordSketch| {
        let names: Vec<&str> = record.nested.iter().map(|(_, name)| name.as_str()).collect();
        record.is_single && is_users(record) && names == ["role", "content"]
    };
    let why = "each record is an array of one message, of role user and with nothing but content";
    let are_formatted = !sketch.records.is_empty() && sketch.records.iter().all(is_formatted);
    are_formatted.then(|| (65, vec![why.to_owned()]))
}

fn is_users(record: &RecordSketch) -> bool {
    let mut strings = record.strings.iter();
    strings.any(|(key, text)| key == "role" && text == "user")
}

/// Whether a record has the fields of a formatted message and no others.
fn is_formatted(record: &RecordSketch) -> bool {
    record.keys == ["role", "content"]
}
