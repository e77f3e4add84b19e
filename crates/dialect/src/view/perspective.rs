//! Choosing the participant who speaks as the assistant when the request leaves it open.

use chatmill_diag::cut;
use chatmill_model::{Linked, MessageKind, ParticipantKind, Role};

/// The agent with the most turns; among equals the one who comes first in the roster. None when there is no agent.
///
/// System text and tool results are nobody's turns. An agent who is not listed and never speaks, because others only quote it,
/// has to be asked for.
pub fn auto_perspective(linked: &Linked) -> Option<usize> {
    let conversation = &linked.conversation;
    let mut turns = vec![0_u64; conversation.participants.len()];
    for message in &conversation.messages {
        if message.kind == MessageKind::Message
            && matches!(message.role, Role::User | Role::Assistant)
            && let Some(sender) = message.sender
        {
            *cut::at_mut(&mut turns, sender) += 1;
        }
    }
    conversation
        .participants
        .iter()
        .zip(turns)
        .enumerate()
        .filter(|(_, (participant, turns))| {
            participant.kind == ParticipantKind::Agent && (participant.listed || *turns > 0)
        })
        .min_by_key(|(_, (_, count))| std::cmp::Reverse(*count))
        .map(|(index, _)| index)
}
