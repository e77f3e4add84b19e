use std::path::Path;

use tiktoken_rs::CoreBPE;

use super::*;
use crate::ENCODINGS;
use crate::bpe::merge::Merger;
use crate::encoding::reference::judge;

/// The ordinary tokens of the reference, in the order of their ranks.
fn tokens_of(reference: &CoreBPE, most: u32) -> Vec<Vec<u8>> {
    let special = reference.special_tokens();
    let ordinary = |rank| {
        let bytes = reference.decode_bytes(&[rank]).ok()?;
        let is_special = std::str::from_utf8(&bytes).is_ok_and(|text| special.contains(text));
        (!is_special).then_some(bytes)
    };
    // `p50k_base` leaves out a rank.
    (0..=most).filter_map(ordinary).take(most as usize).collect()
}

fn written(tokens: &[Vec<u8>]) -> Vec<u8> {
    let mut vocabulary = Vocabulary::for_tokens(tokens.len());
    let mut merger = Merger::default();
    let mut entries = vec![[BYTE; 2]; tokens.len()];
    let mut by_length: Vec<(&Vec<u8>, u32)> = tokens.iter().zip(0..).collect();
    by_length.sort_by_key(|(bytes, _)| bytes.len());
    for (bytes, id) in by_length {
        let parts = match **bytes {
            [byte] => (u32::from(byte), BYTE),
            [first, second] => (vocabulary.merges.byte(first), vocabulary.merges.byte(second)),
            _ => merger
                .last_pair(&vocabulary.merges, bytes)
                .expect("merges lead to every token"),
        };
        vocabulary.add(bytes, id, Some(parts));
        entries[id as usize] = [parts.0, parts.1];
    }
    let three = |id: &u32| id.to_le_bytes().into_iter().take(3);
    entries.iter().flatten().flat_map(three).collect()
}

#[test]
fn the_embedded_merges_are_those_of_the_reference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/encodings");
    let mut seen = 0;
    for encoding in ENCODINGS {
        let name = encoding.name();
        let source = std::fs::read_to_string(folder.join(format!("{name}.rs"))).unwrap();
        // An encoding may use the merges of another one; an encoding without a reference is compared as a whole.
        let named = source
            .split_once("include_bytes!(\"")
            .and_then(|(_, rest)| rest.split_once('"'));
        let Some((file, _)) = named else { continue };
        let tokens = tokens_of(judge(name), encoding.about().vocabulary);
        assert_eq!(tokens.len(), encoding.about().vocabulary as usize, "{name}");
        let expected = written(&tokens);
        if chatmill_golden::is_blessing() && file == format!("{name}.merges") {
            std::fs::write(folder.join(file), &expected).unwrap();
        }
        let embedded = std::fs::read(folder.join(file)).unwrap();
        assert!(
            embedded.starts_with(&expected),
            "{name}: `BLESS=1` writes it again"
        );
        seen += 1;
    }
    assert!(seen >= 3, "few encodings have merges: {seen}");
}

#[test]
fn entries_that_are_missing_or_come_too_early_are_refused() {
    let mut merges: Vec<u8> = (0..=255)
        .flat_map(|byte| [byte, 0, 0, 0xff, 0xff, 0xff])
        .collect();
    merges.extend([b'a', 0, 0, b'b', 0, 0]);
    assert_eq!(read(&merges, 257).unwrap().merges.byte_pair(b'a', b'b'), 256);
    assert!(read(&merges, 258).is_none());
    merges.extend([1, 1, 0, 0, 0, 0]);
    assert!(read(&merges, 258).is_none());
}
