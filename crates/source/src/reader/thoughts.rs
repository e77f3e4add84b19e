//! Reasoning inside a text: between `<think>` and `</think>` at its beginning, as open models write it.

use chatmill_diag::Finding;
use chatmill_model::{Message, MessageKind, Part, Role};

use crate::frame::Reading;
use crate::reader::escapes::{is_tag, unescaped};
use crate::source::About;

const OPENING: &str = "<think>";
const CLOSING: &str = "</think>";

/// Separates reasoning from the texts of a reading, where the format itself does not.
pub(crate) fn reading(about: &About, read: Result<Reading, Box<Finding>>) -> Reading {
    let mut reading = about.stored(read);
    let conversation = reading.conversation.iter_mut();
    conversation
        .flat_map(|conversation| {
            let others = conversation.alternatives.iter_mut();
            let others = others.filter_map(|alternative| alternative.messages.as_mut());
            conversation.messages.iter_mut().chain(others.flatten())
        })
        .for_each(take_out);
    reading
}

/// A thought with the escapes of its own tags removed.
pub(crate) fn thought(text: &str) -> String {
    unescaped(text, |text| is_tag(text, &["think"]))
}

/// Splits a text into the thought at its beginning and the rest; none where it does not begin with one.
///
/// One line break inside each tag, and two after the closing one, belong to the tags.
pub(crate) fn divided(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start().strip_prefix(OPENING)?;
    let (thought, answer) = rest.split_once(CLOSING)?;
    let answer = answer.strip_prefix('\n').unwrap_or(answer);
    Some((unframed(thought), answer.strip_prefix('\n').unwrap_or(answer)))
}

/// Turns the thoughts at the beginning of an assistant's first text into reasoning, whatever the format.
fn take_out(message: &mut Message) {
    if message.role != Role::Assistant || message.kind != MessageKind::Message {
        return;
    }
    let is_text = |part: &Part| matches!(part, Part::Text(_));
    let Some(place) = message.parts.iter().position(is_text) else {
        return;
    };
    let Some(Part::Text(text)) = message.parts.get(place) else {
        return;
    };
    let mut thoughts = Vec::new();
    let mut rest = text.as_str();
    while let Some((thought, answer)) = divided(rest) {
        thoughts.push(Part::Reasoning(thought.to_owned()));
        rest = answer;
    }
    if thoughts.is_empty() {
        return;
    }
    if !rest.is_empty() {
        thoughts.push(Part::Text(rest.to_owned()));
    }
    message.parts.splice(place..=place, thoughts);
}

/// Text without the line breaks that set it off from its tags.
pub(crate) fn unframed(text: &str) -> &str {
    let text = text.strip_prefix('\n').unwrap_or(text);
    text.strip_suffix('\n').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{divided, thought};

    #[test]
    fn a_leading_thought_is_divided_from_the_answer() {
        assert_eq!(divided("<think>\na\n</think>\n\nb"), Some(("a", "b")));
        assert_eq!(divided("\n<think>a</think>b\n"), Some(("a", "b\n")));
        assert_eq!(divided("<think>\n\n</think>\n"), Some(("", "")));
        for text in ["b <think>a</think>", "<think>a", "", "</think>"] {
            assert_eq!(divided(text), None, "{text}");
        }
    }

    #[test]
    fn a_thought_may_spell_its_own_tags() {
        assert_eq!(
            thought("a <\u{200b}/think> b <\u{200b}\u{200b}think>"),
            "a </think> b <\u{200b}think>"
        );
        assert_eq!(
            thought("<\u{200b}tool_call> <\u{200b}"),
            "<\u{200b}tool_call> <\u{200b}"
        );
    }
}
