//! Words that formats call their fields by.
//!
//! A path may lead through a field that somebody made up: a name, an id, an address. Where content must not be quoted, only these
//! words are shown. A field that a format has and that is missing here is hidden, too, which costs a reader a word and nobody a secret.

use std::sync::LazyLock;

/// Whether a word is the name of a field in some format.
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
