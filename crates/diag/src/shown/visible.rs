//! Untrusted text for a terminal, a page or a card: invisible and misleading characters are written as escapes.
//!
//! A control character can move the cursor or end a line, a direction mark reorders the text after it, and the two separators of Unicode
//! break a line for some readers and not for others. Joiners are kept: scripts and emoji need them.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is invisible, or changes the order or the line of other characters.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{061c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// The text on one line, with `\n`, `\t`, `\u{1b}` instead of hidden characters.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden, |character, out| {
        out.extend(character.escape_default());
    })
}

/// The same for a text that may contain line breaks and tabulators.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    let is_meant = |character| matches!(character, '\n' | '\t');
    escaped(
        text,
        |character| is_hidden(character) && !is_meant(character),
        |character, out| out.extend(character.escape_default()),
    )
}

/// The JSON of the same value, with escapes such as `\u202e` for invisible characters in its strings.
///
/// White space between values is kept; JSON allows no other control character outside a string, and no raw one below U+0020 inside.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    escaped(
        json,
        |character| is_hidden(character) && !matches!(character, '\n' | '\t' | '\r'),
        |character, out| {
            // All hidden characters are in the basic plane; writing to a String cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(character));
        },
    )
}

fn escaped(text: &str, is_meant: impl Fn(char) -> bool, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.chars().any(&is_meant) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_meant(character) {
            write(character, &mut out);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIDDEN: &str = "\0\u{7}\u{1b}\u{7f}\u{85}\u{9b}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\
                          \u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\r";

    #[test]
    fn hidden_characters_are_written_as_escapes() {
        for shown in [visible(HIDDEN), visible_lines(HIDDEN)] {
            assert!(!shown.chars().any(is_hidden), "{shown}");
            assert!(
                shown.starts_with("\\u{0}\\u{7}\\u{1b}\\u{7f}\\u{85}\\u{9b}\\u{61c}"),
                "{shown}"
            );
        }
    }

    #[test]
    fn plain_text_of_every_script_is_not_changed() {
        // An emoji of a family contains joiners.
        for plain in ["привіт", "名前", "שלום", "नमस्ते", "👩\u{200d}👧", "a\\n"]
        {
            assert!(matches!(visible(plain), Cow::Borrowed(same) if same == plain));
        }
    }

    #[test]
    fn lines_stay_lines_only_where_they_are_meant() {
        assert_eq!(visible("a\nb\tc"), "a\\nb\\tc");
        assert_eq!(visible_lines("a\nb\tc\r"), "a\nb\tc\\r");
    }

    #[test]
    fn json_with_hidden_characters_escaped_parses_to_the_same_value() {
        let value = serde_json::json!({ "name": HIDDEN, "lines": "a\nb" });
        let written = serde_json::to_string_pretty(&value).unwrap();
        let shown = visible_json(&written);
        assert!(
            !shown
                .chars()
                .any(|character| is_hidden(character) && character != '\n')
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
