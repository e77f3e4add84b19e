//! The normal form of a name, which all its spellings share: without accents, in lower case, with single spaces.
//!
//! Accents are removed in scripts in which they are often omitted (Latin, Greek, Cyrillic); in other scripts a mark makes another letter.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

use crate::fold::fold;

/// A name in normal form.
pub(crate) fn plain_name(name: &str) -> String {
    let folded = fold(name);
    let words: Vec<String> = folded.text.split_whitespace().map(plain_word).collect();
    words.join(" ")
}

/// A word of a folded text in normal form.
pub(crate) fn plain_word(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let mut plain = String::with_capacity(word.len());
    for character in word.chars() {
        if !loses_accents(character) {
            plain.extend(character.to_lowercase());
            continue;
        }
        let letters = std::iter::once(character).nfd().filter(|part| !is_accent(*part));
        for letter in letters.flat_map(char::to_lowercase) {
            match letter {
                'ß' => plain.push_str("ss"),
                'æ' => plain.push_str("ae"),
                'œ' => plain.push_str("oe"),
                'ø' => plain.push('o'),
                'đ' | 'ð' => plain.push('d'),
                'ł' => plain.push('l'),
                'þ' => plain.push_str("th"),
                'ı' => plain.push('i'),
                other => plain.push(other),
            }
        }
    }
    plain
}

/// A name with `ae` for `ä` and so on, in normal form; `None` if that is the same.
pub(crate) fn transcribed_name(name: &str) -> Option<String> {
    let composed: Cow<'_, str> = if name.is_ascii() {
        name.into()
    } else {
        name.nfc().collect::<String>().into()
    };
    let mut transcribed = String::with_capacity(composed.len());
    for character in composed.chars() {
        match character {
            'ä' | 'Ä' => transcribed.push_str("ae"),
            'ö' | 'Ö' | 'ø' | 'Ø' => transcribed.push_str("oe"),
            'ü' | 'Ü' => transcribed.push_str("ue"),
            'å' | 'Å' => transcribed.push_str("aa"),
            other => transcribed.push(other),
        }
    }
    (transcribed != composed).then(|| plain_name(&transcribed))
}

/// Whether a character is an accent that follows its letter.
pub(crate) fn is_accent(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

fn loses_accents(character: char) -> bool {
    matches!(character, '\u{c0}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_a_name_are_compared_as_one() {
        for name in ["Jürgen", "JU\u{308}RGEN", "jurgen", " Jürgen "] {
            assert_eq!(plain_name(name), "jurgen", "{name}");
        }
        assert_eq!(plain_name("Søren Łukasz  Weiß"), "soren lukasz weiss");
        assert_eq!(plain_name("Ёлка Αθηνά"), "елка αθηνα");
        assert_eq!(plain_name("たなか が 김"), "たなか が 김");
    }

    #[test]
    fn umlauts_match_their_two_letter_spelling() {
        assert_eq!(transcribed_name("Jürgen Möß").as_deref(), Some("juergen moess"));
        assert_eq!(transcribed_name("Ju\u{308}rgen").as_deref(), Some("juergen"));
        assert_eq!(transcribed_name("Ann"), None);
        assert_eq!(transcribed_name("José"), None);
    }
}
