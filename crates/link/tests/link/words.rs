//! Words of texts: the short ways give the same words as the tables of Unicode.

use chatmill_link::each_word;
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

/// The words by the definition alone.
fn defined(text: &str) -> Vec<String> {
    let is_unspaced = |character| {
        matches!(character, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
    };
    let small = text.nfkc().collect::<String>().to_lowercase();
    let pieces = small.split(|character: char| !character.is_alphanumeric());
    let words = pieces.flat_map(|piece| {
        piece.split_inclusive(is_unspaced).flat_map(move |part| {
            let last = part
                .char_indices()
                .next_back()
                .filter(|(_, character)| is_unspaced(*character));
            let (before, alone) = part.split_at(last.map_or(part.len(), |(start, _)| start));
            [before.to_owned(), alone.to_owned()]
        })
    });
    words.filter(|word| !word.is_empty()).collect()
}

fn found(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each_word(text, &mut |word| words.push(word.to_owned()));
    words
}

#[test]
fn every_character_is_what_the_tables_say_it_is_between_letters_and_before_a_mark() {
    let ranges = [
        '\0'..='\u{27ff}',
        '\u{3000}'..='\u{30ff}',
        '\u{fe00}'..='\u{ffff}',
        '\u{1f000}'..='\u{1fbff}',
    ];
    let edges = [
        '\u{3400}',
        '\u{4dff}',
        '\u{4e00}',
        '\u{9fff}',
        '\u{a000}',
        '\u{20000}',
    ];
    for character in ranges.into_iter().flatten().chain(edges) {
        for text in [format!("Aé{character}b7"), format!("e {character}\u{301}.x")] {
            assert_eq!(found(&text), defined(&text), "{text:?}");
        }
    }
}

proptest! {
    #![proptest_config(chatmill_drawn::law(256))]

    #[test]
    fn words_of_drawn_texts_are_those_of_the_definition(text in "[aB7éЖїΣς会かｶ゙がー①ﬁ …。'._\u{301}\u{200d}🙂\n-]{0,24}") {
        prop_assert_eq!(found(&text), defined(&text));
    }
}
