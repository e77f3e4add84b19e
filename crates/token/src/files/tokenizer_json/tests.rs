use proptest::prelude::*;
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

/// The tokens of a text, counted as in production and compared with the plainest way.
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
    // These merges come from a rank file: "abc" is built from "ab" and "c" only, even though other divisions are listed.
    let divided = file(&[("a", "b"), ("b", "c"), ("a", "bc"), ("ab", "c")]);
    assert_eq!(tokens(&divided, "abc"), 1);
    assert_eq!(tokens(&divided, "bcabc"), 2);
    // The merge for "abc" is from "a" and "bc", but an "a" before "bc" is already part of "ab" then: no rank could express this.
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
            "it has no token for unknown characters",
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
    assert!(reason_of(&unknown).starts_with("its merges join the token for unknown"));
}

#[test]
fn a_split_before_the_bytes_brings_its_pattern() {
    let mut split = file(&[]);
    let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false});
    for (behavior, invert) in [("Isolated", false), ("Removed", true)] {
        let cut =
            json!({"type": "Split", "pattern": {"Regex": "\\w|\\W"}, "behavior": behavior, "invert": invert});
        split["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": [cut, bytes]});
        let plan = merging(&split).plan;
        assert_eq!(plan.alphabet, Alphabet::Bytes);
        assert_eq!(plan.cut, "cut by its own pattern");
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

/// In quadratic time this would take minutes.
#[test]
fn a_file_with_a_token_of_a_megabyte_is_read() {
    let mut file = file(&[("a", "a")]);
    let id = file["model"]["vocab"].as_object().unwrap().len();
    file["model"]["vocab"]["a".repeat(1 << 20)] = id.into();
    let encoding = Encoding::from_tokenizer("acme", file.to_string()).unwrap();
    assert_eq!(encoding.counter().count("aaaa"), 2);
}

/// The reason why a file is refused in every build; `None` if it is not.
fn refusal_of(file: &Value) -> Option<String> {
    match read(&file.to_string()) {
        Err(Unread::Refused(error)) => Some(error.to_string()),
        Ok(_) | Err(Unread::Other(_)) => None,
    }
}

fn with_normalizers(steps: &[Value]) -> Value {
    let mut file = file(&[("a", "a")]);
    file["normalizer"] = json!({"type": "Sequence", "normalizers": steps});
    file
}

fn replace(pattern: &str, content: &str) -> Value {
    json!({"type": "Replace", "pattern": {"String": pattern}, "content": content})
}

#[test]
fn a_file_has_64_steps_in_all_and_no_more() {
    let nfc = json!({"type": "NFC"});
    let digits = json!({"type": "Digits", "individual_digits": true});
    let bytes =
        json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
    let steps = |normalizers: usize, cutters: usize| {
        let mut file = with_normalizers(&vec![nfc.clone(); normalizers]);
        let mut cutters = vec![digits.clone(); cutters - 1];
        let last = json!({"type": "Sequence", "pretokenizers": [bytes.clone()]});
        cutters.push(last);
        file["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": cutters});
        file
    };
    for (normalizers, cutters) in [(0, 64), (3, 61)] {
        assert_eq!(tokens(&steps(normalizers, cutters), "aa 12"), 4);
    }
    for (normalizers, cutters) in [(0, 65), (1, 64), (20_000, 1), (0, 8_001)] {
        let problem = refusal_of(&steps(normalizers, cutters)).unwrap();
        assert!(problem.contains("at most 64 are read"), "{problem}");
    }
    // Files that only the crate could compute are refused as well.
    let mut unigram = steps(0, 65);
    unigram["model"]["type"] = json!("Unigram");
    assert!(refusal_of(&unigram).is_some());
}

#[test]
fn normalizers_that_could_make_a_text_too_long_are_refused() {
    let regex = |pattern: &str, content: &str| json!({"type": "Replace", "pattern": {"Regex": pattern}, "content": content});
    let prepend = |bytes: usize| json!({"type": "Prepend", "prepend": "x".repeat(bytes)});
    let [nfkc, lower] = ["NFKC", "Lowercase"].map(|name| json!({"type": name}));
    // As bytes they become twice as long.
    for steps in [
        vec![prepend(496)],
        vec![replace("a", &"a".repeat(32))],
        vec![replace("aa", &"a".repeat(64))],
        vec![replace("a", "aa"); 5],
        vec![replace("aa", "a"); 63],
        vec![regex(".", &"x".repeat(32))],
        vec![regex(" {2,}", &"x".repeat(64))],
        vec![nfkc.clone(), lower],
    ] {
        let file = with_normalizers(&steps);
        assert_eq!(refusal_of(&file), None);
        tokens(&file, "aa b");
    }
    for steps in [
        vec![prepend(497)],
        vec![prepend(50_000_000)],
        vec![replace("a", &"a".repeat(33))],
        vec![replace("a", "aa"); 6],
        vec![replace("a", "aa"); 63],
        vec![regex(".", &"x".repeat(1_000_000))],
        vec![regex(" {2,}", &"x".repeat(65))],
        // The crate would replace the empty matches, too.
        vec![regex("x*", &"y".repeat(31))],
        vec![nfkc; 2],
    ] {
        let problem = refusal_of(&with_normalizers(&steps)).unwrap();
        assert!(problem.contains("of a text of 16; at most 1024"), "{problem}");
    }
}

