//! The form that a conversation has after a round trip through Group Chat Format.

use chatmill_model::{Conversation, MessageKind, Role};

/// Adds to a conversation what the format requires and it lacks: a name, ids, senders, places in the roster, types. The
/// values are those of `again`, which was written from the conversation and read back. The caller compares the rest,
/// which must be equal.
pub fn completed(conversation: &Conversation, again: &Conversation) -> Conversation {
    let mut completed = conversation.clone();
    if completed.title.is_none() {
        completed.title.clone_from(&again.title);
    }
    let listed = completed.participants.len();
    for (person, written) in completed.participants.iter_mut().zip(&again.participants) {
        if !person.listed {
            person.listed = true;
            person.role.clone_from(&written.role);
        }
    }
    completed
        .participants
        .extend(again.participants.iter().skip(listed).cloned());
    for (message, written) in completed.messages.iter_mut().zip(&again.messages) {
        let is_system_text = message.kind == MessageKind::Message && message.role == Role::System;
        if message.source_type.is_none() || is_system_text {
            message.source_type.clone_from(&written.source_type);
        }
        if message.kind == MessageKind::Notice && message.role == Role::System {
            message.role = written.role;
        }
        message.id = message.id.take().or_else(|| written.id.clone());
        message.sender = message.sender.or(written.sender);
        for (reference, written) in message.references.iter_mut().zip(&written.references) {
            if reference.target.is_none() {
                reference.clone_from(written);
            }
        }
        for (part, written) in message.parts.iter_mut().zip(&written.parts) {
            use chatmill_model::Part::{ToolCall, ToolResult};
            match (part, written) {
                (ToolCall(call), ToolCall(written)) if call.known_id().is_none() => {
                    call.id.clone_from(&written.id);
                }
                (ToolResult(result), ToolResult(written)) if result.known_id().is_none() => {
                    result.call_id.clone_from(&written.call_id);
                }
                _ => {}
            }
        }
    }
    completed
}
