//! The names of fields in known formats.
//!
//! A path may contain a field with a name that is data: a person, an id, an address. Where content must not be quoted, only the names
//! listed here are shown. A known field that is missing here is hidden too, which is harmless.

use std::sync::LazyLock;

/// Whether a word is the name of a field in a known format.
pub fn is_known(word: &str) -> bool {
    FIELDS.binary_search(&word).is_ok()
}

/// The words, sorted.
static FIELDS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("fields.txt").lines().collect());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_stand_once() {
        assert!(FIELDS.is_sorted_by(|one, other| one < other));
        assert!(is_known("conversation_list") && is_known("tool_calls") && !is_known("ann"));
    }
}
