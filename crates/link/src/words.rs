//! Words of a text, as texts are compared by: runs of letters and digits in small letters, in the compatibility form of Unicode
//! (NFKC, UAX #15). Everything else separates words; in scripts that write no spaces each character is a word.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Visits the words of a text in order.
pub fn each_word(text: &str, visit: &mut impl FnMut(&str)) {
    for piece in small_letters(text).split(|character: char| !character.is_alphanumeric()) {
        let mut rest = piece;
        while let Some(character) = rest.chars().next() {
            let end = if stands_alone(character) {
                character.len_utf8()
            } else if rest.is_ascii() {
                rest.len()
            } else {
                rest.find(stands_alone).unwrap_or(rest.len())
            };
            let (word, next) = rest.split_at(end);
            visit(word);
            rest = next;
        }
    }
}

/// A text in NFKC and in small letters.
fn small_letters(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            text.to_ascii_lowercase().into()
        } else {
            text.into()
        };
    }
    match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => text.to_lowercase().into(),
        IsNormalized::No | IsNormalized::Maybe => text.nfkc().collect::<String>().to_lowercase().into(),
    }
}

/// Whether a character belongs to a script that writes no spaces: Thai to Khmer, kana, Han.
fn stands_alone(character: char) -> bool {
    matches!(character, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}
