//! Control tokens and tags in chat text: a tokenizer would read them as the boundary of a turn, or a reader as a thought, a call or a
//! result, although a person typed them.

use std::borrow::Cow;

use chatmill_diag::cut;

/// Maximum number of characters between the bars of a control token.
const MAX_TOKEN_CHARACTERS: usize = 40;

/// The control tokens and tags that a text must not spell in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reserved {
    /// Control tokens.
    Tokens,
    /// Control tokens, and tags around calls and results.
    Tools,
    /// Control tokens, and tags around calls, results and thoughts.
    Tags,
    /// Tags around thoughts.
    Thoughts,
    /// Tags around calls in JSON.
    Call,
    /// The tag that opens calls in XML, in any case.
    Calls,
}

impl Reserved {
    /// Whether the text after a `<` continues as something reserved.
    fn begins(self, text: &str) -> bool {
        let holds = |tags: &[&str]| is_tag(text, tags);
        match self {
            Self::Tokens => is_token(text),
            Self::Tools => is_token(text) || holds(&TOOLS),
            Self::Tags => is_token(text) || holds(&TOOLS) || holds(&[THOUGHT]),
            Self::Thoughts => holds(&[THOUGHT]),
            Self::Call => holds(&TOOLS[..1]),
            Self::Calls => text
                .get(..CALLS.len())
                .is_some_and(|tag| tag.eq_ignore_ascii_case(CALLS)),
        }
    }

    /// Counts the reserved tokens and tags in a text.
    pub(crate) fn count(self, text: &str) -> u64 {
        let inside = text.match_indices('<').map(|(at, _)| text.split_at(at + 1).1);
        inside.filter(|inside| self.begins(inside)).count() as u64
    }
}

/// The tags around calls and around results.
const TOOLS: [&str; 2] = ["tool_call", "tool_response"];

/// The tag around thoughts.
const THOUGHT: &str = "think";

/// The tag that opens calls in XML, without its `<`.
const CALLS: &str = "function_calls>";

/// Whether the text after a `<` continues as one of these opening or closing tags.
fn is_tag(text: &str, tags: &[&str]) -> bool {
    let name = text.strip_prefix('/').unwrap_or(text);
    let mut names = tags.iter().filter_map(|tag| name.strip_prefix(tag));
    names.any(|rest| rest.starts_with('>'))
}

/// Returns where the control tokens of a text begin: `<|`, letters, digits and underscores, `|>`.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("<|")
        .filter_map(|(at, _)| is_token(text.split_at(at + 1).1).then_some(at))
}

/// Whether the text after a `<` continues as a control token.
fn is_token(text: &str) -> bool {
    let Some(inside) = text.strip_prefix('|') else {
        return false;
    };
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = inside
        .bytes()
        .take(MAX_TOKEN_CHARACTERS + 1)
        .take_while(is_sign)
        .count();
    (1..=MAX_TOKEN_CHARACTERS).contains(&length)
        && inside.get(length..).is_some_and(|rest| rest.starts_with("|>"))
}

/// Returns the control tokens that a text spells.
pub(crate) fn spelled(text: &str) -> impl Iterator<Item = &str> {
    starts(text).filter_map(|at| {
        let (_, tail) = text.split_at(at);
        let end = tail.find("|>")?;
        Some(tail.split_at(end + 2).0)
    })
}

/// The zero-width character after the first character of an escaped control token or tag.
pub(crate) const ESCAPE: char = '\u{200b}';

/// Inserts U+200B after the `<` of everything reserved, and returns the text with the number of insertions. A token that is already escaped
/// gets one more character, so that removing one character everywhere restores the text exactly.
pub(crate) fn escape(text: Cow<'_, str>, reserved: Reserved) -> (Cow<'_, str>, u64) {
    escape_at(text, |spelled, _| reserved.begins(spelled))
}

/// Escapes each `<` where `begins` is true for the text after it, without escapes, and for whether it is already escaped.
fn escape_at(text: Cow<'_, str>, begins: impl Fn(&str, bool) -> bool) -> (Cow<'_, str>, u64) {
    let mut escaped = String::new();
    let mut copied = 0;
    let mut count = 0;
    for (start, _) in text.match_indices('<') {
        let split = start + 1;
        let inside = text.split_at(split).1;
        if !begins(inside.trim_start_matches(ESCAPE), inside.starts_with(ESCAPE)) {
            continue;
        }
        escaped.push_str(cut::text(&text, copied..split));
        escaped.push(ESCAPE);
        copied = split;
        count += 1;
    }
    if count == 0 {
        return (text, 0);
    }
    escaped.push_str(text.split_at(copied).1);
    (Cow::Owned(escaped), count)
}

/// Like [`escape`], but only for tokens and tags that are already escaped; used where policy keeps control tokens.
pub(crate) fn escape_again(text: Cow<'_, str>, reserved: Reserved) -> (Cow<'_, str>, u64) {
    if text.contains("<\u{200b}") {
        escape_at(text, |spelled, is_escaped| is_escaped && reserved.begins(spelled))
    } else {
        (text, 0)
    }
}

