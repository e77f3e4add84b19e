//! Files of Hugging Face (`tokenizer.json`): those that say the same as a rank file and a pattern are read as such.
//!
//! That is so when texts are not normalised, are cut by one pattern, and byte-level pairs are merged in an order that ranks can
//! say. A merge names its two parts; a rank only what they give together. A token comes about in one way only, whatever stands
//! around it, so both are the same when the two parts that ranks make each token of are those of a merge. Each token is tried.
//!
//! Added tokens are left out: in a chat they are text. Whatever else such a file may say is for the `tokenizers` crate.

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::error::EncodingError;
use crate::ranks::Ranks;
use crate::vocabulary::{MOST_TOKENS, Vocabulary};

/// What a tokenizer file comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The same as these ranks and this pattern.
    Ranks { ranks: Ranks, pattern: String },
    /// Something that only the crate can compute, for this reason.
    Other(&'static str),
}

/// Reads a tokenizer file.
pub(crate) fn read(json: &str) -> Result<Reading, EncodingError> {
    let sketch: Sketch = serde_json::from_str(json).map_err(|error| misread(&error))?;
    let Some(pattern) = sketch.pre_tokenizer.as_ref().and_then(PreTokenizer::pattern) else {
        return Ok(Reading::Other("its texts are not cut by one pattern into bytes"));
    };
    if sketch.normalizer.is_some() {
        return Ok(Reading::Other("it normalises texts"));
    }
    if sketch.model.kind.as_deref() != Some("BPE") {
        return Ok(Reading::Other("its model does not merge pairs"));
    }
    let file: BpeFile = serde_json::from_str(json).map_err(|error| misread(&error))?;
    if !file.model.is_plain() {
        return Ok(Reading::Other(
            "its merges depend on chance or on the place in a word",
        ));
    }
    Ok(match ranks(&file.model)? {
        Ok(ranks) => Reading::Ranks { ranks, pattern },
        Err(reason) => Reading::Other(reason),
    })
}

fn misread(error: &serde_json::Error) -> EncodingError {
    EncodingError::line(error.line(), format!("it is no tokenizer file: {error}"))
}

#[derive(Deserialize)]
struct Sketch {
    normalizer: Option<IgnoredAny>,
    pre_tokenizer: Option<PreTokenizer>,
    model: SketchedModel,
}

