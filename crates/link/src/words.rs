//! The words of a text, for comparing texts: runs of letters and digits in small letters, in the compatibility form of Unicode (NFKC, UAX
//! #15). Everything else separates words; in scripts without spaces each character is a word.
//!
//! Most text is ASCII, or consists of letters that are already normalised. It is cut at ASCII separators, since nothing is composed across
//! them; the tables of Unicode are consulted only for the rest.

use std::ops::ControlFlow;

use chatmill_diag::cut;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Visits the words of a text in order.
pub fn each_word(text: &str, visit: &mut impl FnMut(&str)) {
    let _: ControlFlow<()> = try_each_word(text, &mut |word| {
        visit(word);
        ControlFlow::Continue(())
    });
}

/// Visits the words of a text in order, until `visit` breaks.
pub(crate) fn try_each_word<B>(text: &str, visit: &mut impl FnMut(&str) -> ControlFlow<B>) -> ControlFlow<B> {
    // Whether a capital sigma ends a word depends on text beyond the separators.
    let mut word = String::new();
    if text.contains('Σ') {
        return each_word_by_tables(text, &mut word, visit);
    }
    let mut rest = text.as_bytes();
    let mut start = 0;
    while !rest.is_empty() {
        let mut kinds = 0;
        let length = rest.iter().position(|byte| {
            let kind = kind(*byte);
            kinds |= kind;
            kind == SEPARATOR
        });
        let length = length.unwrap_or(rest.len());
        let piece = cut::text(text, start..start + length);
        if kinds & OTHER != 0 {
            each_word_of_piece(piece, &mut word, visit)?;
        } else if kinds & CAPITAL != 0 {
            word.clear();
            word.push_str(piece);
            word.make_ascii_lowercase();
            visit(&word)?;
        } else if length > 0 {
            visit(piece)?;
        }
        start += length + 1;
        rest = rest
            .split_at_checked(length + 1)
            .map_or(&[], |(_, behind)| behind);
    }
    ControlFlow::Continue(())
}

/// Kinds of bytes.
const SEPARATOR: u8 = 1;
const SMALL: u8 = 2;
const CAPITAL: u8 = 4;
const OTHER: u8 = 8;

/// The kind of a byte.
const fn kind(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | b'0'..=b'9' => SMALL,
        b'A'..=b'Z' => CAPITAL,
        0x80.. => OTHER,
        _ => SEPARATOR,
    }
}

/// Visits the words of a piece without ASCII separators.
fn each_word_of_piece<B>(
    piece: &str,
    word: &mut String,
    visit: &mut impl FnMut(&str) -> ControlFlow<B>,
) -> ControlFlow<B> {
    if piece.chars().all(|character| simple(character).is_some()) {
        return each_word_of(piece.chars().filter_map(simple), word, visit);
    }
    each_word_by_tables(piece, word, visit)
}

/// Visits the words of any text.
fn each_word_by_tables<B>(
    text: &str,
    word: &mut String,
    visit: &mut impl FnMut(&str) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let small = match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => text.to_lowercase(),
        IsNormalized::No | IsNormalized::Maybe => text.nfkc().collect::<String>().to_lowercase(),
    };
    let by_tables = |character: char| match (character.is_alphanumeric(), is_unspaced(character)) {
        (false, _) => CharacterKind::Separator,
        (true, false) => CharacterKind::OfWord(character),
        (true, true) => CharacterKind::Word(character),
    };
    each_word_of(small.chars().map(by_tables), word, visit)
}

/// Visits the words of some characters.
fn each_word_of<B>(
    characters: impl Iterator<Item = CharacterKind>,
    word: &mut String,
    visit: &mut impl FnMut(&str) -> ControlFlow<B>,
) -> ControlFlow<B> {
    word.clear();
    for character in characters {
        if let CharacterKind::OfWord(lower) = character {
            word.push(lower);
            continue;
        }
        if !word.is_empty() {
            visit(word)?;
            word.clear();
        }
        if let CharacterKind::Word(lower) = character {
            word.push(lower);
            visit(word)?;
            word.clear();
        }
    }
    if word.is_empty() {
        ControlFlow::Continue(())
    } else {
        visit(word)
    }
}

/// The role of a character in words.
enum CharacterKind {
    /// A letter or digit of a word, in small letters.
    OfWord(char),
    /// A word by itself.
    Word(char),
    /// A separator of words.
    Separator,
}

/// The role of a character if it needs no table: ASCII, Latin and Cyrillic letters, kana, Han, punctuation, arrows and emoji. NFKC does not
/// change these letters next to any of these characters, and it turns separators only into separators.
fn simple(character: char) -> Option<CharacterKind> {
    let lower = |distance: u32| char::from_u32(character as u32 + distance).map(CharacterKind::OfWord);
    match character {
        'a'..='z' | '0'..='9' | 'ß'..='ö' | 'ø'..='ÿ' | 'а'..='џ' => {
            Some(CharacterKind::OfWord(character))
        }
        'A'..='Z' | 'À'..='Ö' | 'Ø'..='Þ' | 'А'..='Я' => lower(0x20),
        'Ѐ'..='Џ' => lower(0x50),
        // Pairs: a capital, then its small letter.
        'Ā'..='į' | 'Ŋ'..='ŷ' | 'Ҋ'..='ҿ' => lower(1 - character as u32 % 2),
        'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ー'..='ヾ' | '\u{4e00}'..='\u{9fff}' => {
            Some(CharacterKind::Word(character))
        }
        '\u{a0}'..='§'
        | '«'
        | '»'
        | '·'
        | '\u{200b}'..='\u{200f}'
        | '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{205e}'
        | '\u{2190}'..='\u{23ff}'
        | '\u{2500}'..='\u{2767}'
        | '、'
        | '。'
        | '〈'..='】'
        | '\u{fe0f}'
        | '！'..='／'
        | '：'..='＠'
        | '\u{1f300}'..='\u{1faff}' => Some(CharacterKind::Separator),
        _ => None,
    }
}

/// Whether a character belongs to a script that writes no spaces: Thai to Khmer, kana, Han.
fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}
