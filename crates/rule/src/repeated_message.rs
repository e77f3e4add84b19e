//! `repeated-message`: consecutive messages of one sender with the same text.
//!
//! Short words are ignored: people do write *ok* twice. Repeats with the same id were dropped when the conversation was linked.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, Message, MessageKind, Part};

use crate::walk::at_message;

/// The number of characters from which a repeat is reported.
const CHARACTERS: usize = 16;

/// Finds runs of equal messages: one finding a run, at its second message.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    let messages = &linked.conversation.messages;
    let mut run: Option<Finding> = None;
    for pair in messages.windows(2) {
        let [before, message] = pair else { continue };
        if !repeats(before, message) {
            findings.extend(run.take());
        } else if let Some(run) = &mut run {
            run.count += 1;
        } else {
            let text = format!("it repeats the message at position {}", before.position);
            run = Some(at_message(&codes::REPEATED_MESSAGE, message, text));
        }
    }
    findings.extend(run);
}

fn repeats(before: &Message, message: &Message) -> bool {
    message.kind == MessageKind::Message
        && (before.kind, before.role, before.sender) == (message.kind, message.role, message.sender)
        && message.sender.is_some()
        && message.parts == before.parts
        && message.parts.iter().any(is_telling)
}

fn is_telling(part: &Part) -> bool {
    match part {
        Part::Text(text) | Part::Reasoning(text) => text.chars().nth(CHARACTERS - 1).is_some(),
        Part::Media(_) | Part::ToolCall(_) | Part::ToolResult(_) | Part::Item(_) => true,
        Part::Notice(_) | Part::CacheMark => false,
    }
}
