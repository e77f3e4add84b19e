//! `special-token-in-text`: chat text contains a control token of a model.
//!
//! Written unchanged into a template, such a text could end a turn or forge one. Only known tokens are found: anything between `<|` and
//! `|>` would also find program code.

use std::sync::LazyLock;

use chatmill_diag::{Finding, Limits, codes};
use chatmill_model::{Linked, Message, Part};
use memchr::memchr2_iter;

use crate::walk::at_message;

/// Finds control tokens in texts, thoughts, notices, tool results and arguments: one finding a message.
pub(crate) fn check(linked: &Linked, _limits: &Limits, findings: &mut Vec<Finding>) {
    for message in &linked.conversation.messages {
        let mut tokens = message.parts.iter().filter_map(text_of).flat_map(control_tokens);
        if let Some(first) = tokens.next() {
            let count = 1 + tokens.count() as u64;
            findings.push(finding(message, first, count));
        }
    }
}

fn finding(message: &Message, first: &str, count: u64) -> Finding {
    // The token is one of the list below, so it discloses nothing of the chat.
    let text = match count {
        1 => format!("text holds the control token `{first}`"),
        _ => format!("text holds {count} control tokens, the first is `{first}`"),
    };
    let mut finding = at_message(&codes::SPECIAL_TOKEN_IN_TEXT, message, text).marking_word(first);
    finding.count = count;
    finding
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) | Part::Reasoning(text) | Part::Notice(text) => Some(text),
        Part::ToolCall(call) => Some(call.arguments.source_text()),
        Part::ToolResult(result) => Some(&result.content),
        Part::Item(item) => Some(item.raw.as_str()),
        Part::Media(_) | Part::CacheMark => None,
    }
}

/// The control tokens in `text`, in order. No token begins another, so there is at most one at each place.
fn control_tokens(text: &str) -> impl Iterator<Item = &'static str> {
    let tokens: &[&str] = &CONTROL_TOKENS;
    memchr2_iter(b'<', b'[', text.as_bytes()).filter_map(move |at| {
        let tail = text.get(at..)?;
        tokens.iter().copied().find(|token| tail.starts_with(token))
    })
}

/// Control tokens of the model families with templates that occur in chat archives; a line with `#` names the family of the tokens after
/// it.
static CONTROL_TOKENS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let lines = include_str!("../control_tokens.txt").lines();
    lines.filter(|line| !line.starts_with('#')).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_token_is_found_in_text() {
        for token in CONTROL_TOKENS.iter() {
            let text = format!("é{token}é");
            let found: Vec<_> = control_tokens(&text).collect();
            assert_eq!(found, [*token]);
        }
    }
}
