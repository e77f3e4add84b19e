//! Files of Hugging Face (`tokenizer.json`) that merge pairs: their steps, their model, and the shortest way to count by them.
//!
//! Added tokens are left out: in a chat they are text. What a file puts around a text and how it decodes tokens have no say.
//! Whatever else such a file may say (Unigram, `WordPiece`, tables of characters) is for the `tokenizers` crate.

mod steps;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::IgnoredAny;

use self::steps::{JsonNormalizer, JsonPreTokenizer};
use crate::bpe::model::Model;
use crate::bpe::symbols::Others;
use crate::error::EncodingError;
use crate::split::prefix::Prefix;
use crate::split::splitter::Splitter;
use crate::split::sync::BoundaryClasses;
use crate::steps::Steps;

/// What a tokenizer file comes to.
pub(crate) enum TokenizerReading {
    /// Merges after these steps.
    Merges(Box<TokenizerFile>),
    /// Something that only the crate can compute, for this reason.
    Other(String),
}

/// A file that merges pairs.
pub(crate) struct TokenizerFile {
    pub(crate) model: Model,
    /// All steps, as written.
    pub(crate) steps: Steps,
    pub(crate) way: Way,
}

/// How counts are found without taking each step for each text.
pub(crate) enum Way {
    /// Bytes are merged in the pieces of a text that these have changed.
    Bytes {
        splitter: Splitter,
        boundaries: BoundaryClasses,
        /// What is said of how it cuts.
        cut: String,
    },
    /// Characters are merged in whole texts, with a sign for spaces.
    Blanks(Prefix),
    /// There is none.
    Steps,
}

/// Reads a tokenizer file.
pub(crate) fn read(json: &str) -> Result<TokenizerReading, EncodingError> {
    let head: TokenizerHead = serde_json::from_str(json).map_err(|error| misread(&error))?;
    if head.model.kind.as_deref() != Some("BPE") {
        return Ok(TokenizerReading::Other(
            "its model does not merge pairs".to_owned(),
        ));
    }
    let file: BpeFile = serde_json::from_str(json).map_err(|error| misread(&error))?;
    Ok(match understood(&head, file.model)? {
        Ok(file) => TokenizerReading::Merges(Box::new(file)),
        Err(reason) => TokenizerReading::Other(reason),
    })
}

/// The tokens that a `tokenizer.json` adds to its model's: control tokens above all. `None` for other tokenizer files, which
/// have no such list.
///
/// # Errors
///
/// When the file is JSON and its list cannot be read.
pub fn added_tokens(file: &[u8]) -> Result<Option<Vec<String>>, EncodingError> {
    let Some(json) = super::json(file) else {
        return Ok(None);
    };
    let file: AddedTokens = serde_json::from_str(json).map_err(|error| misread(&error))?;
    let contents = file.added_tokens.into_iter().map(|token| token.content);
    Ok(file.model.map(|_| contents.collect()))
}

/// The file, or why only the crate can compute it.
fn understood(head: &TokenizerHead, model: Bpe) -> Result<Result<TokenizerFile, String>, EncodingError> {
    let normalizers: Vec<&JsonNormalizer> = head.normalizer.iter().flat_map(JsonNormalizer::flat).collect();
    let cutters: Vec<&JsonPreTokenizer> = head
        .pre_tokenizer
        .iter()
        .flat_map(JsonPreTokenizer::flat)
        .collect();
    let steps = || -> Result<Steps, String> {
        Ok(Steps {
            normalizers: normalizers
                .iter()
                .map(|step| step.read())
                .collect::<Result<_, _>>()?,
            pre_tokenizers: cutters.iter().map(|step| step.read()).collect::<Result<_, _>>()?,
        })
    };
    let steps = match steps() {
        Ok(steps) => steps,
        Err(reason) => return Ok(Err(reason)),
    };
    let is_bytes = cutters.iter().any(|step| step.is_byte_level());
    let model = match model.read(is_bytes)? {
        Ok(model) => model,
        Err(reason) => return Ok(Err(reason)),
    };
    let way = match (steps::bytes(&cutters), steps::blanks(&normalizers, &cutters)) {
        (Some((splitter, boundaries, cut)), _) => Way::Bytes {
            splitter,
            boundaries,
            cut,
        },
        (None, Some(prefix)) if model.has_blanks() => Way::Blanks(prefix),
        _ => Way::Steps,
    };
    Ok(Ok(TokenizerFile { model, steps, way }))
}

