//! Ids of messages: the source's, else made up.

use std::borrow::Cow;
use std::collections::BTreeSet;

use chatmill_model::{Conversation, Message};

/// Makes up ids for messages that have none.
pub(crate) struct MessageIds<'a>(BTreeSet<&'a str>);

impl<'a> MessageIds<'a> {
    /// Beside the ids of a conversation's messages, and those to which they refer.
    pub(crate) fn new(conversation: &'a Conversation) -> Self {
        let references = |message: &'a Message| {
            let references = message.references.iter();
            references.map(|reference| reference.target.as_deref())
        };
        let has_all =
            |message: &'a Message| message.id.is_some() && references(message).all(|id| id.is_some());
        let messages = &conversation.messages;
        if messages.iter().all(has_all) {
            return Self(BTreeSet::new());
        }
        let ids = |message: &'a Message| references(message).chain([message.id.as_deref()]).flatten();
        Self(messages.iter().flat_map(ids).collect())
    }

    /// The id of a message.
    pub(crate) fn of(&self, message: &'a Message) -> Cow<'a, str> {
        match &message.id {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned(self.of_position(message.position)),
        }
    }

    /// `m<position>`, for a message without an id.
    pub(crate) fn of_position(&self, position: u32) -> String {
        self.free(&format!("m{position}"))
    }

    /// An id as it is, or qualified where somebody has it.
    pub(crate) fn free(&self, plain: &str) -> String {
        let mut id = plain.to_owned();
        let mut count = 2_u64;
        while self.0.contains(id.as_str()) {
            id = format!("{plain}~{count}");
            count += 1;
        }
        id
    }
}
