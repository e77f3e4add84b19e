//! The `[meta]` line that gryag puts before a message, and the `[speaker …]` line of October 2025, read back.
//!
//! A line is `[meta]` and pairs: `key=value`, or `key="value"` where `\"` is a quotation mark. It counts as
//! metadata only when the whole text has this form; anything else is text of a message. The bot's own parser
//! knows no escapes: it cuts a name at the first quotation mark and reads the rest as further keys. Some
//! texts fit only that parser, because a backslash before the closing mark is not escaped; these are read
//! that way.

use chatmill_diag::{Finding, codes};
use chatmill_intake::json::Value;
use chatmill_model::{Part, technical};

use crate::base::{Site, texts::escapes::ESCAPE};

/// The mark at the beginning of a line.
const MARK: &str = "[meta]";

/// Keys and values of a line, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meta(Vec<(String, String)>);

impl Meta {
    /// Reads a `[meta]` line, if the text is one.
    pub(crate) fn read(text: &str) -> Option<Self> {
        Self::pairs(text.strip_prefix(MARK)?)
    }

    /// Reads a `[speaker …]` line, if the text is one; its `id` is the user's.
    pub(crate) fn read_speaker(text: &str) -> Option<Self> {
        let line = text.strip_prefix("[speaker")?.trim_end().strip_suffix(']')?;
        let Self(mut pairs) = Self::pairs(line).or_else(|| pairs_in_order(line).map(Self))?;
        for (key, _) in &mut pairs {
            if key == "id" {
                "user_id".clone_into(key);
            }
        }
        Some(Self(pairs))
    }

    /// Metadata that is stored as keys and values, not as a line.
    pub(crate) fn of(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    fn pairs(text: &str) -> Option<Self> {
        [Escapes::All, Escapes::Inside, Escapes::None]
            .into_iter()
            .find_map(|escapes| pairs(text, escapes))
            .map(Self)
    }

    /// The value of a key, unless it is empty.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(name, _)| name == key);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// The pairs with keys other than `known`.
    pub(crate) fn rest<'m>(&'m self, known: &'m [&str]) -> impl Iterator<Item = &'m (String, String)> {
        self.0.iter().filter(|(key, _)| !known.contains(&key.as_str()))
    }
}

/// Removes the U+200B after the opening bracket of a text, which keeps ordinary text from looking like a
/// line.
pub(crate) fn unescape(text: &mut String) {
    let inside = text.strip_prefix('[').filter(|rest| rest.starts_with(ESCAPE));
    let bare = inside.map(|rest| rest.trim_start_matches(ESCAPE));
    if bare.is_some_and(|bare| bare.starts_with("meta]") || bare.starts_with("speaker")) {
        text.remove(1);
    }
}

/// Which quotation marks after a backslash belong to a value.
#[derive(Clone, Copy, PartialEq)]
enum Escapes {
    /// All of them.
    All,
    /// Those followed neither by the end nor by a further key: after a value that ends in a backslash, the
    /// mark closes it.
    Inside,
    /// None of them.
    None,
}

impl Escapes {
    fn covers(self, after: &str) -> bool {
        match self {
            Self::All => true,
            Self::Inside => !after.trim_start().is_empty() && !begins_with_pair(after, is_sign_of_key),
            Self::None => false,
        }
    }
}

/// Whether a character can be part of a key: any word may be a key, as for the bot's own parser; whether a
/// key has a meaning is decided elsewhere.
fn is_sign_of_key(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// Whether a text begins with a blank, a key of such characters and `=`. Only these are examined, since the
/// function may be called at each character.
fn begins_with_pair(text: &str, is_sign: fn(char) -> bool) -> bool {
    let word = text.trim_start();
    let after = word.trim_start_matches(is_sign);
    word.len() < text.len() && after.len() < word.len() && after.starts_with('=')
}

fn pairs(text: &str, escapes: Escapes) -> Option<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    let mut rest = text;
    loop {
        let word = rest.trim_start();
        if word.is_empty() {
            return Some(pairs);
        }
        if word.len() == rest.len() {
            return None;
        }
        let (key, value) = word.split_once('=')?;
        if key.is_empty() || !key.chars().all(is_sign_of_key) {
            return None;
        }
        let (value, after) = if let Some(quoted) = value.strip_prefix('"') {
            quoted_value(quoted, escapes)?
        } else {
            let end = value.find(char::is_whitespace).unwrap_or(value.len());
            let (value, after) = value.split_at(end);
            (value.to_owned(), after)
        };
        pairs.push((key.to_owned(), value));
        rest = after;
    }
}

/// The pairs of a `[speaker …]` line by the order of its keys, because names keep bare quotation marks there.
fn pairs_in_order(line: &str) -> Option<Vec<(String, String)>> {
    let mut rest = line;
    let mut found = Vec::new();
    if let Some((before, value)) = rest.rsplit_once(" is_bot=") {
        found.push(("is_bot".to_owned(), value.to_owned()));
        rest = before;
    }
    for (key, opening) in [("username", " username=\""), ("name", " name=\"")] {
        if let Some((before, value)) = rest.split_once(opening) {
            found.push((key.to_owned(), value.strip_suffix('"')?.to_owned()));
            rest = before;
        }
    }
    let mut pairs = pairs(rest, Escapes::None)?;
    pairs.extend(found.into_iter().rev());
    Some(pairs)
}

/// A value after its opening quotation mark, and what follows the closing one.
fn quoted_value(text: &str, escapes: Escapes) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once('"')?;
        value.push_str(before);
        if before.ends_with('\\') && escapes.covers(after) {
            value.pop();
            value.push('"');
            rest = after;
            continue;
        }
        return Some((value, after));
    }
}

