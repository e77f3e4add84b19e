//! Compares the ways of merging with each other, and all of them with a plain reading of the definition.

use proptest::prelude::*;

use super::*;
use crate::bpe::vocabulary::Vocabulary;

/// Merges by the definition: byte strings and ranks, one pair at a time.
fn by_definition(ranks: &[(Vec<u8>, u32)], piece: &[u8]) -> Vec<usize> {
    let rank = |bytes: &[u8]| {
        ranks
            .iter()
            .find(|(token, _)| token == bytes)
            .map(|(_, rank)| *rank)
    };
    if rank(piece).is_some() {
        return vec![piece.len()];
    }
    let mut parts: Vec<Vec<u8>> = piece.iter().map(|byte| vec![*byte]).collect();
    loop {
        let joined = |at: usize| [parts[at].as_slice(), parts[at + 1].as_slice()].concat();
        let lowest = (0..parts.len().saturating_sub(1))
            .filter_map(|at| rank(&joined(at)).map(|rank| (rank, at)))
            .min();
        let Some((_, at)) = lowest else {
            return parts.iter().map(Vec::len).collect();
        };
        parts[at] = joined(at);
        parts.remove(at + 1);
    }
}

fn tokens_of(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
    let mut tokens = Vec::new();
    vocabulary.each_token(&mut Merger::default(), piece, |bytes| tokens.push(bytes));
    tokens
}

/// Merges with a heap, with lists, and with lists for all but the first tokens.
fn by_queues(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
    let mut merger = Merger::default();
    let [heap, lists, both] = [u32::MAX, 0, 270].map(|heaped| {
        merger.merge_queued(&vocabulary.merges, piece, heaped);
        let mut tokens = Vec::new();
        merger.each_part(|part, at| tokens.push((part.end - at) as usize));
        tokens
    });
    assert_eq!((&heap, &heap), (&lists, &both));
    heap
}

fn by_array(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<usize> {
    let mut tokens = Vec::new();
    each_length(beginnings(&vocabulary.merges, piece), piece.len(), |bytes| {
        tokens.push(bytes);
    });
    tokens
}

fn vocabulary(encoding: &str) -> &'static Vocabulary {
    &crate::find(encoding).unwrap().tables().unwrap().vocabulary
}

#[test]
fn repeats_of_a_few_bytes_merge_alike_in_arrays_in_the_heap_and_in_lists() {
    for unit in ["a", "ab", "aab", " ", "\n", "=", "-=", "é", "的", "haha", "😀"] {
        for bytes in 1..=SHORT_PIECE_BYTES {
            let piece: Vec<u8> = unit.bytes().cycle().take(bytes).collect();
            let vocabulary = vocabulary("o200k_base");
            assert_eq!(
                by_array(vocabulary, &piece),
                by_queues(vocabulary, &piece),
                "{bytes} bytes of {unit:?}"
            );
        }
    }
}

#[test]
fn every_token_of_every_vocabulary_is_one_token() {
    for encoding in crate::ENCODINGS {
        let (reference, about) = (
            crate::encoding::reference::judge(encoding.name()),
            encoding.about(),
        );
        let vocabulary = vocabulary(encoding.name());
        for rank in chatmill_drawn::some_of(0..about.vocabulary as usize, 4_000) {
            let rank = rank as u32;
            if let Ok(bytes) = reference.decode_bytes(&[rank])
                && !std::str::from_utf8(&bytes).is_ok_and(|text| reference.special_tokens().contains(text))
            {
                assert_eq!(tokens_of(vocabulary, &bytes), [bytes.len()], "{rank}");
            }
        }
    }
}

#[test]
fn a_token_that_no_merge_leads_to_is_found_where_it_is_the_whole_piece() {
    let mut ranks: Vec<(Vec<u8>, u32)> = (0..=255).map(|byte| (vec![byte], u32::from(byte))).collect();
    // `abc` has no half that is a token.
    ranks.push((b"abc".to_vec(), 300));
    ranks.push((b"x".repeat(70), 301));
    let vocabulary = Vocabulary::new(ranks.iter().map(|(bytes, rank)| (bytes, *rank)));
    assert_eq!(tokens_of(&vocabulary, b"abc"), [3]);
    assert_eq!(tokens_of(&vocabulary, b"abca"), [1, 1, 1, 1]);
    assert_eq!(tokens_of(&vocabulary, &b"x".repeat(70)), [70]);
    assert_eq!(tokens_of(&vocabulary, &b"x".repeat(71)).len(), 71);
}

/// Small vocabularies over few letters in any order of ranks, so that tokens overlap and hide each other in every way.
fn tangled() -> impl Strategy<Value = Vec<(Vec<u8>, u32)>> {
    let token = proptest::collection::vec(b'a'..=b'c', 2..7);
    proptest::collection::btree_set(token, 0..60)
        .prop_map(|tokens| tokens.into_iter().collect::<Vec<_>>())
        .prop_shuffle()
        .prop_map(|tokens| {
            let bytes = (0..=255).map(|byte| vec![byte]);
            bytes.chain(tokens).zip(0..).collect()
        })
}

proptest! {
    #![proptest_config(chatmill_drawn::law(64))]

    #[test]
    fn any_bytes_merge_alike_in_arrays_in_the_heap_and_in_lists(
        piece in prop_oneof![
            proptest::collection::vec(any::<u8>(), 2..=SHORT_PIECE_BYTES),
            "[a-e ]{2,64}".prop_map(String::into_bytes),
            "[а-яієїґ]{1,32}".prop_map(String::into_bytes),
            "\\PC{1,16}".prop_map(String::into_bytes),
        ],
    ) {
        for encoding in ["o200k_base", "cl100k_base", "p50k_base"] {
            let vocabulary = vocabulary(encoding);
            let tokens = by_array(vocabulary, &piece);
            prop_assert_eq!(&tokens, &by_queues(vocabulary, &piece));
            prop_assert_eq!(tokens.iter().sum::<usize>(), piece.len());
        }
        let both = ["o200k_base", "r50k_base"].map(vocabulary);
        prop_assert_eq!(
            beginnings_in_both(both.map(|vocabulary| &vocabulary.merges), &piece),
            both.map(|vocabulary| beginnings(&vocabulary.merges, &piece))
        );
    }

    #[test]
    fn any_vocabulary_merges_as_the_definition_says(
        ranks in tangled(),
        pieces in proptest::collection::vec(proptest::collection::vec(b'a'..=b'c', 1..100), 8),
    ) {
        let vocabulary = Vocabulary::new(ranks.iter().map(|(bytes, rank)| (bytes, *rank)));
        for piece in pieces {
            let tokens = by_definition(&ranks, &piece);
            prop_assert_eq!(&tokens_of(&vocabulary, &piece), &tokens);
            if tokens.len() > 1 {
                prop_assert_eq!(by_queues(&vocabulary, &piece), tokens);
            }
        }
        for (token, _) in &ranks {
            prop_assert_eq!(tokens_of(&vocabulary, token), [token.len()]);
        }
    }
}
