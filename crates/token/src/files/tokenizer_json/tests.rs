use serde_json::{Value, json};

use super::*;
use crate::Encoding;

fn letters() -> serde_json::Map<String, Value> {
    (0..)
        .zip(CHARACTERS.iter().copied())
        .map(|(id, character): (u32, _)| (character.to_string(), id.into()))
        .collect()
}

/// A byte-level file with these merges, each of which gives a token.
fn file(merges: &[(&str, &str)]) -> Value {
    let mut vocab = letters();
    for (left, right) in merges {
        let next = vocab.len();
        vocab
            .entry(format!("{left}{right}"))
            .or_insert_with(|| next.into());
    }
    json!({
        "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "dropout": null, "vocab": vocab, "merges": merges},
    })
}

fn merging(file: &Value) -> TokenizerFile {
    match read(&file.to_string()) {
        Ok(file) => file,
        Err(Unread::Other(reason)) => panic!("{reason}"),
        Err(Unread::Refused(error)) => panic!("{error}"),
    }
}

fn reason_of(file: &Value) -> String {
    match read(&file.to_string()) {
        Err(Unread::Other(reason)) => reason,
        Ok(_) | Err(Unread::Refused(_)) => panic!("it is read or refused"),
    }
}

/// The tokens of a text, counted as production does and held against the plainest way.
fn tokens(file: &Value, text: &str) -> u64 {
    let encoding = Encoding::from_tokenizer("acme", file.to_string()).unwrap();
    let found = encoding.counter().count(text);
    assert_eq!(Some(found), encoding.reference().count(text), "{text:?}");
    found
}

#[test]
fn the_alphabet_gives_every_byte_a_character_of_its_own() {
    let all: std::collections::BTreeSet<char> = CHARACTERS.iter().copied().collect();
    assert_eq!(all.len(), 256);
    assert_eq!(
        [0x20, 0x0a, 0xe9].map(|byte: usize| CHARACTERS[byte]),
        ['Ġ', 'Ċ', 'é']
    );
}

#[test]
fn merges_are_done_in_their_order() {
    let both_forms = [file(&[("a", "b"), ("Ġ", "ab"), ("ab", "ab")]), {
        let mut file = file(&[("a", "b"), ("Ġ", "ab"), ("ab", "ab")]);
        file["model"]["merges"] = json!(["a b", "Ġ ab", "ab ab"]);
        file
    }];
    for file in both_forms {
        assert_eq!(tokens(&file, "abab"), 1);
        assert_eq!(tokens(&file, " abab"), 2);
        assert_eq!(tokens(&file, "ab ab"), 2);
    }
}

#[test]
fn of_several_divisions_of_a_token_the_one_that_comes_about_counts() {
    // As they are when a rank file is converted: "abc" is built from "ab" and "c" only, whatever else is listed.
    let divided = file(&[("a", "b"), ("b", "c"), ("a", "bc"), ("ab", "c")]);
    assert_eq!(tokens(&divided, "abc"), 1);
    assert_eq!(tokens(&divided, "bcabc"), 2);
    // "abc" is named from "a" and "bc", but an "a" before "bc" has become "ab" by then: no rank could say so.
    let other_parts = file(&[("a", "b"), ("b", "c"), ("a", "bc")]);
    assert_eq!(tokens(&other_parts, "abc"), 2);
    let apart = file(&[("a", "b"), ("b", "c"), ("ab", "c"), ("c", "d"), ("a", "bc")]);
    assert_eq!(tokens(&apart, "abcd"), 2);
}

#[test]
fn a_token_that_merges_never_build_is_one_only_where_whole_pieces_are_looked_up() {
    // "ab" is merged first, so that "bc" never meets an "a".
    let mut unreachable = file(&[("a", "b"), ("b", "c"), ("bc", "d")]);
    unreachable["model"]["vocab"]["xyz"] = json!(900);
    unreachable["model"]["vocab"]["xy"] = json!(901);
    assert_eq!((tokens(&unreachable, "xyz"), tokens(&unreachable, "xy")), (3, 2));
    unreachable["model"]["ignore_merges"] = json!(true);
    assert_eq!((tokens(&unreachable, "xyz"), tokens(&unreachable, "xy")), (1, 1));
    assert_eq!(tokens(&unreachable, "axyz xyz"), 4 + 4);
}