/// Reports metadata that the model wrote into its own text; `holder` contains the text, at `suffix` in the
/// message.
pub(crate) fn find_leak(parts: &[Part], suffix: &str, holder: Value<'_>, site: &mut Site<'_>) {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        _ => None,
    });
    let count = texts.filter(|text| is_within(text)).count() as u64;
    if count > 0 {
        let text = "the model's text holds metadata that was meant for the model only";
        let mut finding = Finding::new(&codes::LEAKED_METADATA, text);
        finding.count = count;
        site.push(finding, suffix, holder);
    }
}

/// Whether a text contains metadata: a line, or one of its ids with a number (`user_id: 123`).
fn is_within(text: &str) -> bool {
    holds_line(text) || !technical::ids(text).is_empty()
}

/// Whether the text contains `[meta]` with at least one pair after it.
fn holds_line(text: &str) -> bool {
    text.match_indices(MARK).any(|(at, _)| {
        let after = text.get(at + MARK.len()..).unwrap_or_default();
        begins_with_pair(after, |sign| sign.is_ascii_lowercase() || sign == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        Meta::read(text).unwrap().0
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn an_escaped_quotation_mark_belongs_to_the_value() {
        assert_eq!(
            read(r#"[meta] user_id=1 name="A \" user_id=77" username="@u""#),
            owned(&[("user_id", "1"), ("name", "A \" user_id=77"), ("username", "@u")])
        );
    }

    #[test]
    fn a_backslash_at_the_end_of_a_value_is_one() {
        assert_eq!(
            read(r#"[meta] name="back\" username="@u""#),
            owned(&[("name", "back\\"), ("username", "@u")])
        );
    }

    #[test]
    fn a_value_with_a_mark_inside_may_end_in_a_backslash() {
        assert_eq!(
            read(r#"[meta] name="a \" b\" reply_excerpt="\" c \""#),
            owned(&[("name", "a \" b\\"), ("reply_excerpt", "\" c \\")])
        );
    }

    #[test]
    fn a_line_with_anything_but_pairs_is_no_metadata() {
        for text in [
            "[meta] chat_id=1 Hello",
            "[meta]chat_id=1",
            " [meta] chat_id=1",
            "[meta] name=\"open",
            "[meta] =1",
            "Just text",
        ] {
            assert_eq!(Meta::read(text), None, "{text}");
        }
        assert_eq!(read("[meta]"), []);
    }

    #[test]
    fn a_speaker_line_has_its_pairs_in_brackets() {
        let line = Meta::read_speaker("[speaker role=user id=5 name=\"Ann\" is_bot=0]").unwrap();
        assert_eq!((line.get("user_id"), line.get("name")), (Some("5"), Some("Ann")));
        for text in [
            "[speaker of the house] said",
            "[speaker of the house]",
            "[speaker name=\"open]",
        ] {
            assert_eq!(Meta::read_speaker(text), None, "{text}");
        }
    }

    #[test]
    fn names_in_a_speaker_line_keep_bare_quotation_marks() {
        let line = r#"[speaker role=user id=abc name="A "q" b" username="@a" is_bot=0]"#;
        assert_eq!(
            Meta::read_speaker(line).unwrap().0,
            owned(&[
                ("role", "user"),
                ("user_id", "abc"),
                ("name", "A \"q\" b"),
                ("username", "@a"),
                ("is_bot", "0"),
            ])
        );
    }

    #[test]
    fn a_leak_is_the_mark_with_a_pair() {
        assert!(is_within("Hi [meta] name=\"a b\" there"));
        assert!(!is_within("write [meta] yourself"));
        assert!(!is_within("[meta]"));
    }

    #[test]
    fn an_id_with_a_number_is_a_leak_too() {
        assert!(is_within("user_id: 123 and text"));
        assert!(!is_within("what is a user_id?"));
    }

    #[test]
    fn a_pair_of_any_key_leaves_a_line_a_line() {
        assert_eq!(
            read("[meta] chat_id=1 Foo=1 name=\"A\""),
            owned(&[("chat_id", "1"), ("Foo", "1"), ("name", "A")])
        );
    }

    #[test]
    fn escaped_text_is_unescaped() {
        for (text, expected) in [
            ("[\u{200b}meta] user_id=1", "[meta] user_id=1"),
            ("[\u{200b}\u{200b}speaker id=1]", "[\u{200b}speaker id=1]"),
            ("[\u{200b}x]", "[\u{200b}x]"),
            ("[meta] user_id=1", "[meta] user_id=1"),
        ] {
            let mut text = text.to_owned();
            unescape(&mut text);
            assert_eq!(text, expected);
        }
    }
}