fn misread(error: &serde_json::Error) -> EncodingError {
    EncodingError::Line(error.line(), format!("it is not a tokenizer file: {error}"))
}

#[derive(Deserialize)]
struct AddedTokens {
    model: Option<IgnoredAny>,
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
}

#[derive(Deserialize)]
struct AddedToken {
    content: String,
}

#[derive(Deserialize)]
struct TokenizerHead {
    normalizer: Option<JsonNormalizer>,
    pre_tokenizer: Option<JsonPreTokenizer>,
    model: ModelHead,
}

#[derive(Deserialize)]
struct ModelHead {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct BpeFile {
    model: Bpe,
}

#[derive(Deserialize)]
struct Bpe {
    vocab: FxHashMap<String, u32>,
    merges: Vec<Merge>,
    #[serde(default)]
    ignore_merges: bool,
    #[serde(default)]
    byte_fallback: bool,
    #[serde(default)]
    fuse_unk: bool,
    unk_token: Option<String>,
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
    /// The model, or why only the crate can compute it.
    fn read(self, is_bytes: bool) -> Result<Result<Model, String>, EncodingError> {
        let empty = |text: &Option<String>| text.as_deref().unwrap_or_default().is_empty();
        let is_plain = self.dropout.unwrap_or_default() == 0.0
            && empty(&self.continuing_subword_prefix)
            && empty(&self.end_of_word_suffix);
        if !is_plain {
            return Ok(Err(
                "its merges depend on chance or on the place in a word".to_owned()
            ));
        }
        let others = match self.others(is_bytes) {
            Ok(others) => others,
            Err(reason) => return Ok(Err(reason.to_owned())),
        };
        let mut merges = FxHashMap::default();
        for (rank, merge) in (0..).zip(&self.merges) {
            let ids = merge.parts().and_then(|(left, right)| {
                let id = |token: &str| self.vocab.get(token).copied();
                Some((id(left)?, id(right)?, id(&format!("{left}{right}"))?))
            });
            let Some((left, right, both)) = ids else {
                return Err(EncodingError::Vocabulary(
                    "a merge names what is not a token; take the file that belongs to the model".to_owned(),
                ));
            };
            merges.insert((left, right), (rank, both));
        }
        let model = Model::new(self.vocab, merges, others, self.ignore_merges);
        Ok(model.ok_or_else(|| "its merges join what stands for unknown characters".to_owned()))
    }

    /// What a character is that is no token.
    fn others(&self, is_bytes: bool) -> Result<Others, &'static str> {
        if is_bytes {
            let is_token = |character: &char| self.vocab.contains_key(character.to_string().as_str());
            return if characters().iter().all(is_token) {
                Ok(Others::None)
            } else {
                Err("a byte is not a token of it")
            };
        }
        if self.byte_fallback {
            let bytes = (0..=u8::MAX).map(|byte| self.vocab.get(&format!("<{byte:#04X}>")).copied());
            if let Some(bytes) = bytes.collect() {
                return Ok(Others::Bytes(bytes));
            }
        }
        match self.unk_token.as_ref().map(|token| self.vocab.get(token)) {
            Some(Some(id)) if !self.byte_fallback => Ok(Others::Unknown {
                id: *id,
                fuse: self.fuse_unk,
            }),
            _ => Err("it has no token for what is unknown"),
        }
    }
}

/// The character of each byte in a byte-level vocabulary: visible ones of Latin-1 stand for themselves, the others follow one
/// another from U+0100 on.
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
