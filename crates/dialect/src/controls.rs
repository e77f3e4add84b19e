//! Control tokens in chat text: what a tokenizer would read as a turn's border although somebody merely typed it.

use std::borrow::Cow;

/// Signs that a control token may have between its bars.
const LONGEST: usize = 40;

/// Where the control tokens of a text begin: `<|`, letters, digits and underscores, `|>`.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("<|")
        .filter_map(|(at, _)| is_token(text.get(at + 1..)?).then_some(at))
}

/// Whether text goes on like a control token behind its `<`.
fn is_token(text: &str) -> bool {
    let Some(inside) = text.strip_prefix('|') else {
        return false;
    };
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = inside.bytes().take(LONGEST + 1).take_while(is_sign).count();
    (1..=LONGEST).contains(&length) && inside.get(length..).is_some_and(|rest| rest.starts_with("|>"))
}

/// The control tokens that a text spells.
pub(crate) fn spelled(text: &str) -> impl Iterator<Item = &str> {
    starts(text).filter_map(|at| {
        let tail = text.get(at..)?;
        let end = tail.find("|>")?;
        tail.get(..end + 2)
    })
}

/// Counts the control tokens in a text.
pub(crate) fn count(text: &str) -> u64 {
    starts(text).count() as u64
}

/// What stands behind the `<` of a control token that is none.
const ESCAPE: char = '\u{200b}';

/// Where the `<` of each control token of a text stands, of those too that are escaped already: one sign more tells them
/// apart from those that are escaped here.
fn openings(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices('<').filter_map(|(at, _)| {
        let inside = text.get(at + 1..)?.trim_start_matches(ESCAPE);
        is_token(inside).then_some(at)
    })
}

/// The text with U+200B behind the `<` of each control token, and how many there were.
pub(crate) fn escape(text: Cow<'_, str>) -> (Cow<'_, str>, u64) {
    let mut escaped = String::new();
    let mut copied = 0;
    let mut count = 0;
    for start in openings(&text) {
        let split = start + 1;
        escaped.push_str(text.get(copied..split).unwrap_or_default());
        escaped.push(ESCAPE);
        copied = split;
        count += 1;
    }
    if count == 0 {
        return (text, 0);
    }
    escaped.push_str(text.get(copied..).unwrap_or_default());
    (Cow::Owned(escaped), count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> (String, u64) {
        let (text, count) = escape(Cow::Borrowed(text));
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
        let long = format!("<|{}|>", "x".repeat(LONGEST + 1));
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
        assert_eq!(count(&format!("<|{}|>", "x".repeat(LONGEST))), 1);
    }

    #[test]
    fn an_escaped_text_holds_no_control_token() {
        let (text, _) = escaped("<|<|a|>|><|a|><|b_2|>");
        assert_eq!(count(&text), 0);
    }
}
