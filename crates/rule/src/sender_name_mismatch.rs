//! `sender-name-mismatch`: a message has another name for its sender than the roster.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, Participant, Role};

use crate::walk::{Id, PerParticipant, at_message};

/// Finds names that the roster does not have: one finding for each listed sender.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    let conversation = &linked.conversation;
    let mut per_participant = PerParticipant::new(conversation);
    for message in &conversation.messages {
        let sender = message.sender.zip(conversation.sender(message));
        let (Some((index, participant)), Some(name)) = (sender, message.sender_name.as_deref()) else {
            continue;
        };
        // A result has the name of its tool as sender name.
        if message.role == Role::Tool
            || !participant.listed
            || participant.own_name().is_none()
            || knows(participant, name)
        {
            continue;
        }
        per_participant.add(index, findings, || {
            let text = format!("sender {} has another name in the roster", Id(&participant.id));
            at_message(&codes::SENDER_NAME_MISMATCH, message, text)
                .marking(name)
                .quoting(name)
                .naming(&participant.id)
        });
    }
}

/// Roles that are written instead of a name.
const ROLES: &[&str] = &[
    "user",
    "human",
    "assistant",
    "ai",
    "bot",
    "agent",
    "robot",
    "system",
    "tool",
];

fn knows(participant: &Participant, name: &str) -> bool {
    let known = [
        Some(participant.id.as_str()),
        participant.name.as_deref(),
        participant.alias.as_deref(),
    ];
    // Most names are written as in the roster.
    if known.contains(&Some(name)) {
        return true;
    }
    let name = plain(name);
    name.is_empty()
        || ROLES.contains(&name.as_str())
        || known.into_iter().flatten().any(|known| plain(known) == name)
}

/// A name without the differences that people make: `@`, white space and case.
fn plain(name: &str) -> String {
    name.trim_start_matches('@')
        .chars()
        .filter(|character| !character.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect()
}
