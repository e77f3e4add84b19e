//! `unanswered-call`: a call without a result.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{CallStatus, Linked, MessageKind};

use crate::walk::{at_call, call_of, pairings, with_id};

/// Finds calls without a result.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    let end = end_of_talk(linked);
    for pairing in pairings(linked, CallStatus::Unanswered) {
        if let Some((message, call)) = call_of(linked, pairing) {
            let text = format!("call{} has no result", with_id(call.known_id()));
            let code = if message.position as usize + 1 >= end {
                &codes::CALL_AT_END
            } else {
                &codes::UNANSWERED_CALL
            };
            findings.push(at_call(code, message, call, text));
        }
    }
}

/// The position after the last message that is not a notice: an unanswered call in that message is a note.
fn end_of_talk(linked: &Linked) -> usize {
    let mut messages = linked.conversation.messages.iter();
    let last = messages.rposition(|message| message.kind != MessageKind::Notice);
    last.map_or(0, |last| last + 1)
}
