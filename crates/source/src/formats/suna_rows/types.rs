//! The types that the readers of a row's content, metadata and results share.

use chatmill_intake::json::{Kind, Value};
use chatmill_model::{MessageKind, Part, Role};

use crate::base::{ExtraFields, Keep, text_of};
use crate::grammar::openai::{MessageObject, parts};

/// The way in which a thread uses tools; if it uses several ways, the last variant has precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Era {
    /// No tools.
    #[default]
    Plain,
    /// Calls are XML in the text, results are objects called `tool_execution`.
    Xml,
    /// Calls and results are OpenAI's.
    Native,
    /// The metadata has separate calls and results.
    Metadata,
}

impl Era {
    /// The name of the conversation's shape.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Xml => "xml",
            Self::Native => "native",
            Self::Metadata => "metadata",
        }
    }
}

/// The content of a row.
#[derive(Debug)]
pub(super) struct MessageContent {
    /// Turn or event.
    pub kind: MessageKind,
    /// The role of the speaker.
    pub role: Role,
    /// The parts of the message.
    pub parts: Vec<Part>,
    /// The values that have no place in the parts.
    pub rest: ExtraFields,
    /// The way in which it uses tools.
    pub era: Era,
}

impl Keep for MessageContent {
    fn extra_fields(&mut self) -> &mut ExtraFields {
        &mut self.rest
    }
}

/// The content column, opened.
pub(super) enum Content<'c> {
    /// The column is empty or missing.
    Absent,
    /// A message object.
    Turn(Value<'c>),
    /// A list of parts.
    Parts(Value<'c>),
    /// Plain text.
    Text(String),
    /// JSON of another shape, with its text as stored.
    Other(Value<'c>, String),
}

impl<'c> Content<'c> {
    /// Classifies a value that was the JSON `text` in a string, or a value in the row.
    pub(super) fn of(value: Option<Value<'c>>, text: Option<&str>) -> Self {
        let Some(value) = value else { return Self::Absent };
        if MessageObject::is_one(value) {
            return Self::Turn(value);
        }
        match value.kind() {
            Kind::Null => Self::Absent,
            Kind::Array if !value.is_empty() && parts::is_parts(value) => Self::Parts(value),
            Kind::String => Self::Text(text_of(value)),
            _ => Self::Other(value, text.map_or_else(|| text_of(value), str::to_owned)),
        }
    }
}

/// The portion of a message in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The whole message.
    Whole,
    /// A piece of a streamed answer; its text may break off anywhere.
    Piece,
}
