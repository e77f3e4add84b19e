//! A conversation as its source read it, before anything in it is linked.

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
    /// The source's id, for example `group-chat`: for tables only. Decisions depend on `traits`.
    pub source: &'static str,
    /// The traits of the record's format.
    pub traits: FormatTraits,
    /// The id of the conversation in its source, if it has one.
    pub source_id: Option<String>,
    /// The database table that it comes from, if a run reads several; ids are unique per table.
    pub table: Option<Arc<str>>,
    /// The version that the source states.
    pub format_version: Option<String>,
    /// The structure of the format that was recognised, for example `V1`.
    pub shape: &'static str,
    /// The kind of chat.
    pub scene: Scene,
    /// The name of the chat.
    pub title: Option<String>,
    /// The description of the chat.
    pub description: Option<String>,
    /// The model of all its answers, if the record names one for the whole conversation.
    pub model: Option<Box<str>>,
    /// All who speak or are listed: in roster order, then by first appearance.
    pub participants: Vec<Participant>,
    /// Tool definitions as the source wrote them.
    pub tools: Vec<RawJson>,
    /// Messages and notices in canonical order.
    pub messages: Vec<Message>,
    /// The answers at places with more than one, by place; each list includes the answer that `messages` contains.
    pub alternatives: Vec<Alternative>,
    /// Fields of the metadata that the model has no place for.
    pub extra: Extra,
    /// Unknown fields at the root of the record, outside the metadata.
    pub envelope: Extra,
}

impl Conversation {
    /// Whether its messages are one request; a log without texts does not show messages.
    pub fn is_one_request(&self) -> bool {
        let mut messages = self.messages.iter();
        self.traits.is_one_request() && messages.any(|message| message.kind == MessageKind::Message)
    }

    /// The first and the last instant of its messages, in microseconds UTC.
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

    /// The sender of one of its messages, if the record names one.
    pub fn sender(&self, message: &Message) -> Option<&Participant> {
        message.sender.and_then(|index| self.participants.get(index))
    }

    /// The messages of an alternative, or those of the conversation at its place.
    pub fn messages_of<'c>(&'c self, alternative: &'c Alternative) -> &'c [Message] {
        let place = alternative.place.start as usize..alternative.place.end as usize;
        match &alternative.messages {
            Some(messages) => messages,
            None => self.messages.get(place).unwrap_or_default(),
        }
    }

    /// Whether `extra` has the fields of this format as the record has them, so that a dialect can write them back.
    pub fn keeps_fields_of(&self, format: &str) -> bool {
        self.traits.extra_format == Some(format)
    }
}