#[derive(Deserialize)]
struct SketchedModel {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum PreTokenizer {
    ByteLevel {
        #[serde(default = "yes")]
        add_prefix_space: bool,
        #[serde(default = "yes")]
        use_regex: bool,
    },
    Split {
        pattern: SplitPattern,
        behavior: String,
        #[serde(default)]
        invert: bool,
    },
    Sequence {
        pretokenizers: Vec<PreTokenizer>,
    },
    #[serde(other)]
    Other,
}

const fn yes() -> bool {
    true
}

#[derive(Deserialize)]
enum SplitPattern {
    Regex(String),
    String(IgnoredAny),
}

impl PreTokenizer {
    /// The pattern whose matches are the pieces, where there is one.
    fn pattern(&self) -> Option<String> {
        match self {
            Self::ByteLevel {
                add_prefix_space: false,
                use_regex: true,
            } => Some("gpt2".to_owned()),
            Self::Sequence { pretokenizers } => match pretokenizers.as_slice() {
                [only] => only.pattern(),
                [
                    Self::Split {
                        pattern: SplitPattern::Regex(pattern),
                        behavior,
                        invert,
                    },
                    Self::ByteLevel {
                        add_prefix_space: false,
                        use_regex: false,
                    },
                ] if matches!(
                    (behavior.as_str(), invert),
                    ("Isolated", false) | ("Removed", true)
                ) =>
                {
                    Some(pattern.clone())
                }
                _ => None,
            },
            Self::ByteLevel { .. } | Self::Split { .. } | Self::Other => None,
        }
    }
}

#[derive(Deserialize)]
struct BpeFile {
    model: Bpe,
}

#[derive(Deserialize)]
struct Bpe {
    vocab: FxHashMap<String, u32>,
    merges: Vec<Merge>,
    /// Whether a piece that is a token is one, however merges would divide it.
    #[serde(default)]
    ignore_merges: bool,
    dropout: Option<f64>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Merge {
    Pair(String, String),
    Spaced(String),
}

impl Merge {
    fn parts(&self) -> Option<(&str, &str)> {
        match self {
            Self::Pair(left, right) => Some((left, right)),
            Self::Spaced(both) => both.split_once(' '),
        }
    }
}

impl Bpe {
    /// Whether merges depend on nothing but their order.
    fn is_plain(&self) -> bool {
        let empty = |text: &Option<String>| text.as_deref().unwrap_or_default().is_empty();
        self.dropout.unwrap_or_default() == 0.0
            && empty(&self.continuing_subword_prefix)
            && empty(&self.end_of_word_suffix)
    }
}

/// The model's tokens, each with the rank of its merges; or why ranks cannot say the same.
fn ranks(model: &Bpe) -> Result<Result<Ranks, &'static str>, EncodingError> {
    let alphabet = alphabet();
    let bytes_of = |token: &str| -> Option<Vec<u8>> {
        token
            .chars()
            .map(|character| alphabet.get(&character).copied())
            .collect()
    };
    let mut tokens = Tokens::default();
    for (character, byte) in characters().into_iter().zip(0..=u8::MAX) {
        if !model.vocab.contains_key(character.to_string().as_str()) {
            return Ok(Err("a byte is no token of it"));
        }
        tokens.add(vec![byte]);
    }
    let mut merges = Vec::with_capacity(model.merges.len());
    for merge in &model.merges {
        let parts = merge.parts().and_then(|(left, right)| {
            let known = |part: &str| model.vocab.contains_key(part);
            let both = known(left) && known(right) && known(&format!("{left}{right}"));
            both.then(|| bytes_of(left).zip(bytes_of(right)))?
        });
        let Some((left, right)) = parts else {
            return Err(EncodingError::vocabulary(
                "a merge names what is no token; take the file that belongs to the model",
            ));
        };
        if !tokens.add_merged([left.as_slice(), &right].concat()) {
            return Ok(Err("the merges of a token stand apart"));
        }
        merges.push((left, right));
    }
    for (left, right) in &merges {
        tokens.name_parts(left, right);
    }
    if model.ignore_merges {
        let mut whole: Vec<Vec<u8>> = model.vocab.keys().filter_map(|token| bytes_of(token)).collect();
        whole.sort_unstable();
        for token in whole {
            if !tokens.rank.contains_key(&token) {
                tokens.add(token);
            }
        }
    }
    Ok(match tokens.in_ranks(model.ignore_merges) {
        Ok(ranks) => Ok(Ranks::checked(ranks)?),
        Err(reason) => Err(reason),
    })
}

/// Tokens in the order of their first merges, which is their rank.
#[derive(Default)]
struct Tokens {
    in_order: Vec<Vec<u8>>,
    rank: FxHashMap<Vec<u8>, u32>,
    /// The ranks of the two parts of each merge, by the rank of what they become.
    merges: FxHashMap<u32, Vec<(u32, u32)>>,
}

impl Tokens {
    fn add(&mut self, token: Vec<u8>) {
        let rank = u32::try_from(self.in_order.len()).unwrap_or(u32::MAX);
        self.rank.insert(token.clone(), rank);
        self.in_order.push(token);
    }

    /// Adds what a merge gives; says no when another token has come since its merges began.
    fn add_merged(&mut self, token: Vec<u8>) -> bool {
        let is_last = self.in_order.last() == Some(&token);
        if !is_last && self.rank.contains_key(&token) {
            return false;
        }
        if !is_last {
            self.add(token);
        }
        true
    }

