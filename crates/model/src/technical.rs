//! Finds technical ids in a text: a bot writes them if it was trained on its prompts.

use std::ops::Range;

use memchr::memchr_iter;

/// The keys of technical ids.
pub const KEYS: [&str; 6] = [
    "chat_id",
    "thread_id",
    "message_id",
    "user_id",
    "reply_to_message_id",
    "reply_to_user_id",
];

/// The common end of all keys.
const END: &str = "_id";

/// The ranges of technical ids in a text: one of the [`KEYS`], `=` or `:`, and a number, as separate words. Spaces around the sign and
/// quotation marks around key and number are allowed.
pub fn ids(text: &str) -> Vec<Range<usize>> {
    let found = memchr_iter(b'_', text.as_bytes()).filter_map(|at| {
        let behind_key = at + END.len();
        text.get(at..behind_key).filter(|end| *end == END)?;
        let start = start_of_key(text.get(..behind_key)?)?;
        let length = number_behind(text.get(behind_key..)?)?;
        Some(start..behind_key + length)
    });
    found.collect()
}

/// The start of the key at the end of a text, with its quotation mark.
fn start_of_key(text: &str) -> Option<usize> {
    let is_whole =
        |before: &str| !before.ends_with(|character: char| character.is_alphanumeric() || character == '_');
    let mut before = KEYS.iter().filter_map(|key| text.strip_suffix(key));
    let before = before.find(|before| is_whole(before))?;
    Some(before.len() - usize::from(before.ends_with('"')))
}

/// The length of sign and number at the start of a text.
fn number_behind(text: &str) -> Option<usize> {
    let blanks = |text: &'_ str| text.len() - text.trim_start_matches(' ').len();
    let rest = text.strip_prefix('"').unwrap_or(text);
    let rest = rest.get(blanks(rest)..)?.strip_prefix(['=', ':'])?;
    let rest = rest.get(blanks(rest)..)?;
    let quoted = rest.strip_prefix('"');
    let number = quoted.unwrap_or(rest);
    let number = number.strip_prefix('-').unwrap_or(number);
    let after = number.trim_start_matches(|character: char| character.is_ascii_digit());
    let after = match quoted {
        Some(_) => after.strip_prefix('"')?,
        None => after,
    };
    let is_whole = !after.starts_with(|character: char| character.is_alphanumeric() || character == '_');
    let has_digits =
        after.len() < number.len() && number.starts_with(|character: char| character.is_ascii_digit());
    (is_whole && has_digits).then_some(text.len() - after.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        ids(text)
            .into_iter()
            .filter_map(|range| text.get(range))
            .collect()
    }

    #[test]
    fn a_known_key_with_a_number_is_a_technical_id() {
        for (text, ids) in [
            (
                "ok user_id=55 message_id: 77",
                vec!["user_id=55", "message_id: 77"],
            ),
            ("reply_to_message_id = -5.", vec!["reply_to_message_id = -5"]),
            (r#"{"chat_id": -100}"#, vec![r#""chat_id": -100"#]),
            (r#"thread_id="12" so"#, vec![r#"thread_id="12""#]),
        ] {
            assert_eq!(found(text), ids, "{text}");
        }
    }

    #[test]
    fn a_key_without_a_number_or_inside_a_word_is_no_technical_id() {
        for text in [
            "what is a user_id?",
            "my_user_id: 1",
            "user_ids: 1",
            "user_id=5a",
            "user_id: \"5",
            "user_id=",
            "user_id is 5",
            "order_id=5",
            "ключuser_id=5",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }
}
