//! Unwraps rows: Ably envelopes, webhooks and bare objects contain the same payloads.
//!
//! The data of an envelope may be an object or the text of one. The projects of a row are read here too, because both
//! cutting and reading need the inside of the wrapping.

use chatmill_intake::json::{self, Kind, ScanError, Value};

use crate::base::fields;

/// The prefix of project channels.
const CHANNEL: &str = "jaibber:project:";

/// A row without its wrapping.
#[derive(Clone, Copy)]
pub(super) struct Opened<'d> {
    /// The payload, the stored message, the presence or the attachment.
    pub body: Value<'d>,
    /// The object around it.
    pub envelope: Option<Value<'d>>,
    /// The path of the body below the row.
    pub prefix: &'static str,
    /// The string that contains the body: places inside the body are places in this text, not in the frame.
    pub text: Option<Value<'d>>,
}

/// Opens a row and calls `read` with its inside; an error if the data is text but not JSON.
pub(super) fn open<R>(
    row: Value<'_>,
    depth: u32,
    read: impl FnOnce(Opened<'_>, &[json::Note]) -> R,
) -> Result<R, ScanError> {
    let bare = Opened {
        body: row,
        envelope: None,
        prefix: "",
        text: None,
    };
    let Some(data) = row.get("data").filter(|_| !is_message(row)) else {
        return Ok(read(bare, &[]));
    };
    if let Some(text) = data.as_str() {
        let document = data.open(&text, depth)?;
        let text = Some(data);
        let opened = Opened {
            text,
            ..wrapped(row, document.root(), ".data")
        };
        return Ok(read(opened, document.notes()));
    }
    let opened = match inside(data) {
        _ if data.kind() != Kind::Object => bare,
        Some(_) => wrapped(row, data, ".data.message"),
        None => wrapped(row, data, ".data"),
    };
    Ok(read(opened, &[]))
}

fn wrapped<'d>(row: Value<'d>, data: Value<'d>, prefix: &'static str) -> Opened<'d> {
    Opened {
        body: inside(data).unwrap_or(data),
        envelope: Some(row),
        prefix,
        text: None,
    }
}

/// Whether an object is a message itself, with or without a field `data`.
fn is_message(value: Value<'_>) -> bool {
    value.get("text").is_some() || value.get("messageId").is_some()
}

/// The message that a webhook puts one level deeper.
fn inside(data: Value<'_>) -> Option<Value<'_>> {
    data.get("message")
        .filter(|message| message.kind() == Kind::Object && !is_message(data))
}

/// The projects that an opened row belongs to; empty if it names none.
pub(super) fn projects(opened: Opened<'_>) -> Vec<String> {
    let body = opened.body;
    if is_presence(body) {
        let list: Vec<String> = fields::items(body, "projectIds").filter_map(fields::id).collect();
        if !list.is_empty() {
            return list;
        }
    }
    let task = body.get("task").and_then(|task| task.get("projectId"));
    let outside = opened.envelope.and_then(|envelope| envelope.get("projectId"));
    [body.get("projectId"), task, outside]
        .into_iter()
        .find_map(|value| value.and_then(fields::id))
        .or_else(|| channel(opened))
        .or_else(|| body.get("conversationId").and_then(fields::id))
        .into_iter()
        .collect()
}

/// The project of an envelope's channel.
fn channel(opened: Opened<'_>) -> Option<String> {
    let name = opened.envelope?.get("channel")?.as_str()?;
    let project = name.strip_prefix(CHANNEL)?;
    (!project.is_empty()).then(|| project.to_owned())
}

/// Whether the row is presence for every project: presence in a channel, recorded without the channel's name.
pub(super) fn is_everywhere(opened: Opened<'_>) -> bool {
    is_presence(opened.body) && opened.body.get("projectIds").is_none_or(Value::is_null)
}

/// Whether the row is presence.
pub(super) fn is_presence(body: Value<'_>) -> bool {
    body.get("userId").is_some() && !is_message(body) && body.get("type").is_none()
}

/// Whether an object is a row of the table of attachments.
pub(super) fn is_attachment(body: Value<'_>) -> bool {
    body.get("blobUrl").is_some() && body.get("text").is_none() && body.get("type").is_none()
}

/// Whether an object is a message, a piece of one, or an event.
pub(super) fn is_event(body: Value<'_>) -> bool {
    is_message(body) || body.get("type").is_some() || body.get("task").is_some()
}
