//! Known field names of formats.
//!
//! A path may lead through a field whose name is data: a name, an id, an address. Where content must not be
//! quoted, only these known names are shown. A known field that is missing in this list is hidden as well,
//! which is harmless.

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
