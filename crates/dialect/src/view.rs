//! What a dialect is asked to say: a conversation, through whose eyes, by which policy, how much of it.

use chatmill_model::{Conversation, Link, Linked, Message, MessageKind, Participant, Reference};

use crate::policy::Policy;
use crate::window::Stretch;

/// How much of a conversation to render.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum History {
    /// What the dialect's document says.
    #[default]
    Document,
    /// All of it.
    All,
    /// The newest messages, that many, and more where the border would part a call from its result. System text does not count.
    Messages(u32),
}

/// A conversation as one rendering sees it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The conversation.
    pub linked: &'a Linked,
    /// Index of the participant who speaks as the assistant; none: everybody is a user.
    pub perspective: Option<usize>,
    /// The choices.
    pub policy: &'a Policy,
    /// The dialect's profile.
    pub profile: &'a str,
    /// How much to render.
    pub history: History,
    /// The stretch to render; none: the whole conversation.
    pub stretch: Option<Stretch>,
}

impl<'a> View<'a> {
    /// The conversation.
    pub fn conversation(&self) -> &'a Conversation {
        &self.linked.conversation
    }

    /// The message at a position.
    pub fn message(&self, position: u32) -> Option<&'a Message> {
        self.conversation().messages.get(position as usize)
    }

    /// The sender of a message, where it is known.
    pub fn sender(&self, message: &Message) -> Option<&'a Participant> {
        self.conversation().participants.get(message.sender?)
    }

    /// Whether a message is the perspective's own.
    pub fn is_own(&self, message: &Message) -> bool {
        self.perspective.is_some() && message.sender == self.perspective
    }

    /// The references of a message with what became of them.
    pub fn references(
        &self,
        message: &'a Message,
    ) -> impl Iterator<Item = (&'a Reference, &'a Link)> + use<'a> {
        let links = self
            .linked
            .links
            .get(message.position as usize)
            .map_or(&[][..], Vec::as_slice);
        message.references.iter().zip(links)
    }

    /// Whether a message is a turn rather than a notice.
    pub fn is_turn(message: &Message) -> bool {
        message.kind == MessageKind::Message
    }
}
