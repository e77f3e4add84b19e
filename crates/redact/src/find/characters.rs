//! Character classes and word boundaries for the detectors.

use chatmill_diag::cut;

/// Whether a character can be part of a word.
pub(crate) fn is_word(character: char) -> bool {
    character.is_alphanumeric()
}

/// Whether a character belongs to a script without spaces between words: there, a word can begin and end anywhere.
pub(crate) fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{e00}'..='\u{eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Whether a character next to a value shows that the value is only part of something longer.
pub(super) fn continues(character: Option<char>) -> bool {
    character.is_some_and(|character| character == '_' || is_word(character) && !is_unspaced(character))
}

/// The character before a place.
pub(super) fn before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// The character after a place.
pub(super) fn after(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

/// The two characters after a place.
pub(super) fn two_after(text: &str, at: usize) -> (Option<char>, Option<char>) {
    let mut characters = text.split_at(at).1.chars();
    (characters.next(), characters.next())
}

/// The two characters before a place, the nearer one first.
pub(super) fn two_before(text: &str, at: usize) -> (Option<char>, Option<char>) {
    let mut characters = text.split_at(at).0.chars();
    (characters.next_back(), characters.next_back())
}

/// At most `most` bytes before a place, in small letters.
pub(super) fn small_before(text: &str, at: usize, most: usize) -> Vec<u8> {
    cut::slice(text.as_bytes(), at.saturating_sub(most)..at).to_ascii_lowercase()
}

/// The number of bytes from `at` on that are in a set.
pub(super) fn run(text: &str, at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().split_at(at).1;
    rest.iter().take_while(|byte| belongs(**byte)).count()
}

/// The bytes from `at` on that are in a set; `None` if there are more than `most`.
pub(super) fn short_run(text: &str, at: usize, most: usize, belongs: impl Fn(u8) -> bool) -> Option<&str> {
    let rest = text.as_bytes().get(at..)?;
    let length = rest
        .iter()
        .take(most + 1)
        .take_while(|byte| belongs(**byte))
        .count();
    text.get(at..at + length).filter(|_| length <= most)
}