    /// Notes of what a merge makes its token; parts that no merge gives never come to it.
    fn name_parts(&mut self, left: &[u8], right: &[u8]) {
        let both = [left, right].concat();
        if let (Some(left), Some(right), Some(rank)) =
            (self.rank.get(left), self.rank.get(right), self.rank.get(&both))
        {
            self.merges.entry(*rank).or_default().push((*left, *right));
        }
    }

    /// The tokens with their ranks, when ranks build each of them from the parts of a merge or not at all.
    fn in_ranks(self, whole_pieces: bool) -> Result<Vec<(Vec<u8>, u32)>, &'static str> {
        if self.in_order.len() > MOST_TOKENS {
            return Err("it has too many tokens");
        }
        let vocabulary = Vocabulary::new(self.in_order.iter().zip(0..));
        let mut kept = Vec::with_capacity(self.in_order.len());
        for (token, rank) in self.in_order.into_iter().zip(0..) {
            let merges = self.merges.get(&rank).map(Vec::as_slice).unwrap_or_default();
            // Two bytes can only be made of two bytes.
            let is_merged = token.len() <= 2 && !merges.is_empty()
                || merges
                    .iter()
                    .any(|(left, right)| vocabulary.pair(*left, *right) == rank);
            let is_built = token.len() == 1 || !vocabulary.is_unreachable(&token);
            if token.len() > 1 && is_built && !is_merged {
                return Err("its merges say more than ranks can");
            }
            // A token that is never built is one only where whole pieces are looked up.
            if is_built || whole_pieces {
                kept.push((token, rank));
            }
        }
        Ok(kept)
    }
}

/// The byte that each character of a byte-level vocabulary stands for.
fn alphabet() -> FxHashMap<char, u8> {
    characters().into_iter().zip(0..=u8::MAX).collect()
}

/// The character of each byte: visible ones of Latin-1 stand for themselves, the others follow one another from U+0100 on.
pub(crate) fn characters() -> Vec<char> {
    let mut others = '\u{100}'..;
    (0..=u8::MAX)
        .map(|byte| match byte {
            b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => char::from(byte),
            _ => others.next().unwrap_or_default(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
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
            Reading::Ranks { ranks, .. } => ranks
                .tokens()
                .iter()
                .map(|(token, _)| token.clone())
                .skip(256)
                .collect(),
            Reading::Other(reason) => panic!("{reason}"),
        }
    }

    fn reason_of(file: &Value) -> &'static str {
        match read(&file.to_string()).unwrap() {
            Reading::Ranks { .. } => panic!("ranks say the same"),
            Reading::Other(reason) => reason,
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
    fn every_division_of_a_token_may_be_a_merge() {
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
        assert_eq!(reason_of(&no_byte), "a byte is no token of it");
    }

    #[test]
    fn a_split_before_the_bytes_brings_its_pattern() {
        let mut split = file(&[]);
        let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false});
        for (behavior, invert) in [("Isolated", false), ("Removed", true)] {
            let cut = json!({"type": "Split", "pattern": {"Regex": "\\w|\\W"}, "behavior": behavior, "invert": invert});
            split["pre_tokenizer"] = json!({"type": "Sequence", "pretokenizers": [cut, bytes]});
            let reading = read(&split.to_string()).unwrap();
            assert!(matches!(reading, Reading::Ranks { pattern, .. } if pattern == r"\w|\W"));
        }
    }

    #[test]
    fn what_is_no_tokenizer_file_is_an_error_with_its_line() {
        let broken = read("{\n\"model\": {\"type\": 3}}").unwrap_err().to_string();
        assert!(broken.starts_with("line 2: it is no tokenizer file"), "{broken}");
        let mut unknown = file(&[]);
        unknown["model"]["merges"] = json!([["a", "bb"]]);
        assert!(
            read(&unknown.to_string())
                .unwrap_err()
                .to_string()
                .contains("a merge names")
        );
    }
}
