use serde_json::{Value, json};

use super::*;

fn letters() -> serde_json::Map<String, Value> {
    (0..)
        .zip(characters())
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

fn tokens_of(file: &Value) -> Vec<Vec<u8>> {
    match read(&file.to_string()).unwrap() {
        TokenizerReading::Ranks { ranks, .. } => ranks
            .tokens()
            .iter()
            .map(|(token, _)| token.clone())
            .skip(256)
            .collect(),
        TokenizerReading::Other(reason) => panic!("{reason}"),
    }
}

fn reason_of(file: &Value) -> &'static str {
    match read(&file.to_string()).unwrap() {
        TokenizerReading::Ranks { .. } => panic!("ranks say the same"),
        TokenizerReading::Other(reason) => reason,
    }
}

#[test]
fn the_alphabet_gives_every_byte_a_character_of_its_own() {
    assert_eq!(alphabet().len(), 256);
    assert_eq!(alphabet()[&'Ġ'], b' ');
    assert_eq!(alphabet()[&'Ċ'], b'\n');
    assert_eq!(alphabet()[&'é'], 0xe9);
}

#[test]
fn merges_in_order_are_ranks() {
    let both_forms = [file(&[("a", "b"), ("Ġ", "ab"), ("ab", "ab")]), {
        let mut file = file(&[("a", "b"), ("Ġ", "ab"), ("ab", "ab")]);
        file["model"]["merges"] = json!(["a b", "Ġ ab", "ab ab"]);
        file
    }];
    for file in both_forms {
        assert_eq!(
            tokens_of(&file),
            [b"ab".to_vec(), b" ab".to_vec(), b"abab".to_vec()]
        );
    }
}

#[test]
fn merges_of_every_division_of_a_token_give_the_token_once() {
    // As they are when a rank file is converted: "abc" is built from "ab" and "c" only, whatever else is listed.
    let file = file(&[("a", "b"), ("b", "c"), ("a", "bc"), ("ab", "c")]);
    assert_eq!(tokens_of(&file).len(), 3);
}

#[test]
fn a_token_that_merges_never_build_is_one_only_where_whole_pieces_are_looked_up() {
    // "ab" is merged first, so that "bc" never meets an "a".
    let mut unreachable = file(&[("a", "b"), ("b", "c"), ("bc", "d")]);
    unreachable["model"]["merges"] = json!([["a", "b"], ["b", "c"], ["bc", "d"]]);
    unreachable["model"]["vocab"]["xyz"] = json!(900);
    assert!(!tokens_of(&unreachable).contains(&b"xyz".to_vec()));
    unreachable["model"]["ignore_merges"] = json!(true);
    assert!(tokens_of(&unreachable).contains(&b"xyz".to_vec()));
}

#[test]
fn merges_that_ranks_cannot_say_are_left_to_the_crate() {
    // "abc" is named from "a" and "bc", but an "a" before "bc" has become "ab" by then: ranks would join "ab" and "c".
    let other_parts = file(&[("a", "b"), ("b", "c"), ("a", "bc")]);
    assert_eq!(reason_of(&other_parts), "its merges say more than ranks can");
    let apart = file(&[("a", "b"), ("b", "c"), ("ab", "c"), ("c", "d"), ("a", "bc")]);
    assert_eq!(reason_of(&apart), "the merges of a token stand apart");
}

#[test]
fn what_changes_texts_or_needs_chance_is_left_to_the_crate() {
    for (place, value, reason) in [
        ("/normalizer", json!({"type": "NFC"}), "it normalises texts"),
        (
            "/pre_tokenizer",
            json!({"type": "Whitespace"}),
            "its texts are not cut by one pattern into bytes",
        ),
        (
            "/pre_tokenizer",
            Value::Null,
            "its texts are not cut by one pattern into bytes",
        ),
        (
            "/pre_tokenizer/add_prefix_space",
            json!(true),
            "its texts are not cut by one pattern into bytes",
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
        assert_eq!(reason_of(&changed), reason);
    }
    let mut suffix = file(&[]);
    suffix["model"]["end_of_word_suffix"] = json!("</w>");
    assert_eq!(
        reason_of(&suffix),
        "its merges depend on chance or on the place in a word"
    );
    let mut no_byte = file(&[]);
    no_byte["model"]["vocab"].as_object_mut().unwrap().remove("Ġ");
    assert_eq!(reason_of(&no_byte), "a byte is not a token of it");
}

#[test]
fn a_split_before_the_bytes_brings_its_pattern() {
    let mut split = file(&[]);
    let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false});
    for (behavior, invert) in [("Isolated", false), ("Removed", true)] {
        let cut =
            json!({"type": "Split", "pattern": {"Regex": "\\w|\\W"}, "behavior": behavior, "invert": invert});
        split["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": [cut, bytes]});
        let reading = read(&split.to_string()).unwrap();
        assert!(matches!(reading, TokenizerReading::Ranks { pattern, .. } if pattern == r"\w|\W"));
    }
}

#[test]
fn what_is_no_tokenizer_file_is_an_error_with_its_line() {
    let broken = read("{\n\"model\": {\"type\": 3}}").unwrap_err().to_string();
    assert!(
        broken.starts_with("line 2: it is not a tokenizer file"),
        "{broken}"
    );
    let mut unknown = file(&[]);
    unknown["model"]["merges"] = json!([["a", "bb"]]);
    assert!(
        read(&unknown.to_string())
            .unwrap_err()
            .to_string()
            .contains("a merge names")
    );
}
