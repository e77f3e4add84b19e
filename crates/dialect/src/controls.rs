//! Control tokens in chat text: what a tokenizer would read as a turn's border although somebody merely typed it.

use std::borrow::Cow;

/// Signs that a control token may have between its bars.
const LONGEST: usize = 40;

/// Where the control tokens of a text begin: `<|`, letters, digits and underscores, `|>`.
fn starts(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices("<|").filter_map(|(at, opening)| {
        let inside = text.get(at + opening.len()..)?;
        let length = inside
            .bytes()
            .take(LONGEST + 1)
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let is_token = (1..=LONGEST).contains(&length) && inside.get(length..)?.starts_with("|>");
        is_token.then_some(at)
    })
}

/// Counts the control tokens in a text.
pub(crate) fn count(text: &str) -> u64 {
    starts(text).count() as u64
}

/// The text with U+200B behind the `<` of each control token, and how many there were.
pub(crate) fn escape(text: Cow<'_, str>) -> (Cow<'_, str>, u64) {
    let mut escaped = String::new();
    let mut copied = 0;
    let mut count = 0;
    for start in starts(&text) {
        let split = start + 1;
        escaped.push_str(text.get(copied..split).unwrap_or_default());
        escaped.push('\u{200b}');
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
