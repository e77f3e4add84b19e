//! Compares the Unicode tables of the reference's engine with those here, character by character.
//!
//! tiktoken-rs skips text that its pattern does not match. With a class as the pattern and single bytes as tokens, the text that it decodes
//! again consists of the characters that it takes for members of the class.

use rustc_hash::FxHashMap;
use tiktoken_rs::CoreBPE;

use crate::split::classes::{Classes, Kind, Set};

fn members(class: &str, text: &str) -> String {
    let bytes = (0..=255_u8).map(|byte| (vec![byte], u32::from(byte))).collect();
    let reference = CoreBPE::new(bytes, FxHashMap::default(), class).unwrap();
    let tokens = reference.encode_ordinary(text);
    String::from_utf8(tokens.into_iter().map(|token| token as u8).collect()).unwrap()
}

#[test]
fn every_character_is_in_the_classes_that_the_reference_sees_it_in() {
    let all: String = ('\0'..=char::MAX).collect();
    for (class, set) in [
        (r"[\p{Lu}\p{Lt}]", Set::of(&[Kind::Upper])),
        (r"\p{Ll}", Set::of(&[Kind::Lower])),
        (r"[\p{Lm}\p{Lo}]", Set::of(&[Kind::Letter])),
        (r"\p{L}", Set::LETTERS),
        (r"\p{M}", Set::of(&[Kind::Mark])),
        (r"\p{N}", Set::NUMBERS),
        (r"\s", Set::WHITE),
        (r"[\r\n]", Set::BREAKS),
        (r"[^\s\p{L}\p{N}]", Set::SIGNS),
        (r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", Set::CAPITALS),
        (r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", Set::SMALL),
    ] {
        let ours: String = all
            .chars()
            .filter(|character| set.has(Classes::get().of(*character as u32)))
            .collect();
        assert!(!ours.is_empty(), "{class}");
        let theirs = members(class, &all);
        let drifted = theirs
            .chars()
            .zip(ours.chars())
            .find(|(theirs, ours)| theirs != ours);
        assert_eq!(drifted, None, "{class}: theirs, ours");
        assert_eq!(theirs.len(), ours.len(), "{class}");
    }
}

#[test]
fn the_long_s_is_the_only_letter_of_a_contraction_that_is_not_ascii() {
    let all: String = ('\0'..=char::MAX).collect();
    assert_eq!(members("(?i:[sdmtlvre])", &all), "DELMRSTVdelmrstvſ");
}
