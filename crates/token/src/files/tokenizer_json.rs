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

use crate::bpe::vocabulary::{MOST_TOKENS, Vocabulary};
use crate::error::EncodingError;
use crate::files::ranks::Ranks;

/// What a tokenizer file comes to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TokenizerReading {
    /// The same as these ranks and this pattern.
    Ranks { ranks: Ranks, pattern: String },
    /// Something that only the crate can compute, for this reason.
    Other(&'static str),
}

/// Reads a tokenizer file.
pub(crate) fn read(json: &str) -> Result<TokenizerReading, EncodingError> {
    let head: TokenizerHead = serde_json::from_str(json).map_err(|error| misread(&error))?;
    let Some(pattern) = head.pre_tokenizer.as_ref().and_then(PreTokenizer::pattern) else {
        return Ok(TokenizerReading::Other(
            "its texts are not cut by one pattern into bytes",
        ));
    };
    if head.normalizer.is_some() {
        return Ok(TokenizerReading::Other("it normalises texts"));
    }
    if head.model.kind.as_deref() != Some("BPE") {
        return Ok(TokenizerReading::Other("its model does not merge pairs"));
    }
    let file: BpeFile = serde_json::from_str(json).map_err(|error| misread(&error))?;
    if !file.model.is_plain() {
        return Ok(TokenizerReading::Other(
            "its merges depend on chance or on the place in a word",
        ));
    }
    Ok(match ranks(&file.model)? {
        Ok(ranks) => TokenizerReading::Ranks { ranks, pattern },
        Err(reason) => TokenizerReading::Other(reason),
    })
}

fn misread(error: &serde_json::Error) -> EncodingError {
    EncodingError::Line(error.line(), format!("it is not a tokenizer file: {error}"))
}

#[derive(Deserialize)]
struct TokenizerHead {
    normalizer: Option<IgnoredAny>,
    pre_tokenizer: Option<PreTokenizer>,
    model: ModelHead,
}

#[derive(Deserialize)]
struct ModelHead {
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
    let mut tokens = RankedTokens::default();
    for (character, byte) in characters().into_iter().zip(0..=u8::MAX) {
        if !model.vocab.contains_key(character.to_string().as_str()) {
            return Ok(Err("a byte is not a token of it"));
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
            return Err(EncodingError::Vocabulary(
                "a merge names what is not a token; take the file that belongs to the model".to_owned(),
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
struct RankedTokens {
    in_order: Vec<Vec<u8>>,
    rank: FxHashMap<Vec<u8>, u32>,
    /// The ranks of the two parts of each merge, by the rank of what they become.
    merges: FxHashMap<u32, Vec<(u32, u32)>>,
}

impl RankedTokens {
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
            // Bytes, and tokens that are only whole pieces, have none.
            let merges = self.merges.get(&rank).map(Vec::as_slice).unwrap_or_default();
            // Two bytes can only be made of two bytes.
            let is_merged = token.len() <= 2 && !merges.is_empty()
                || merges
                    .iter()
                    .any(|(left, right)| vocabulary.merges.pair(*left, *right) == rank);
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
mod tests;
