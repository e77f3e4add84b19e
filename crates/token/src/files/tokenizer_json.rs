//! Hugging Face files (`tokenizer.json`) that merge pairs: their steps, their model, and the shortest exact way to count with them.
//!
//! Added tokens are left out: in a chat they are text. The tokens that a file puts around a text and its decoder have no effect on counts.
//! Files with anything else (Unigram, `WordPiece`, tables of characters) are for the `tokenizers` crate.

mod bounds;
mod steps;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use serde::de::IgnoredAny;

use self::steps::{JsonNormalizer, JsonPreTokenizer};
use crate::bpe::model::Model;
use crate::bpe::reached::Alphabet;
use crate::bpe::symbols::Others;
use crate::error::EncodingError;
use crate::split::patterns::PatternError;
use crate::split::prefix::Prefix;
use crate::split::splitter::Splitter;
use crate::split::sync::BoundaryClasses;
use crate::steps::Steps;
use crate::steps::byte_alphabet::CHARACTERS;

/// The reason why a tokenizer file is not counted by its merges.
pub(crate) enum Unread {
    /// Something in the file, described here, that only the crate can compute.
    Other(String),
    /// A fault of the file.
    Refused(EncodingError),
}

impl From<EncodingError> for Unread {
    fn from(error: EncodingError) -> Self {
        Self::Refused(error)
    }
}

impl From<PatternError> for Unread {
    fn from(error: PatternError) -> Self {
        Self::Refused(error.into())
    }
}

impl From<String> for Unread {
    fn from(reason: String) -> Self {
        Self::Other(reason)
    }
}

/// A file that merges pairs.
pub(crate) struct TokenizerFile {
    pub(crate) model: Model,
    /// All steps, as written.
    pub(crate) steps: Steps,
    pub(crate) plan: CountingPlan,
}

/// The short way to a count, without every step for every text.
pub(crate) struct CountingPlan {
    /// The symbols that are merged. Bytes are merged after the normalizers, characters after all steps.
    pub(crate) alphabet: Alphabet,
    /// A few words on the cut, for the source of the encoding.
    pub(crate) cut: String,
    pub(crate) splitter: Splitter,
    pub(crate) boundaries: BoundaryClasses,
    pub(crate) prefix: Prefix,
}

impl CountingPlan {
    /// A plan that does not cut.
    pub(crate) fn whole(alphabet: Alphabet, cut: &str, prefix: Prefix) -> Self {
        Self {
            alphabet,
            cut: cut.to_owned(),
            splitter: Splitter::Whole,
            boundaries: BoundaryClasses::NONE,
            prefix,
        }
    }
}

/// Reads a tokenizer file that merges pairs.
pub(crate) fn read(json: &str) -> Result<TokenizerFile, Unread> {
    let head: TokenizerHead = serde_json::from_str(json).map_err(|error| misread(&error))?;
    let normalizers: Vec<_> = head.normalizer.iter().flat_map(JsonNormalizer::flat).collect();
    let cutters: Vec<_> = head
        .pre_tokenizer
        .iter()
        .flat_map(JsonPreTokenizer::flat)
        .collect();
    bounds::check(&normalizers, &cutters)?;
    if head.model.kind.as_deref() != Some("BPE") {
        return Err(Unread::Other("its model does not merge pairs".to_owned()));
    }
    let file: BpeFile = serde_json::from_str(json).map_err(|error| misread(&error))?;
    let steps = Steps {
        normalizers: normalizers
            .iter()
            .map(|step| step.read())
            .collect::<Result<_, _>>()?,
        pre_tokenizers: cutters.iter().map(|step| step.read()).collect::<Result<_, _>>()?,
    };
    let model = file.model.read(cutters.iter().any(|step| step.is_byte_level()))?;
    let blanks = || steps::blanks(&normalizers, &cutters).filter(|_| model.has_blanks());
    let plan = steps::bytes(&cutters)
        .or_else(|| Some(CountingPlan::whole(Alphabet::Blanks, "not cut", blanks()?)))
        .unwrap_or_else(|| CountingPlan::whole(Alphabet::Characters, "cut step by step", Prefix::None));
    Ok(TokenizerFile { model, steps, plan })
}

/// The tokens that a `tokenizer.json` adds to those of its model, above all control tokens. `None` for other tokenizer files, which have no
/// such list.
///
/// # Errors
///
/// Fails if the file is JSON and its list cannot be read.
pub fn added_tokens(file: &[u8]) -> Result<Option<Vec<String>>, EncodingError> {
    let Some(json) = super::json(file) else {
        return Ok(None);
    };
    let file: AddedTokens = serde_json::from_str(json).map_err(|error| misread(&error))?;
    let contents = file.added_tokens.into_iter().map(|token| token.content);
    Ok(file.model.map(|_| contents.collect()))
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
    fn read(self, is_bytes: bool) -> Result<Model, Unread> {
        let is_empty = |text: &Option<String>| text.as_deref().is_none_or(str::is_empty);
        let is_plain = self.dropout.is_none_or(|dropout| dropout == 0.0)
            && is_empty(&self.continuing_subword_prefix)
            && is_empty(&self.end_of_word_suffix);
        if !is_plain {
            return Err(Unread::Other(
                "its merges depend on chance or on the place in a word".to_owned(),
            ));
        }
        let ids: FxHashSet<u32> = self.vocab.values().copied().collect();
        if ids.len() < self.vocab.len() {
            let problem = "two tokens have the same id; take the file that belongs to the model";
            return Err(EncodingError::Vocabulary(problem.to_owned()).into());
        }
        let others = self.others(is_bytes)?;
        let mut merges = FxHashMap::default();
        for (rank, merge) in (0..).zip(&self.merges) {
            let ids = merge.parts().and_then(|(left, right)| {
                let id = |token: &str| self.vocab.get(token).copied();
                Some(((id(left)?, id(right)?), id(&format!("{left}{right}"))?))
            });
            let (pair, both) = ids.ok_or_else(|| {
                let problem = "a merge names an unknown token; take the file that belongs to the model";
                EncodingError::Vocabulary(problem.to_owned())
            })?;
            merges.insert(pair, (rank, both));
        }
        let model = Model::new(self.vocab, merges, others, self.ignore_merges);
        model.ok_or_else(|| Unread::Other("its merges join the token for unknown characters".to_owned()))
    }

    /// The treatment of characters that are not tokens.
    fn others(&self, is_bytes: bool) -> Result<Others, String> {
        if is_bytes {
            let is_token = |character: &char| self.vocab.contains_key(character.to_string().as_str());
            let is_whole = CHARACTERS.iter().all(is_token);
            return is_whole
                .then_some(Others::None)
                .ok_or_else(|| "a byte is not a token of it".to_owned());
        }
        if self.byte_fallback {
            let bytes = (0..=u8::MAX).map(|byte| self.vocab.get(&format!("<{byte:#04X}>")).copied());
            if let Some(bytes) = bytes.collect() {
                return Ok(Others::Bytes(bytes));
            }
        }
        match self.unk_token.as_ref().and_then(|token| self.vocab.get(token)) {
            Some(id) if !self.byte_fallback => Ok(Others::Unknown {
                id: *id,
                fuse: self.fuse_unk,
            }),
            _ => Err("it has no token for unknown characters".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests;
