//! `empty-conversation`: a conversation without a message.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, MessageKind};

/// Finds conversations without a message.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    let messages = &linked.conversation.messages;
    let turns: Vec<_> = messages
        .iter()
        .filter(|message| message.kind == MessageKind::Message)
        .collect();
    if !turns.is_empty() {
        // The content is among the extra fields: the record has another form than its source expects.
        let is_unread = turns.iter().all(|message| message.parts.is_empty())
            && turns.iter().any(|message| !message.extra.is_empty());
        if is_unread {
            let text = format!("no content of the messages was read ({})", turns.len());
            findings.push(Finding::new(&codes::UNREAD_CONVERSATION, text));
        }
        return;
    }
    let text = match messages.len() {
        0 => "conversation has no message".to_owned(),
        notices => format!("conversation has no message, only notices ({notices})"),
    };
    findings.push(Finding::new(&codes::EMPTY_CONVERSATION, text));
}
