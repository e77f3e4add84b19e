//! An event: a row in the terms that all captures share.

use std::ops::Range;

use chatmill_diag::{Code, Finding};
use chatmill_model::{Media, Part, RawJson, Reference, Timestamp};

use crate::reader::ExtraFields;

/// Where a row was captured; where two rows are one message, the later kind counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Capture {
    /// The REST API, or a webhook.
    #[default]
    Api,
    /// Ably.
    Live,
    /// The desktop client's store.
    Store,
}

/// What a row is in a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EventKind {
    /// A complete message.
    Message,
    /// The beginning of a streamed answer.
    Start,
    /// A piece of a streamed answer.
    Chunk,
    /// The whole answer, or an error in its place.
    Final,
    /// An event: something happened.
    #[default]
    Notice,
}

/// Who speaks, as far as a row says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Speaker {
    /// Id of the account, which a person and his agents share.
    pub account: Option<String>,
    /// Name of the person or of the agent.
    pub name: Option<String>,
    /// Another name that the row shows.
    pub shown: Option<String>,
    /// Whether it is an agent.
    pub is_agent: Option<bool>,
}

/// A media item and what the model has no place for, as the end of a path (`.id`) and its value.
#[derive(Clone, Debug)]
pub(super) struct Attachment {
    /// The media item.
    pub media: Media,
    /// Id, size and whatever else it has.
    pub rest: ExtraFields,
}

/// A row that is a message, a piece of one, or an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Event {
    /// Index of the row.
    pub row: u32,
    /// Its bytes in the frame.
    pub span: Range<usize>,
    /// The path of its fields below the row.
    pub prefix: &'static str,
    /// Where it was captured.
    pub capture: Capture,
    /// What it does.
    pub kind: EventKind,
    /// The type, in the words of the system.
    pub word: Option<String>,
    /// Id of the message.
    pub id: Option<String>,
    /// Id of the answer that it is a piece of.
    pub stream: Option<String>,
    /// Ably's id of the event.
    pub envelope_id: Option<String>,
    /// Who speaks.
    pub speaker: Speaker,
    /// What is said.
    pub text: String,
    /// When.
    pub time: Option<Timestamp>,
    /// What it answers.
    pub reference: Option<Reference>,
    /// Names that the field `mentions` holds.
    pub mentions: Vec<String>,
    /// Files.
    pub attachments: Vec<Attachment>,
    /// How many agents have answered each other.
    pub depth: Option<u64>,
    /// The names of these agents.
    pub chain: Vec<String>,
    /// The agent that a task is given to, or that takes it up.
    pub task_agent: Option<String>,
    /// Whether it is of the user whose desktop client stored it.
    pub is_own: bool,
    /// Everything else.
    pub extra: ExtraFields,
    /// The participant who speaks, once all rows are known.
    pub sender: Option<usize>,
    /// Whom it mentions, in its field or in its text, once all rows are known.
    pub mentioned: Mentioned,
}

/// Whom an event mentions.
#[derive(Clone, Debug, Default)]
pub(super) struct Mentioned {
    /// Participants.
    pub places: Vec<usize>,
    /// Their ids, and names that nobody in the room has, in order.
    pub words: Vec<String>,
    /// The field as it was written, where the names alone do not say whom it means.
    pub written: Option<(String, RawJson)>,
}

impl Event {
    /// Whether it says that an answer failed.
    pub(super) fn is_error(&self) -> bool {
        self.word.as_deref() == Some("error")
    }

    /// Whether it is none of the messages: something happened, or an answer begins.
    pub(super) const fn is_notice(&self) -> bool {
        matches!(self.kind, EventKind::Start | EventKind::Notice)
    }

    /// The parts of a message or notice with this text and these files.
    pub(super) fn parts(&mut self, is_notice: bool) -> Vec<Part> {
        let text = std::mem::take(&mut self.text);
        let mut parts = Vec::new();
        if !text.is_empty() {
            let part = if is_notice { Part::Notice } else { Part::Text };
            parts.push(part(text));
        }
        for (index, file) in std::mem::take(&mut self.attachments).into_iter().enumerate() {
            let rest = file.rest.into_iter();
            let export_path = rest.map(|(end, value)| (format!("attachments[{index}]{end}"), value));
            self.extra.extend(export_path);
            parts.push(Part::Media(file.media));
        }
        parts
    }
}

/// A finding about an event that is placed when the order of messages is known.
pub(super) fn finding_at(
    event: &Event,
    code: &'static Code,
    text: impl Into<String>,
    field: &str,
) -> Finding {
    let suffix = format!("{}{field}", event.prefix);
    Finding::new(code, text).at_message(event.row, event.id.as_deref(), suffix)
}
