//! What a dialect has no place for, declared as lost.

use chatmill_model::{Message, Participant, Reference};

use crate::loss::{LossCode, Losses, reasons};
use crate::view::View;

/// What a dialect has no place for, on any message.
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
    /// A name that a message gives its sender beside the roster's.
    SenderNames,
}

/// How many references stand inside others.
fn nested(references: &[Reference]) -> u64 {
    let inner = references.iter().map(|reference| &reference.nested);
    inner.map(|inner| inner.len() as u64 + nested(inner)).sum()
}

/// Declares how much messages count in training, which no dialect says.
pub(crate) fn declare_weights(messages: &[&Message], losses: &mut Losses) {
    losses.whole_rendering(
        LossCode::WeightDropped,
        messages.iter().filter(|message| message.weight.is_some()).count() as u64,
        reasons::NO_PLACE_FOR_WEIGHTS,
    );
}

/// Declares what `lacks` takes from messages, and what they refer to by way of others: one entry each.
pub(crate) fn declare_messages(
    view: &View<'_>,
    messages: &[&Message],
    lacks: &[Unsupported],
    losses: &mut Losses,
) {
    let count =
        |wanted: &dyn Fn(&Message) -> u64| messages.iter().map(|message| wanted(message)).sum::<u64>();
    for lack in lacks {
        match lack {
            Unsupported::MessageIds => losses.whole_rendering(
                LossCode::MessageIdDropped,
                count(&|message| u64::from(message.id.is_some())),
                reasons::NO_PLACE_FOR_MESSAGE_IDS,
            ),
            Unsupported::Times => losses.whole_rendering(
                LossCode::TimestampDropped,
                count(&|message| u64::from(message.timestamp.is_some())),
                reasons::NO_PLACE_FOR_TIMES,
            ),
            Unsupported::Mentions => losses.whole_rendering(
                LossCode::MentionDropped,
                count(&|message| message.mentions.len() as u64),
                reasons::NO_PLACE_FOR_MENTIONS,
            ),
            Unsupported::Extra => losses.whole_rendering(
                LossCode::ExtraDropped,
                count(&|message| message.extra.0.len() as u64),
                reasons::NO_FURTHER_FIELDS_OF_A_MESSAGE,
            ),
            Unsupported::SenderNames => losses.whole_rendering(
                LossCode::NameDropped,
                count(&|message| {
                    let rosters = view.sender(message).and_then(Participant::own_name);
                    u64::from(
                        message
                            .sender_name
                            .as_deref()
                            .is_some_and(|name| rosters.is_some_and(|rosters| rosters != name)),
                    )
                }),
                reasons::ANOTHER_NAME_THAN_THE_ROSTERS,
            ),
        }
    }
    losses.whole_rendering(
        LossCode::ReferenceNested,
        count(&|message| nested(&message.references)),
        reasons::NO_PLACE_FOR_WHAT_A_QUOTE_QUOTES,
    );
}

/// Declares what a dialect without a place for facts about people and rooms takes from a conversation.
pub(crate) fn declare_conversation(view: &View<'_>, losses: &mut Losses) {
    let conversation = view.conversation();
    let facts = usize::from(conversation.title.is_some())
        + usize::from(conversation.description.is_some())
        + conversation.extra.0.len()
        + conversation.envelope.0.len();
    losses.whole_rendering(
        LossCode::MetadataDropped,
        facts as u64,
        reasons::NO_PLACE_FOR_FACTS_ABOUT_THE_CONVERSATION,
    );
    let people = conversation
        .participants
        .iter()
        .filter(|participant| has_facts(participant));
    losses.whole_rendering(
        LossCode::ParticipantDropped,
        people.count() as u64,
        reasons::NO_PLACE_FOR_FACTS_ABOUT_PARTICIPANTS,
    );
}

fn has_facts(participant: &Participant) -> bool {
    participant.custom_role.is_some()
        || participant.department.is_some()
        || participant.email.is_some()
        || !participant.extra.is_empty()
}