/// Like [`escape`], and like [`escape_again`] for what is reserved for it.
pub(crate) fn escape_both(text: Cow<'_, str>, reserved: Reserved, again: Reserved) -> (Cow<'_, str>, u64) {
    escape_at(text, |spelled, is_escaped| {
        reserved.begins(spelled) || is_escaped && again.begins(spelled)
    })
}

/// The beginnings of the lines of ids that gryag writes before a message, after the bracket.
const LINES: [&str; 2] = ["meta]", "speaker"];

/// Inserts U+200B after the first bracket of a text that begins like a line of ids, escaped or not; returns whether it did.
pub(crate) fn escape_line(text: Cow<'_, str>) -> (Cow<'_, str>, bool) {
    let inside = text.strip_prefix('[').map(|rest| rest.trim_start_matches(ESCAPE));
    let begins = |inside: &str| LINES.iter().any(|line| inside.starts_with(line));
    if !inside.is_some_and(begins) {
        return (text, false);
    }
    let mut escaped = text.into_owned();
    escaped.insert(1, ESCAPE);
    (Cow::Owned(escaped), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> (String, u64) {
        escaped_as(text, Reserved::Tokens)
    }

    fn escaped_as(text: &str, reserved: Reserved) -> (String, u64) {
        let (text, count) = escape(Cow::Borrowed(text), reserved);
        (text.into_owned(), count)
    }

    #[test]
    fn control_tokens_get_a_space_without_width_and_other_text_stays() {
        assert_eq!(
            escaped("a <|im_end|> b <|im_start|>"),
            ("a <\u{200b}|im_end|> b <\u{200b}|im_start|>".to_owned(), 2)
        );
        assert_eq!(escaped("<<|x|>|>"), ("<<\u{200b}|x|>|>".to_owned(), 1));
        assert_eq!(
            escaped("<\u{200b}|x|> <\u{200b}|"),
            ("<\u{200b}\u{200b}|x|> <\u{200b}|".to_owned(), 1)
        );
        let long = format!("<|{}|>", "x".repeat(MAX_TOKEN_CHARACTERS + 1));
        for text in [
            "",
            "<||>",
            "<|im start|>",
            "<|im_end|",
            "f <| g |> h",
            "<|ї|>",
            long.as_str(),
        ] {
            assert_eq!(escaped(text), (text.to_owned(), 0));
        }
        assert_eq!(
            Reserved::Tokens.count(&format!("<|{}|>", "x".repeat(MAX_TOKEN_CHARACTERS))),
            1
        );
    }

    #[test]
    fn an_escaped_text_holds_no_control_token() {
        let (text, _) = escaped("<|<|a|>|><|a|><|b_2|>");
        assert_eq!(Reserved::Tokens.count(&text), 0);
    }

    #[test]
    fn what_a_reader_restores_beside_a_tag_is_escaped_again() {
        let text = "<tool_call> <|a|> <\u{200b}|a|> <\u{200b}tool_call>";
        let (text, count) = escape_both(text.into(), Reserved::Call, Reserved::Tools);
        assert_eq!(count, 3);
        assert_eq!(
            text,
            "<\u{200b}tool_call> <|a|> <\u{200b}\u{200b}|a|> <\u{200b}\u{200b}tool_call>"
        );
    }

    #[test]
    fn tags_are_escaped_where_they_would_be_read() {
        let text = "<think>a</think> <tool_call>b</tool_call> <tool_response> <|c|> <tool_calls> <tool_call > </ think>";
        let counts = [
            Reserved::Tokens,
            Reserved::Thoughts,
            Reserved::Tools,
            Reserved::Tags,
        ]
        .map(|reserved| (escaped_as(text, reserved).1, reserved.count(text)));
        assert_eq!(counts, [(1, 1), (2, 2), (4, 4), (6, 6)]);
        assert_eq!(
            escaped_as("<Function_Calls> </function_calls>", Reserved::Calls),
            ("<\u{200b}Function_Calls> </function_calls>".to_owned(), 1)
        );
        let (text, _) = escaped_as("<tool_call></tool_call><\u{200b}/think>", Reserved::Tags);
        assert_eq!(
            text,
            "<\u{200b}tool_call><\u{200b}/tool_call><\u{200b}\u{200b}/think>"
        );
    }

    #[test]
    fn only_what_is_escaped_already_is_escaped_again() {
        let text = Cow::Borrowed("<|a|> <\u{200b}|a|> <\u{200b}b");
        let (text, count) = escape_again(text, Reserved::Tokens);
        assert_eq!((&*text, count), ("<|a|> <\u{200b}\u{200b}|a|> <\u{200b}b", 1));
    }

    #[test]
    fn a_text_does_not_begin_like_a_line_of_ids() {
        for (text, escaped) in [
            ("[meta] user_id=1", "[\u{200b}meta] user_id=1"),
            ("[\u{200b}speaker id=1]", "[\u{200b}\u{200b}speaker id=1]"),
            (" [meta]", " [meta]"),
            ("[metal]", "[metal]"),
        ] {
            assert_eq!(
                escape_line(Cow::Borrowed(text)),
                (Cow::Borrowed(escaped), text != escaped)
            );
        }
    }
}
