//! Changes to text that dialects prescribe; a function borrows its input where there is nothing to change.

use std::borrow::Cow;

use chatmill_diag::cut;
use chatmill_model::{bytes, technical};

/// Applies a change to a text that may be owned already.
pub(crate) fn change<'a>(text: Cow<'a, str>, with: impl for<'b> Fn(&'b str) -> Cow<'b, str>) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => with(text),
        Cow::Owned(text) => {
            let changed = match with(&text) {
                Cow::Borrowed(same) if same.len() == text.len() => None,
                changed => Some(changed.into_owned()),
            };
            Cow::Owned(changed.unwrap_or(text))
        }
    }
}

/// Removes U+0000–08, 0B, 0C and 0E–1F; tab, line feed and carriage return stay.
pub(crate) fn without_controls(text: &str) -> Cow<'_, str> {
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "without branches, blocks of bytes are compared at once"
    )]
    const fn is_control(byte: u8) -> bool {
        (byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r')
    }
    if bytes::any(text.as_bytes(), is_control) {
        let stays = |character: &char| !u8::try_from(*character).is_ok_and(is_control);
        Cow::Owned(text.chars().filter(stays).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// White space as ECMAScript defines it: with U+FEFF, without U+0085.
pub(crate) const fn is_script_space(character: char) -> bool {
    matches!(
        character,
        '\t'..='\r'
            | ' '
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

/// Removes ECMAScript white space from both ends.
pub(crate) fn trim_script_space(text: &str) -> &str {
    text.trim_matches(is_script_space)
}

const fn is_line_break(character: char) -> bool {
    matches!(
        character,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Whether a line break may begin with a byte; those of more than one byte begin with 0xC2 or 0xE2.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches, blocks of bytes are compared at once"
)]
const fn may_break(byte: u8) -> bool {
    (byte.wrapping_sub(b'\n') < 4) | (byte == 0xc2) | (byte == 0xe2)
}

/// Turns each line break, of whatever kind, into one space; CR LF is one line break.
pub(crate) fn on_one_line(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    // The text before `copied` is written; the text before `seen` is examined.
    let (mut copied, mut seen) = (0, 0);
    loop {
        let (_, rest) = text.split_at(seen);
        let Some(at) = bytes::position(rest.as_bytes(), may_break) else {
            break;
        };
        let start = seen + at;
        let Some(character) = text.split_at(start).1.chars().next() else {
            break;
        };
        seen = start + character.len_utf8();
        if is_line_break(character) {
            if copied == 0 {
                out.reserve(text.len());
            }
            let before = cut::text(text, copied..start);
            let ends_return =
                character == '\n' && start > 0 && text.as_bytes().get(start - 1) == Some(&b'\r');
            out.push_str(before);
            if !ends_return {
                out.push(' ');
            }
            copied = seen;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.split_at(copied).1);
    Cow::Owned(out)
}

/// Counts the paragraphs of a text after the first that begin with one of `starts`.
pub(crate) fn paragraphs_like(text: &str, starts: &[&str]) -> u64 {
    let mut count = 0;
    let mut rest = text;
    while let Some((_, line)) = rest.split_once('\n') {
        rest = line.strip_prefix('\n').unwrap_or(line);
        let begins = rest.len() < line.len() && starts.iter().any(|start| rest.starts_with(start));
        count += u64::from(begins);
    }
    count
}

/// Collapses runs of white space to one space and cuts to `limit` code points; returns whether it was cut.
pub(crate) fn excerpt(text: &str, limit: usize) -> (String, bool) {
    // A code point has four bytes at most.
    let mut out = String::with_capacity(text.len().min(4 * limit));
    let mut length = 0;
    for word in text.split_whitespace() {
        if length > 0 {
            out.push(' ');
            length += 1;
        }
        for sign in word.chars() {
            if length >= limit {
                out.truncate(out.trim_end().len());
                return (out, true);
            }
            out.push(sign);
            length += 1;
        }
    }
    (out, false)
}

/// Removes metadata of its prompts that a bot printed: `[meta] key=value …` blocks with the white space after them, and technical ids
/// outside such blocks.
pub(crate) fn without_metadata(text: &str) -> Cow<'_, str> {
    change(without_lines(text), without_ids)
}

/// Removes technical ids with the blanks after them; at the end of a line also the blanks before them.
fn without_ids(text: &str) -> Cow<'_, str> {
    let ids = technical::ids(text);
    if ids.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for id in ids {
        out.push_str(cut::text(text, copied..id.start));
        let (_, behind) = text.split_at(id.end);
        let next = behind.trim_start_matches([' ', '\t']);
        if next.is_empty() || next.starts_with(['\n', '\r']) {
            out.truncate(out.trim_end_matches([' ', '\t']).len());
        }
        copied = text.len() - next.len();
    }
    out.push_str(text.split_at(copied).1);
    Cow::Owned(out)
}

fn without_lines(text: &str) -> Cow<'_, str> {
    const MARK: &str = "[meta]";
    if !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(MARK) {
        out.push_str(before);
        let tail = skip_pairs(after);
        if tail.len() == after.len() {
            out.push_str(MARK);
            rest = after;
        } else {
            rest = tail.trim_start();
        }
    }
    out.push_str(rest);
    if out.len() == text.len() {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(out)
    }
}

/// Returns the text after the ` key=value` and ` key="value"` pairs at its start.
fn skip_pairs(text: &str) -> &str {
    let mut rest = text;
    loop {
        let word = rest.trim_start_matches([' ', '\t']);
        // Not a search for `=`: in a long text with many marks and no pairs, each search would run to the end.
        let value =
            word.trim_start_matches(|character: char| character.is_ascii_lowercase() || character == '_');
        let has_key = value.len() < word.len();
        let Some(value) = value.strip_prefix('=') else {
            return rest;
        };
        if word.len() == rest.len() || !has_key {
            return rest;
        }
        rest = match value.strip_prefix('"') {
            Some(quoted) => match end_of_quote(quoted) {
                Some(after) => after,
                None => return rest,
            },
            None => value.trim_start_matches(|character: char| !character.is_whitespace()),
        };
    }
}

fn end_of_quote(text: &str) -> Option<&str> {
    let mut escaped = false;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' if !escaped => return Some(characters.as_str()),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_go_and_tab_and_line_breaks_stay() {
        assert_eq!(
            without_controls("a\u{0}b\tc\nd\re\u{b}f\u{c}g\u{1f}h\u{7f}\u{80}"),
            "ab\tc\nd\refgh\u{7f}\u{80}"
        );
        assert!(matches!(without_controls("plain\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn trimming_follows_ecmascript_and_not_unicode() {
        assert_eq!(trim_script_space("\u{feff} \u{a0}x\u{3000}\u{2028} "), "x");
        assert_eq!(trim_script_space("\u{85}x\u{85}"), "\u{85}x\u{85}");
    }

    #[test]
    fn each_line_break_becomes_one_space() {
        assert_eq!(on_one_line("a\r\nb\nc\rd\n\ne\u{2028}f"), "a b c d  e f");
        assert!(matches!(on_one_line("a b"), Cow::Borrowed(_)));
    }

    #[test]
    fn an_excerpt_is_collapsed_and_cut_by_code_points() {
        assert_eq!(excerpt("  a \n\t b  ", 200), ("a b".to_owned(), false));
        assert_eq!(excerpt("😀😀 😀", 2), ("😀😀".to_owned(), true));
        assert_eq!(excerpt("abc def", 5), ("abc d".to_owned(), true));
        assert_eq!(excerpt("abc def", 4), ("abc".to_owned(), true));
        assert_eq!(excerpt("abc def", 7), ("abc def".to_owned(), false));
    }

    #[test]
    fn leaked_blocks_go_and_the_word_alone_stays() {
        assert_eq!(without_metadata("Hi [meta] name=\"a b\" there"), "Hi there");
        assert_eq!(without_metadata("[meta] chat_id=-1 name=\"q\\\"r\"\nНі."), "Ні.");
        assert_eq!(without_metadata("write [meta] yourself"), "write [meta] yourself");
        assert_eq!(without_metadata("x [meta] a=1 y [meta] b=2"), "x y ");
        assert_eq!(
            without_metadata("[meta] =1 [meta] A=1 [meta]a=1"),
            "[meta] =1 [meta] A=1 [meta]a=1"
        );
    }

    #[test]
    fn technical_ids_go_and_take_no_line_break_along() {
        assert_eq!(without_metadata("ok user_id=55 message_id: 77"), "ok");
        assert_eq!(without_metadata("user_id: 123 and text"), "and text");
        assert_eq!(without_metadata("one chat_id=-1 \ntwo"), "one\ntwo");
        assert_eq!(without_metadata("[meta] chat_id=1 Hi user_id=2!"), "Hi !");
        assert_eq!(without_metadata("a user_id has digits"), "a user_id has digits");
        assert_eq!(without_metadata("a chat_id=\"1\"\"user_id\"=2 b"), "a b");
    }

    #[test]
    fn a_change_keeps_borrowed_text_borrowed() {
        assert!(matches!(
            change(Cow::Borrowed("abc"), without_controls),
            Cow::Borrowed("abc")
        ));
        assert_eq!(change(Cow::Owned("a\u{1}".to_owned()), without_controls), "a");
    }
}
