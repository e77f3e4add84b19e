//! Reasoning inside a text: between `<think>` and `</think>` at its beginning, as open models write it.

use crate::base::texts::escapes::{is_tag, unescaped};

const OPENING: &str = "<think>";
const CLOSING: &str = "</think>";

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
