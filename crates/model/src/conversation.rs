//! A conversation as it came out of its source, before anything in it is linked.

use crate::alternative::Alternative;
use crate::extra::{Extra, RawJson};
use crate::message::{Message, MessageKind};
use crate::participant::Participant;
use crate::traits::FormatTraits;
use std::sync::Arc;
use strum::{EnumString, IntoStaticStr};

/// The kind of chat of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Scene {
    /// One person and one assistant.
    Assistant,
    /// Several people, with or without agents.
    GroupChat,
    /// The source does not state it.
    #[default]
    Unknown,
}

impl Scene {
    /// The word that tables use.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A conversation, unlinked.
///
/// Invariants: `Message::position` is the index in `messages`; `Message::sender` is an index into `participants`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// Source id, for example `group-chat`: a fact for tables. Decisions depend on `traits` only.
    pub source: &'static str,
    /// The traits of the record's format.
    pub traits: FormatTraits,
    /// The source's own id, where it has one.
    pub source_id: Option<String>,
    /// The table of a database that it comes from, where a run reads several: ids are known within it.
    pub table: Option<Arc<str>>,
    /// Version that the source states.
    pub format_version: Option<String>,
    /// Which structure of the format was recognised, for example `V1`.
    pub shape: &'static str,
    /// The kind of chat.
    pub scene: Scene,
    /// The name of the chat.
    pub title: Option<String>,
    /// The description of the chat.
    pub description: Option<String>,
    /// The model that its answers are asked of, where the record names one for all of them.
    pub model: Option<Box<str>>,
    /// Everybody who speaks or is listed, in roster order, then first appearance.
    pub participants: Vec<Participant>,
    /// Tool definitions as the source wrote them.
    pub tools: Vec<RawJson>,
    /// Messages and notices in canonical order.
    pub messages: Vec<Message>,
    /// Answers that stood where one of its messages stands, by place; the one that it holds stands among them.
    pub alternatives: Vec<Alternative>,
    /// Metadata fields that have no place above.
    pub extra: Extra,
    /// Unknown fields beside the metadata, at the record's root.
    pub envelope: Extra,
}

impl Conversation {
    /// Whether its messages are one request, which a log without texts does not show.
    pub fn is_one_request(&self) -> bool {
        let mut messages = self.messages.iter();
        self.traits.is_one_request() && messages.any(|message| message.kind == MessageKind::Message)
    }

    /// First and last instant of its messages, in microseconds UTC.
    pub fn span(&self) -> (Option<i64>, Option<i64>) {
        let instants = || {
            let timestamps = self
                .messages
                .iter()
                .filter_map(|message| message.timestamp.as_ref());
            timestamps.filter_map(|timestamp| timestamp.instant)
        };
        (instants().min(), instants().max())
    }

    /// The sender of one of its messages, where the record names one.
    pub fn sender(&self, message: &Message) -> Option<&Participant> {
        message.sender.and_then(|index| self.participants.get(index))
    }

    /// The messages of an alternative: its own, or those of the conversation at its place.
    pub fn messages_of<'c>(&'c self, alternative: &'c Alternative) -> &'c [Message] {
        let place = alternative.place.start as usize..alternative.place.end as usize;
        match &alternative.messages {
            Some(messages) => messages,
            None => self.messages.get(place).unwrap_or_default(),
        }
    }

    /// Whether `extra` has the record's own fields of this format, for a dialect that writes them back.
    pub fn keeps_fields_of(&self, format: &str) -> bool {
        self.traits.extra_format == Some(format)
    }
}
