//! Reasoning inside a text: between `<think>` and `</think>` at its beginning, as open models write it. If the prompt ends with the opening tag, the
//! answers have only the closing one, on a separate line.

use chatmill_model::Part;

use crate::base::texts::escapes::{is_tag, unescaped};

const OPENING: &str = "<think>";
const CLOSING: &str = "</think>";

/// A thought without the escapes of its tags.
pub(crate) fn thought(text: &str) -> String {
    unescaped(text, |text| is_tag(text, &["think"]))
}

/// Splits a text into the thought at its beginning and the rest; `None` if it does not begin with one.
///
/// One line break inside each tag, and two after the closing one, belong to the tags.
pub(crate) fn divided(text: &str) -> Option<(&str, &str)> {
    let (thought, answer) = match text.trim_start().strip_prefix(OPENING) {
        Some(rest) => rest.split_once(CLOSING)?,
        None => only_closed(text)?,
    };
    Some((unframed(thought), after_break(after_break(answer))))
}

/// Splits a text without an opening tag at its only closing tag, which is on a separate line and outside of code.
fn only_closed(text: &str) -> Option<(&str, &str)> {
    let (thought, answer) = text.split_once(CLOSING)?;
    let is_alone = |line: Option<&str>| line.is_some_and(|line| line.trim().is_empty());
    let is_line = is_alone(thought.rsplit('\n').next()) && is_alone(answer.split('\n').next());
    let is_only = !text.contains(OPENING) && !answer.contains(CLOSING);
    let is_fence = |line: &&str| {
        ["```", "~~~"]
            .iter()
            .any(|fence| line.trim_start().starts_with(fence))
    };
    let is_code = thought.lines().filter(is_fence).count() % 2 == 1;
    let is_empty = thought.trim().is_empty() && answer.trim().is_empty();
    (is_line && is_only && !is_code && !is_empty)
        .then(|| (thought, answer.trim_start_matches([' ', '\t', '\r'])))
}

/// Text without the line breaks between it and its tags.
pub(crate) fn unframed(text: &str) -> &str {
    let text = after_break(text);
    let before = text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n'));
    before.unwrap_or(text)
}

/// Text without one line break at its beginning.
fn after_break(text: &str) -> &str {
    let after = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n'));
    after.unwrap_or(text)
}

/// The thoughts among the parts of a message.
pub(crate) fn in_parts(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|part| match part {
        Part::Reasoning(thought) => Some(thought.as_str()),
        _ => None,
    })
}

/// The thoughts that are not among the known ones. Programs write the same thoughts under several names: whole, in pieces that follow one
/// another without a separator, or with other white space.
pub(crate) fn fresh<'k>(known: impl Iterator<Item = &'k str>, mut thoughts: Vec<String>) -> Vec<String> {
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let known: Vec<String> = known.map(plain).collect();
    if known.is_empty() {
        return thoughts;
    }
    if known.concat() == plain(&thoughts.concat()) {
        return Vec::new();
    }
    thoughts.retain(|thought| !known.contains(&plain(thought)));
    thoughts
}

#[cfg(test)]
mod tests {
    use super::{divided, fresh, thought};

    #[test]
    fn thoughts_that_are_known_whole_or_in_pieces_are_not_fresh() {
        let fresh = |known: &[&str], thoughts: &[&str]| {
            let thoughts = thoughts.iter().map(|&thought| thought.to_owned()).collect();
            fresh(known.iter().copied(), thoughts)
        };
        assert_eq!(
            fresh(&["I add.Then I divide."], &["I add.", "Then I divide."]),
            [""; 0]
        );
        assert_eq!(
            fresh(&["I add.", "Then I divide."], &["I add.\n\nThen I divide.\n"]),
            [""; 0]
        );
        assert_eq!(
            fresh(&["I add."], &["I add.", "Then I divide."]),
            ["Then I divide."]
        );
        // Words that are a part of others are other words.
        assert_eq!(fresh(&["I look."], &["look"]), ["look"]);
        assert_eq!(fresh(&[], &["I add.", "I add."]), ["I add.", "I add."]);
    }

    #[test]
    fn a_leading_thought_is_divided_from_the_answer() {
        assert_eq!(divided("<think>\na\n</think>\n\nb"), Some(("a", "b")));
        assert_eq!(divided("\n<think>a</think>b\n"), Some(("a", "b\n")));
        assert_eq!(divided("<think>\n\n</think>\n"), Some(("", "")));
        assert_eq!(divided("a\n</think>\n\nb"), Some(("a", "b")));
        assert_eq!(divided("a\r\n</think>\r\n\r\nb"), Some(("a", "b")));
        assert_eq!(
            divided("<think>\r\na\r\n</think>\r\n\r\nb\r\n"),
            Some(("a", "b\r\n"))
        );
        assert_eq!(
            divided("a\n\n```\nx\n```\n </think> \nb"),
            Some(("a\n\n```\nx\n```\n ", "b"))
        );
        assert_eq!(divided("\n</think>\n\nb"), Some(("", "b")));
        for text in [
            "b <think>a</think>",
            "<think>a",
            "",
            "</think>",
            "a </think>\nb",
            "a\n</think> b",
            "a\n</think>\nb\n</think>\nc",
            "a <think>\nb\n</think>\nc",
            "```\na\n</think>\n```\nb",
        ] {
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
