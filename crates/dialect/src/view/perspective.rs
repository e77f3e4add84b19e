//! Chooses the participant who is the assistant, if the request does not name one.

use chatmill_diag::cut;
use chatmill_model::{Linked, MessageKind, ParticipantKind, Role};

/// Returns the agent with the most turns, and among equals the first in the roster; `None` if there is no agent.
///
/// System text and tool results are not turns. An agent who is not listed and never speaks, but is only quoted by others, is not chosen: a
/// request has to name it.
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
