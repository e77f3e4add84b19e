//! Walks that several rules share: references with their links, tool calls and results with their messages.

use std::fmt;

use chatmill_diag::{Code, Finding};
use chatmill_model::{Link, Linked, Message, Pairing, Part, PartPlace, Reference, ToolCall, ToolResult};

/// A reference in its message.
pub(crate) struct Referring<'a> {
    /// The message that refers.
    pub message: &'a Message,
    /// Index among the message's references.
    pub ordinal: usize,
    /// What the source wrote.
    pub reference: &'a Reference,
    /// What became of it.
    pub link: &'a Link,
    /// The field that lists the message's references.
    list: Option<&'static str>,
}

impl Referring<'_> {
    /// A finding at this reference.
    pub(crate) fn finding(&self, code: &'static Code, message: impl Into<String>) -> Finding {
        Finding::new(code, message).at_message(
            self.message.position,
            self.message.id.as_deref(),
            match self.list {
                Some(list) => format!(".{list}[{}]", self.ordinal),
                None => String::new(),
            },
        )
    }
}

/// Every reference of a conversation, in order.
pub(crate) fn references(linked: &Linked) -> impl Iterator<Item = Referring<'_>> {
    let list = linked.conversation.customs.reference_list;
    linked
        .conversation
        .messages
        .iter()
        .zip(&linked.links)
        .flat_map(move |(message, links)| {
            message
                .references
                .iter()
                .zip(links)
                .enumerate()
                .map(move |(ordinal, (reference, link))| Referring {
                    message,
                    ordinal,
                    reference,
                    link,
                    list,
                })
        })
}

/// A finding at a whole message.
pub(crate) fn at_message(code: &'static Code, message: &Message, text: impl Into<String>) -> Finding {
    Finding::new(code, text).at_message(message.position, message.id.as_deref(), "")
}

/// A finding at a call: at its id, or at its name where it has none.
pub(crate) fn at_call(
    code: &'static Code,
    message: &Message,
    call: &ToolCall,
    text: impl Into<String>,
) -> Finding {
    let mark = call.known_id().or(call.name.as_deref());
    at_message(code, message, text).marking(mark.unwrap_or_default())
}

/// A finding at the result of a call: at the id that it names, or at its own name where it names none.
pub(crate) fn at_result(
    code: &'static Code,
    message: &Message,
    result: &ToolResult,
    text: impl Into<String>,
) -> Finding {
    let mark = result.known_id().or(result.name.as_deref());
    at_message(code, message, text).marking(mark.unwrap_or_default())
}

/// A finding at the arguments of a call, or at the call where they are empty or very long.
pub(crate) fn at_arguments(
    code: &'static Code,
    message: &Message,
    call: &ToolCall,
    text: impl Into<String>,
) -> Finding {
    at_call(code, message, call, text).marking(call.arguments.source_text())
}

/// Every tool call of a conversation with its message, in order.
pub(crate) fn calls(linked: &Linked) -> impl Iterator<Item = (&Message, &ToolCall)> {
    parts(linked).filter_map(|(message, part)| match part {
        Part::ToolCall(call) => Some((message, call)),
        _ => None,
    })
}

/// Every part of a conversation with its message, in order.
pub(crate) fn parts(linked: &Linked) -> impl Iterator<Item = (&Message, &Part)> {
    linked
        .conversation
        .messages
        .iter()
        .flat_map(|message| message.parts.iter().map(move |part| (message, part)))
}

/// The call of a pairing and its message.
pub(crate) fn call_of<'a>(linked: &'a Linked, pairing: &Pairing) -> Option<(&'a Message, &'a ToolCall)> {
    match part_at(linked, pairing.call?)? {
        (message, Part::ToolCall(call)) => Some((message, call)),
        _ => None,
    }
}

/// The result of a pairing and its message.
pub(crate) fn result_of<'a>(linked: &'a Linked, pairing: &Pairing) -> Option<(&'a Message, &'a ToolResult)> {
    match part_at(linked, pairing.result?)? {
        (message, Part::ToolResult(result)) => Some((message, result)),
        _ => None,
    }
}

fn part_at(linked: &Linked, place: PartPlace) -> Option<(&Message, &Part)> {
    let message = linked.conversation.messages.get(place.position as usize)?;
    message.parts.get(place.part as usize).map(|part| (message, part))
}

/// An id as a finding's message shows it: between backticks, control characters escaped, cut to 64 code points.
pub(crate) struct Id<'a>(pub &'a str);

impl fmt::Display for Id<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_CHARACTERS: usize = 64;
        out.write_str("`")?;
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(MAX_CHARACTERS) {
            if character.is_control() {
                write!(out, "{}", character.escape_default())?;
            } else {
                write!(out, "{character}")?;
            }
        }
        out.write_str(if characters.next().is_some() { "…`" } else { "`" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_shown_on_one_line_and_cut_when_it_is_long() {
        assert_eq!(Id("msg_1").to_string(), "`msg_1`");
        assert_eq!(Id("a\nb").to_string(), "`a\\nb`");
        assert_eq!(Id(&"é".repeat(64)).to_string(), format!("`{}`", "é".repeat(64)));
        assert_eq!(Id(&"é".repeat(65)).to_string(), format!("`{}…`", "é".repeat(64)));
    }
}
