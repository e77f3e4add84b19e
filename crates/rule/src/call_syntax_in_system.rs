//! `call-syntax-in-system`: a system text asks for calls in the form of text, and the record has calls as JSON values.

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, MessageKind, Part, Role};

use crate::walk::at_message;

/// Finds the first system text that asks for one of three syntaxes, in a conversation with calls: one finding a conversation.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    let messages = || linked.conversation.messages.iter();
    let mut parts = messages().flat_map(|message| &message.parts);
    if !parts.any(|part| matches!(part, Part::ToolCall(_))) {
        return;
    }
    let mut systems =
        messages().filter(|message| message.role == Role::System && message.kind == MessageKind::Message);
    let found = systems.find_map(|message| {
        let mut texts = message.parts.iter().filter_map(|part| match part {
            Part::Text(text) => syntax(text),
            _ => None,
        });
        Some(message).zip(texts.next())
    });
    if let Some((message, (name, mark))) = found {
        let text = format!("the system text asks for calls as {name}, but the record has calls as values");
        findings.push(at_message(&codes::CALL_SYNTAX_IN_SYSTEM, message, text).marking_word(mark));
    }
}

/// The syntax that a text asks for, and the mark of it in the text.
fn syntax(text: &str) -> Option<(&'static str, &'static str)> {
    let python = || {
        let mut starts = text.split("[func").skip(1);
        let is_name = |sign: char| sign.is_alphanumeric() || sign == '_';
        starts.any(|rest| rest.trim_start_matches(is_name).starts_with('('))
    };
    if text.contains("<tool_call>") {
        Some(("`<tool_call>` with JSON (Hermes)", "<tool_call>"))
    } else if text.contains("<function=") {
        Some(("`<function=name>` (Llama)", "<function="))
    } else if python() {
        Some(("`[func(name=value)]` (ToolACE)", "[func"))
    } else {
        None
    }
}