#[test]
fn cutters_that_could_make_a_text_too_long_are_refused() {
    let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false});
    let blanks =
        json!({"type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true});
    let cut = |steps: Vec<Value>| {
        let mut file = file(&[]);
        file["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": steps});
        refusal_of(&file)
    };
    assert_eq!(cut(vec![bytes.clone(); 6]), None);
    assert!(cut(vec![bytes; 7]).is_some());
    assert_eq!(cut(vec![blanks.clone(); 2]), None);
    assert!(cut(vec![blanks; 4]).is_some());
}

#[test]
fn a_pattern_that_nothing_computes_as_python_does_is_refused_in_every_build() {
    let mut split = file(&[]);
    split["pre_tokenizer"] =
        json!({"type": "Split", "pattern": {"Regex": r"a\R"}, "behavior": "Isolated", "invert": false});
    let problem = refusal_of(&split).unwrap();
    assert!(
        problem.starts_with(r"the pattern has `\R` at byte 1"),
        "{problem}"
    );
    // The crate refuses a replacement in a file that only it computes.
    let mut unigram =
        with_normalizers(&[json!({"type": "Replace", "pattern": {"Regex": r"\R"}, "content": ""})]);
    unigram["model"]["type"] = json!("Unigram");
    assert!(Encoding::from_tokenizer("acme", unigram.to_string()).is_err());
}

#[test]
fn the_patterns_of_a_file_have_4_kib_in_all_and_no_more() {
    let refusal = |bytes: usize| {
        let replace =
            |bytes| json!({"type": "Replace", "pattern": {"Regex": "x".repeat(bytes)}, "content": ""});
        let mut file = with_normalizers(&[replace(96), replace(1000)]);
        file["pre_tokenizer"] = json!({"type": "Split", "pattern": {"Regex": "y".repeat(bytes)}, "behavior": "Isolated", "invert": false});
        refusal_of(&file)
    };
    assert_eq!(refusal(3000), None);
    assert_eq!(
        refusal(3001).unwrap(),
        "its patterns have 4097 bytes; at most 4096 are read"
    );
}

#[test]
fn a_vocabulary_in_which_ids_repeat_is_refused() {
    let mut twice = file(&[("a", "b")]);
    twice["model"]["vocab"]["ab"] = json!(7);
    assert!(
        refusal_of(&twice)
            .unwrap()
            .starts_with("two tokens have the same id")
    );
    // Unused ids are no fault: published files have such gaps.
    twice["model"]["vocab"]["ab"] = json!(70_000);
    assert_eq!(tokens(&twice, "ab"), 1);
}

proptest! {
    #![proptest_config(chatmill_drawn::law(256))]

    #[test]
    fn no_text_grows_beyond_what_a_file_may_make_of_it(
        drawn in proptest::collection::vec((0..6_usize, "[ab \u{2581}]{1,2}", "[ab \u{fdfa}]{0,5}"), 0..6),
        text in "[ab A\u{130}\u{fdfa}\u{1d160}]{0,40}",
    ) {
        let steps = drawn.iter().map(|(kind, pattern, content)| match kind {
            0 => json!({"type": "NFC"}),
            1 => json!({"type": "NFKC"}),
            2 => json!({"type": "Lowercase"}),
            3 => json!({"type": "Prepend", "prepend": content}),
            4 => json!({"type": "Replace", "pattern": {"Regex": "[a-b]+|\\s"}, "content": content}),
            _ => replace(pattern, content),
        });
        if let Ok(file) = read(&with_normalizers(&steps.collect::<Vec<_>>()).to_string()) {
            let made = file.steps.pieces(&text, 0).text.len();
            prop_assert!(made <= 64 * text.len().max(16), "{made} bytes of {}", text.len());
        }
    }
}
