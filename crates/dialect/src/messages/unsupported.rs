//! Declares as lost what a dialect has no place for.

use chatmill_model::{Conversation, Message, Part, Participant, Reference};

use crate::loss::{LossCause, LossCode, LossReason, Losses, reasons};
use crate::view::View;

/// The losses that [`declare_conversation`] may declare.
pub(crate) const LOSES_FACTS: &[LossCode] = &[LossCode::MetadataDropped, LossCode::ParticipantDropped];

/// A property of messages that a dialect has no place for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsupported {
    /// Ids of messages.
    MessageIds,
    /// Times.
    Times,
    /// Mentions.
    Mentions,
    /// Further fields.
    Extra,
    /// A sender name in the message that differs from the roster.
    SenderNames,
}

impl Unsupported {
    /// The properties that requests and transcripts have no place for.
    pub(crate) const BESIDE_WORDS: &[Self] = &[Self::MessageIds, Self::Times, Self::Mentions, Self::Extra];

    const fn cause(self) -> LossCause {
        match self {
            Self::MessageIds => reasons::NO_PLACE_FOR_MESSAGE_IDS,
            Self::Times => reasons::NO_PLACE_FOR_TIMES,
            Self::Mentions => reasons::NO_PLACE_FOR_MENTIONS,
            Self::Extra => reasons::NO_FURTHER_FIELDS_OF_A_MESSAGE,
            Self::SenderNames => reasons::ANOTHER_NAME_THAN_THE_ROSTERS,
        }
    }

    /// Counts the property in a message.
    fn count(self, view: &View<'_>, message: &Message) -> u64 {
        match self {
            Self::MessageIds => u64::from(message.id.is_some()),
            Self::Times => u64::from(message.timestamp.is_some()),
            Self::Mentions => message.mentions.len() as u64,
            Self::Extra => message.extra.0.len() as u64,
            Self::SenderNames => {
                let rosters = view.sender(message).and_then(Participant::own_name);
                let own = message.sender_name.as_deref();
                u64::from(own.zip(rosters).is_some_and(|(own, rosters)| own != rosters))
            }
        }
    }
}

/// Returns the losses that [`declare_messages`] may declare for these properties.
pub(crate) fn loses(lacks: &[Unsupported]) -> Vec<LossCode> {
    let codes = lacks.iter().map(|lack| lack.cause().code);
    codes.chain([LossCode::ReferenceNested]).collect()
}

/// Why a dialect has no place for parts of these kinds; `None`: it has one, or declares the loss itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoPlace {
    /// Calls and results.
    pub(crate) tools: Option<LossReason>,
    /// Reasoning.
    pub(crate) reasoning: Option<LossReason>,
    /// Notices inside a message.
    pub(crate) notices: Option<LossReason>,
    /// Cache marks.
    pub(crate) cache_marks: Option<LossReason>,
}

impl NoPlace {
    /// For formats that have only texts and media.
    pub(crate) const FORMAT: Self = Self {
        tools: Some(reasons::FORMAT_HAS_NO_TOOLS),
        reasoning: Some(reasons::FORMAT_HAS_NO_REASONING),
        notices: Some(reasons::FORMAT_HAS_NO_NOTICES),
        cache_marks: Some(reasons::FORMAT_HAS_NO_CACHE_MARKS),
    };

    /// Declares a part that has no place.
    pub(crate) fn declare(&self, part: &Part, position: u32, losses: &mut Losses) {
        let (code, reason) = match part {
            Part::Text(_) | Part::Media(_) => return,
            Part::ToolCall(_) => (LossCode::ToolCallDropped, self.tools),
            Part::ToolResult(_) => (LossCode::ToolResultDropped, self.tools),
            Part::Reasoning(_) => (LossCode::ReasoningDropped, self.reasoning),
            Part::Notice(_) => (LossCode::NoticeDropped, self.notices),
            Part::CacheMark => (LossCode::CacheMarkDropped, self.cache_marks),
            Part::Item(_) => {
                losses.at(reasons::ITEM_OF_ONE_VENDOR, position);
                return;
            }
        };
        if let Some(reason) = reason {
            losses.at((code, reason), position);
        }
    }
}

/// Counts the references inside other references.
fn nested(references: &[Reference]) -> u64 {
    let inner = references.iter().map(|reference| &reference.nested);
    inner.map(|inner| inner.len() as u64 + nested(inner)).sum()
}

/// Declares weights of messages in training, which no dialect writes.
pub(crate) fn declare_weights(messages: &[&Message], losses: &mut Losses) {
    losses.whole_rendering(
        reasons::NO_PLACE_FOR_WEIGHTS,
        messages.iter().filter(|message| message.weight.is_some()).count() as u64,
    );
}

/// Declares the properties `lacks` of all messages, and references inside references, with one entry each.
pub(crate) fn declare_messages(
    view: &View<'_>,
    messages: &[&Message],
    lacks: &[Unsupported],
    losses: &mut Losses,
) {
    for lack in lacks {
        let counts = messages.iter().map(|message| lack.count(view, message));
        losses.whole_rendering(lack.cause(), counts.sum());
    }
    losses.whole_rendering(
        reasons::NO_PLACE_FOR_WHAT_A_QUOTE_QUOTES,
        messages.iter().map(|message| nested(&message.references)).sum(),
    );
}

/// Declares facts about the conversation and its participants, for dialects without a place for them.
pub(crate) fn declare_conversation(view: &View<'_>, losses: &mut Losses) {
    declare_conversation_except(view, 0, losses);
}

/// The same, for dialects that show so many facts about the conversation.
pub(crate) fn declare_conversation_except(view: &View<'_>, shown: u64, losses: &mut Losses) {
    let conversation = view.conversation();
    let facts = facts_about(conversation).saturating_sub(shown);
    losses.whole_rendering(reasons::NO_PLACE_FOR_FACTS_ABOUT_THE_CONVERSATION, facts);
    let dropped = conversation
        .participants
        .iter()
        .filter(|participant| has_facts(participant));
    losses.whole_rendering(
        reasons::NO_PLACE_FOR_FACTS_ABOUT_PARTICIPANTS,
        dropped.count() as u64,
    );
}

/// Counts the facts about a conversation as a whole.
pub(crate) fn facts_about(conversation: &Conversation) -> u64 {
    let named = usize::from(conversation.title.is_some()) + usize::from(conversation.description.is_some());
    (named + conversation.extra.0.len() + conversation.envelope.0.len()) as u64
}

/// Whether more is known of a participant than id, name and kind.
pub(crate) fn has_facts(participant: &Participant) -> bool {
    participant.custom_role.is_some()
        || participant.department.is_some()
        || participant.email.is_some()
        || !participant.extra.is_empty()
}
