//! An event: a row in the terms that all kinds of capture share.

use std::ops::Range;

use chatmill_diag::{Code, Finding};
use chatmill_model::{Media, Part, RawJson, Reference, Timestamp};

use crate::base::ExtraFields;

/// The place where a row was captured. If two rows are one message, the later variant has precedence.
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

/// The role of a row in a conversation.
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
    /// Anything else that happened.
    #[default]
    Notice,
}

/// The speaker, as far as a row names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Speaker {
    /// Id of the account, which a person and his agents share.
    pub account: Option<String>,
    /// Name of the person or of the agent.
    pub name: Option<String>,
    /// Another name in the row, for display.
    pub shown: Option<String>,
    /// Whether the speaker is an agent.
    pub is_agent: Option<bool>,
}

/// A media item and its fields without a place in the model, each with the end of its path (`.id`) and its
/// value.
#[derive(Clone, Debug)]
pub(super) struct Attachment {
    /// The media item.
    pub media: Media,
    /// Id, size and all other fields.
    pub rest: ExtraFields,
}

/// A row that is a message, a piece of one, or an event.
#[derive(Clone, Debug, Default)]
pub(super) struct Event {
    /// Index of the row.
    pub row: u32,
    /// The bytes of the row in the frame.
    pub span: Range<usize>,
    /// The path of its fields below the row.
    pub prefix: &'static str,
    /// The place of capture.
    pub capture: Capture,
    /// The kind of event.
    pub kind: EventKind,
    /// The type, in the words of the system.
    pub word: Option<String>,
    /// The id of the message.
    pub id: Option<String>,
    /// The id of the answer that the event is a piece of.
    pub stream: Option<String>,
    /// Ably's id of the event.
    pub envelope_id: Option<String>,
    /// The speaker.
    pub speaker: Speaker,
    /// The text.
    pub text: String,
    /// The time of the event.
    pub time: Option<Timestamp>,
    /// The reference to the message that is answered.
    pub reference: Option<Reference>,
    /// The names in the field `mentions`.
    pub mentions: Vec<String>,
    /// The attached files.
    pub attachments: Vec<Attachment>,
    /// The number of agents that have answered each other.
    pub depth: Option<u64>,
    /// The names of these agents.
    pub chain: Vec<String>,
    /// The agent that a task is given to, or that takes it up.
    pub task_agent: Option<String>,
    /// Whether the speaker is the user whose desktop client stored the row.
    pub is_own: bool,
    /// All other fields.
    pub extra: ExtraFields,
    /// The participant of the speaker, once all rows are known.
    pub sender: Option<usize>,
    /// The participants mentioned in the field or in the text, once all rows are known.
    pub mentioned: Mentioned,
}

/// The participants that an event mentions.
#[derive(Clone, Debug, Default)]
pub(super) struct Mentioned {
    /// Participants.
    pub places: Vec<usize>,
    /// Their ids, and names that no participant has, in order.
    pub words: Vec<String>,
    /// The field as written, if its names do not identify the participants.
    pub written: Option<(String, RawJson)>,
}

impl Event {
    /// Whether the event reports a failed answer.
    pub(super) fn is_error(&self) -> bool {
        self.word.as_deref() == Some("error")
    }

    /// Whether the event is a notice: an event of the system, or the beginning of an answer.
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

/// A finding about an event; it gets its place when the order of messages is known.
pub(super) fn finding_at(
    event: &Event,
    code: &'static Code,
    text: impl Into<String>,
    field: &str,
) -> Finding {
    let suffix = format!("{}{field}", event.prefix);
    Finding::new(code, text).at_message(event.row, event.id.as_deref(), suffix)
}
