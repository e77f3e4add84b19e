//! Losses that lie in a dialect's nature, and the choice of the messages that a rendering shows.

use chatmill_model::{Message, MessageKind, Participant};

use crate::loss::{LossCode, Losses};
use crate::names::own_name;
use crate::rendering::Coverage;
use crate::view::{History, View};

/// What a dialect has no place for, on any message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lack {
    /// Ids of messages.
    MessageIds,
    /// Times.
    Times,
    /// Mentions.
    Mentions,
    /// Further fields.
    Extra,
    /// A name that a message gives its sender beside the roster's.
    SenderNames,
}

/// The messages that a rendering shows.
pub(crate) struct Shown<'a> {
    /// In order of position.
    pub(crate) messages: Vec<&'a Message>,
    /// Whole, or the newest.
    pub(crate) coverage: Coverage,
    /// Where the window begins.
    pub(crate) first: u32,
}

impl<'a> Shown<'a> {
    /// The newest messages among those that the dialect renders: as many as `document` says, unless the view asks
    /// otherwise. What lies outside, and every notice, is declared.
    pub(crate) fn choose(
        view: &View<'a>,
        document: Option<u32>,
        losses: &mut Losses,
        renders: impl Fn(&Message) -> bool,
    ) -> Self {
        let limit = match view.history {
            History::Document => document,
            History::All => None,
            History::Messages(count) => Some(count),
        };
        let all = &view.conversation().messages;
        let mut messages: Vec<&Message> = all.iter().filter(|message| renders(message)).collect();
        let outside = limit.map_or(0, |limit| messages.len().saturating_sub(limit as usize));
        messages.drain(..outside);
        losses.everywhere(
            LossCode::Truncated,
            outside as u64,
            "older messages lie outside the window",
        );
        let first = match messages.first() {
            Some(message) if outside > 0 => message.position,
            _ => 0,
        };
        for message in all.iter().skip(first as usize) {
            if message.kind == MessageKind::Notice && !renders(message) {
                losses.at(
                    LossCode::NoticeDropped,
                    message.position,
                    "the dialect has no notices",
                );
            }
        }
        Self {
            messages,
            coverage: if limit.is_some() {
                Coverage::Window
            } else {
                Coverage::Whole
            },
            first,
        }
    }
}

/// Declares what `lacks` takes from messages: one entry each.
pub(crate) fn declare_messages(view: &View<'_>, messages: &[&Message], lacks: &[Lack], losses: &mut Losses) {
    let count =
        |wanted: &dyn Fn(&Message) -> u64| messages.iter().map(|message| wanted(message)).sum::<u64>();
    for lack in lacks {
        match lack {
            Lack::MessageIds => losses.everywhere(
                LossCode::MessageIdDropped,
                count(&|message| u64::from(message.id.is_some())),
                "the dialect has no place for message ids",
            ),
            Lack::Times => losses.everywhere(
                LossCode::TimestampDropped,
                count(&|message| u64::from(message.timestamp.is_some())),
                "the dialect has no place for times",
            ),
            Lack::Mentions => losses.everywhere(
                LossCode::MentionDropped,
                count(&|message| message.mentions.len() as u64),
                "the dialect has no place for mentions",
            ),
            Lack::Extra => losses.everywhere(
                LossCode::ExtraDropped,
                count(&|message| message.extra.0.len() as u64),
                "the dialect has no place for further fields of a message",
            ),
            Lack::SenderNames => losses.everywhere(
                LossCode::NameDropped,
                count(&|message| {
                    let rosters = view.sender(message).and_then(own_name);
                    u64::from(
                        message
                            .sender_name
                            .as_deref()
                            .is_some_and(|name| rosters.is_some_and(|rosters| rosters != name)),
                    )
                }),
                "the message gives its sender another name than the roster",
            ),
        }
    }
}

/// Declares what a dialect without a place for facts about people and rooms takes from a conversation.
pub(crate) fn declare_conversation(view: &View<'_>, losses: &mut Losses) {
    let conversation = view.conversation();
    let facts = usize::from(conversation.title.is_some())
        + usize::from(conversation.description.is_some())
        + conversation.extra.0.len()
        + conversation.envelope.0.len();
    losses.everywhere(
        LossCode::MetadataDropped,
        facts as u64,
        "the dialect has no place for facts about the conversation",
    );
    let people = conversation
        .participants
        .iter()
        .filter(|participant| has_facts(participant));
    losses.everywhere(
        LossCode::ParticipantDropped,
        people.count() as u64,
        "the dialect has no place for facts about participants",
    );
}

fn has_facts(participant: &Participant) -> bool {
    participant.custom_role.is_some()
        || participant.department.is_some()
        || participant.email.is_some()
        || !participant.extra.is_empty()
}