#[test]
fn unsupported_tokenizer_files_are_counted_by_the_tokenizers_crate() {
    for (place, value, reason) in [
        (
            "/normalizer",
            json!({"type": "BertNormalizer"}),
            "it normalises texts by more than NFC",
        ),
        (
            "/normalizer",
            json!({"type": "Precompiled", "precompiled_charsmap": ""}),
            "it normalises texts by more",
        ),
        (
            "/pre_tokenizer",
            json!({"type": "UnicodeScripts"}),
            "its texts are cut by a step that",
        ),
        (
            "/pre_tokenizer",
            Value::Null,
            "it has no token for what is unknown",
        ),
        (
            "/pre_tokenizer",
            json!({"type": "Split", "pattern": {"Regex": "a(?=b)"}, "behavior": "Isolated", "invert": false}),
            "the pattern is not understood at byte 1",
        ),
        ("/model/type", json!("Unigram"), "its model does not merge pairs"),
        (
            "/model/dropout",
            json!(0.1),
            "its merges depend on chance or on the place in a word",
        ),
    ] {
        let mut changed = file(&[("a", "b")]);
        *changed.pointer_mut(place).unwrap() = value;
        assert!(reason_of(&changed).starts_with(reason), "{}", reason_of(&changed));
    }
    let mut suffix = file(&[]);
    suffix["model"]["end_of_word_suffix"] = json!("</w>");
    assert!(reason_of(&suffix).starts_with("its merges depend on chance"));
    let mut no_byte = file(&[]);
    no_byte["model"]["vocab"].as_object_mut().unwrap().remove("Ġ");
    assert_eq!(reason_of(&no_byte), "a byte is not a token of it");
    let unknown = json!({"model": {"type": "BPE", "unk_token": "?", "vocab": {"?": 0, "a": 1, "?a": 2}, "merges": [["?", "a"]]}});
    assert!(reason_of(&unknown).starts_with("its merges join what stands for unknown"));
}

#[test]
fn a_split_before_the_bytes_brings_its_pattern() {
    let mut split = file(&[]);
    let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false});
    for (behavior, invert) in [("Isolated", false), ("Removed", true)] {
        let cut =
            json!({"type": "Split", "pattern": {"Regex": "\\w|\\W"}, "behavior": behavior, "invert": invert});
        split["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": [cut, bytes]});
        let way = merging(&split).way;
        assert_eq!(way.alphabet, Alphabet::Bytes);
        assert_eq!(way.cut, "cut by a pattern of its own");
    }
}

#[test]
fn a_malformed_tokenizer_file_is_an_error_with_its_line() {
    let refused = |json: &str| match read(json) {
        Err(Unread::Refused(error)) => error.to_string(),
        Ok(_) | Err(Unread::Other(_)) => panic!("it is read"),
    };
    let broken = refused("{\n\"model\": {\"type\": 3}}");
    assert!(
        broken.starts_with("line 2: it is not a tokenizer file"),
        "{broken}"
    );
    let mut unknown = file(&[]);
    unknown["model"]["merges"] = json!([["a", "bb"]]);
    assert!(refused(&unknown.to_string()).contains("a merge names"));
}

/// In time with its square, this would take minutes.
#[test]
fn a_file_with_a_token_of_a_megabyte_is_read() {
    let mut file = file(&[("a", "a")]);
    let id = file["model"]["vocab"].as_object().unwrap().len();
    file["model"]["vocab"]["a".repeat(1 << 20)] = id.into();
    let encoding = Encoding::from_tokenizer("acme", file.to_string()).unwrap();
    assert_eq!(encoding.counter().count("aaaa"), 2);
}
