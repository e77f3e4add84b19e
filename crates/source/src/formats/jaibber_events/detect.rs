//! Recognises Jaibber in the first records of an entry.

use chatmill_intake::{RecordSketch, Sketch};

use super::cut::STORE;
use crate::layout::{has, holds, surest};

/// The best evidence among the records: how sure it is, and why.
pub(super) fn recognise(sketch: &Sketch) -> Option<(u8, Vec<String>)> {
    surest(sketch, record).map(|(confidence, why)| (confidence, vec![why.to_owned()]))
}

fn record(record: &RecordSketch) -> Option<(u8, &'static str)> {
    let has = |wanted: &str| has(record, wanted);
    let holds = |field: &str, wanted: &str| holds(record, field, wanted);
    let is_one_of = |field: &str, wanted: &[&str]| {
        let mut strings = record.strings.iter();
        strings.any(|(key, text)| key == field && wanted.contains(&text.as_str()))
    };
    let is_enveloped = has("clientId") || has("connectionId") || has("channel");
    let found = if has("messageId") && has("fromUsername") && has("type") {
        (95, "the record has messageId, fromUsername and type")
    } else if is_enveloped && holds("data", "messageId") && holds("data", "fromUsername") {
        (95, "an Ably envelope holds data with messageId and fromUsername")
    } else if is_enveloped
        && holds("data", "userId")
        && (holds("data", "isAgent") || holds("data", "username"))
    {
        (
            85,
            "an Ably envelope holds presence with userId and isAgent or username",
        )
    } else if has("userId") && has("isAgent") {
        (80, "the record is a presence event, with userId and isAgent")
    } else if holds("data", "senderType") && holds("data", "projectId") {
        (90, "data holds messages with senderType and projectId")
    } else if has("senderType") && has("senderName") && has("text") {
        (85, "the record has senderType, senderName and text")
    } else if has("data")
        && (is_one_of("event", &["message.created"]) || is_one_of("type", &["message.created"]))
    {
        (80, "the record is a webhook of message.created")
    } else if (has("task") && is_one_of("type", &["task-created", "task-updated", "task-deleted"]))
        || (is_enveloped && holds("data", "task") && holds("data", "type"))
    {
        (85, "the record is a task")
    } else if has("blobUrl") && (has("uploadedBy") || has("uploaderName")) {
        (85, "the record is an attachment with blobUrl and its uploader")
    } else if holds("data", "blobUrl") && holds("data", "filename") {
        (80, "data holds attachments with blobUrl and filename")
    } else if is_stored(record) {
        (
            85,
            "lists by project hold messages with conversationId, sender and status",
        )
    } else if has("conversationId") && has("sender") && has("status") && has("text") {
        (75, "the record has conversationId, sender, status and text")
    } else if record.nested.iter().any(|(key, _)| key == STORE) {
        (60, "the record has chat_messages by project")
    } else if has("data") && has("clientId") && has("connectionId") && is_one_of("name", &["message", "task"])
    {
        (
            60,
            "an Ably envelope has the name that this system publishes under",
        )
    } else if has("messageId") && has("projectId") && has("type") {
        (70, "the record has messageId, projectId and type")
    } else if (has("messageId") || has("responseId")) && is_one_of("type", &["chunk", "typing", "response"]) {
        (60, "the record is a piece of a streamed answer")
    } else {
        return None;
    };
    Some(found)
}

/// Whether a field contains messages in the structure of the desktop client.
fn is_stored(record: &RecordSketch) -> bool {
    let mut nested = record.nested.iter();
    nested.any(|(project, name)| {
        let holds = |wanted: &str| holds(record, project, wanted);
        name == "conversationId" && holds("sender") && holds("status")
    })
}
