use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::encoding::Encoding;
use crate::files::ranks::tests::rank_file;
use crate::split::patterns::FAMILIES;
use crate::steps::byte_alphabet::CHARACTERS;

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data-samples/patterns")
}

#[expect(clippy::disallowed_methods, reason = "tests read their fixtures")]
fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "tests read their fixtures")]
fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The small vocabulary of the samples, cut by some pattern. Its tokens cross every boundary, so that a wrong cut changes the count.
pub(crate) fn small(pattern: &str) -> Encoding {
    let ranks = text_of(&samples().join("small.tiktoken"));
    Encoding::from_ranks("small", &ranks, pattern).unwrap()
}

#[test]
fn every_family_has_fixtures_and_counts_what_they_say() {
    let mut folders: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
    folders.push("small.tiktoken");
    folders.sort_unstable();
    assert_eq!(names_in(&samples()), folders);
    for family in FAMILIES {
        let counter = small(family.name).counter();
        let folder = samples().join(family.name);
        let fixtures = names_in(&folder);
        assert!(fixtures.len() >= 8, "{} has few fixtures", family.name);
        for name in fixtures {
            let fixture: Value = serde_json::from_str(&text_of(&folder.join(&name))).unwrap();
            let tokens = counter.count(fixture["text"].as_str().unwrap());
            assert_eq!(Some(tokens), fixture["tokens"].as_u64(), "{} {name}", family.name);
        }
    }
}

#[test]
fn an_encoding_says_what_it_was_made_of_and_how_it_counts() {
    let known = small("llama3");
    assert_eq!((known.name(), known.about().vocabulary), ("small", 856));
    assert_eq!(known.about().source, "rank file, cut as llama3 does");
    assert_eq!(known.about().counting, Counting::Once);
    let own = small(r"\w+|\W");
    assert_eq!(own.about().source, "rank file, cut by its own pattern");
    assert_eq!(own.about().counting, Counting::Whole);
    let differential = own.reference().count("12 words");
    assert_eq!(differential, Some(own.counter().count("12 words")));
}

#[test]
fn names_that_no_column_can_have_are_refused() {
    let ranks = rank_file(&[]);
    let refused = |name: &str| {
        Encoding::from_ranks(name, &ranks, "gpt2")
            .err()
            .unwrap()
            .to_string()
    };
    for name in ["", "Acme", "a-b", "a b", "é"] {
        assert!(refused(name).contains("cannot name an encoding"), "{name}");
    }
    assert!(refused("o200k_base").contains("choose another name"));
    assert!(Encoding::from_ranks("acme_2", &ranks, "gpt2").is_ok());
    assert!(Encoding::from_ranks("sentences", &ranks, "gpt2").is_ok());
}

#[test]
fn ranks_and_patterns_that_are_none_are_refused() {
    let refused = |ranks: &str, pattern: &str| {
        Encoding::from_ranks("acme", ranks, pattern)
            .err()
            .unwrap()
            .to_string()
    };
    assert!(refused("YQ== a", "gpt2").starts_with("line 1: the rank is not"));
    assert!(refused(&rank_file(&[]), "gpt3").contains("is not a known family"));
}

/// The small vocabulary as a tokenizer file: for each token, every division into two tokens is a merge.
fn tokenizer_file(pre_tokenizer: &Value) -> String {
    let ranks = Ranks::read(&text_of(&samples().join("small.tiktoken"))).unwrap();
    let said = |bytes: &[u8]| -> String { bytes.iter().map(|byte| CHARACTERS[usize::from(*byte)]).collect() };
    let known: std::collections::BTreeSet<&[u8]> =
        ranks.tokens().iter().map(|(token, _)| token.as_slice()).collect();
    let mut vocab = serde_json::Map::new();
    let mut merges = Vec::new();
    for (token, rank) in ranks.tokens() {
        vocab.insert(said(token), (*rank).into());
        for middle in 1..token.len() {
            let (left, right) = token.split_at(middle);
            if known.contains(left) && known.contains(right) {
                merges.push((said(left), said(right)));
            }
        }
    }
    json!({
        "version": "1.0",
        "normalizer": null,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": null,
        "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "added_tokens": [],
        "model": {"type": "BPE", "vocab": vocab, "merges": merges, "ignore_merges": true},
    })
    .to_string()
}

/// A pre-tokenizer that cuts by a pattern, and then into bytes.
fn split_by(pattern: &str) -> Value {
    json!({"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false},
        {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
    ]})
}

pub(crate) fn from_tokenizer(pre_tokenizer: &Value) -> Encoding {
    Encoding::from_tokenizer("acme", tokenizer_file(pre_tokenizer)).unwrap()
}

#[test]
fn a_tokenizer_file_of_a_known_pattern_is_counted_through_sync_points() {
    let bytes =
        json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
    let encoding = from_tokenizer(&bytes);
    assert_eq!(encoding.about().source, "tokenizer file, cut as gpt2 does");
    assert_eq!(encoding.about().counting, Counting::Once);
    let own = from_tokenizer(&split_by(r"\p{L}+|[^\p{L}]+"));
    assert_eq!(own.about().counting, Counting::Whole);
}

/// Each family from a tokenizer file and from a rank file; tiktoken's pattern for `cl100k` has another meaning in the former.
pub(crate) static BOTH: LazyLock<Vec<(Encoding, Encoding)>> = LazyLock::new(|| {
    let both = |name: &str| {
        let pattern = Pattern::read(name).unwrap();
        (from_tokenizer(&split_by(pattern.published())), small(name))
    };
    let names = FAMILIES.iter().map(|family| family.name);
    names.filter(|name| *name != "cl100k").map(both).collect()
});

proptest! {
    #![proptest_config(chatmill_drawn::law(64))]

    #[test]
    fn a_tokenizer_file_counts_as_its_ranks_do(text in "([a-zA-Z0-9' .,!\\n]|\\PC){0,80}") {
        for (file, ranks) in BOTH.iter() {
            prop_assert_eq!(file.counter().count(&text), ranks.counter().count(&text));
        }
    }
}
