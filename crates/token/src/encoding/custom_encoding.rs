//! Encodings that a pipeline defines: a rank file with its pattern, or a tokenizer file.

use std::sync::Arc;

use crate::bpe::reached::{self, Alphabet};
use crate::bpe::tables::{Bpe, Tables};
use crate::bpe::vocabulary::Vocabulary;
use crate::counter::Counter;
use crate::encoding::about::{Counting, EncodingAbout};
use crate::encoding::native::Native;
use crate::encoding::reference::{Merging, ReferenceTokenizer};
use crate::error::EncodingError;
#[cfg(feature = "tokenizers")]
use crate::files::hugging_face::Crate;
use crate::files::ranks::Ranks;
use crate::files::tokenizer_json::{self, TokenizerFile, Unread};
use crate::files::{self, sentencepiece, tekken};
use crate::split::patterns::Pattern;
use crate::steps::Steps;

/// An encoding that a pipeline defines.
pub(crate) struct CustomEncoding {
    pub(crate) name: String,
    source: String,
    vocabulary: u32,
    counting: Counting,
    pub(crate) tables: Option<Arc<Tables>>,
    /// The counter of texts that the normalizers change.
    pub(crate) normalised: Option<Arc<Native>>,
    pub(crate) counter: Arc<dyn Counter>,
    pub(crate) reference: ReferenceTokenizer,
}

impl CustomEncoding {
    pub(crate) fn from_ranks(name: &str, ranks: &str, pattern: &str) -> Result<Self, EncodingError> {
        let pattern = Pattern::read(pattern)?;
        Ok(Self::new(name, "rank file", Ranks::read(ranks)?, pattern))
    }

    pub(crate) fn from_tokenizer(name: &str, file: &[u8]) -> Result<Self, EncodingError> {
        let Some(json) = files::json(file) else {
            return Self::merging(name, "SentencePiece model", sentencepiece::read(file)?);
        };
        if let Some((ranks, pattern)) = tekken::read(json)? {
            return Ok(Self::new(name, "tekken file", ranks, Pattern::read(&pattern)?));
        }
        match tokenizer_json::read(json) {
            Ok(file) => {
                let own = Self::merging(name, "tokenizer file", file)?;
                #[cfg(feature = "tokenizers")]
                let own = own.counted_by(json)?;
                Ok(own)
            }
            Err(Unread::Other(reason)) => Self::whole(name, json, &reason),
            Err(Unread::Refused(error)) => Err(error),
        }
    }

    /// An encoding that merges by a model, counted in the shortest exact way.
    fn merging(name: &str, file: &str, read: TokenizerFile) -> Result<Self, EncodingError> {
        let TokenizerFile { model, steps, plan } = read;
        let steps = Arc::new(steps);
        let (vocabulary, tokens) = reached::vocabulary(&model, plan.alphabet)?;
        // The steps that are left to do to a text before the tables count it.
        let left = match plan.alphabet {
            Alphabet::Blanks => Arc::default(),
            Alphabet::Characters => Arc::clone(&steps),
            Alphabet::Bytes => Arc::new(Steps {
                normalizers: Arc::clone(&steps.normalizers),
                pre_tokenizers: Vec::new(),
            }),
        };
        let mut tables = Tables::new(plan.splitter, vocabulary, plan.boundaries);
        tables.prefix = plan.prefix;
        let tables = Arc::new(tables);
        let source = format!("{file}, {}", plan.cut);
        let reference = ReferenceTokenizer::merging(Arc::new(Merging { model, steps }));
        let mut own = Self::of_tables(name, source, tokens, Arc::clone(&tables), reference);
        if plan.alphabet == Alphabet::Characters || !left.normalizers.is_empty() {
            let is_form = left.pre_tokenizers.is_empty() && left.are_forms();
            let native = Arc::new(Native {
                name: name.into(),
                steps: left,
                tables,
            });
            own.counter = native.clone();
            if is_form {
                own.normalised = Some(native);
            } else {
                (own.tables, own.counting) = (None, Counting::Whole);
            }
        }
        Ok(own)
    }

    /// An encoding that the `tokenizers` crate counts.
    #[cfg(feature = "tokenizers")]
    fn whole(name: &str, json: &str, _reason: &str) -> Result<Self, EncodingError> {
        let tokenizer = Arc::new(Crate::read(name, json)?);
        Ok(Self {
            name: name.to_owned(),
            source: "tokenizer file, by the tokenizers crate".to_owned(),
            vocabulary: tokenizer.vocabulary(),
            counting: Counting::Whole,
            tables: None,
            normalised: None,
            reference: ReferenceTokenizer::tokenizer(Arc::clone(&tokenizer)),
            counter: tokenizer,
        })
    }

    #[cfg(not(feature = "tokenizers"))]
    fn whole(_name: &str, _json: &str, reason: &str) -> Result<Self, EncodingError> {
        Err(EncodingError::Vocabulary(format!(
            "{reason}; that needs the `tokenizers` crate: build chatmill with `--features tokenizers`"
        )))
    }

    /// The same encoding with the `tokenizers` crate as its reference, if the build has it.
    #[cfg(feature = "tokenizers")]
    fn counted_by(mut self, json: &str) -> Result<Self, EncodingError> {
        self.reference = ReferenceTokenizer::tokenizer(Arc::new(Crate::read(&self.name, json)?));
        Ok(self)
    }

    fn new(name: &str, file: &str, ranks: Ranks, pattern: Pattern) -> Self {
        let source = format!("{file}, {}", pattern.cuts());
        let published = pattern.published().to_owned();
        let (splitter, boundaries) = pattern.into_cut();
        let vocabulary = Vocabulary::new(ranks.tokens().iter().map(|(token, rank)| (token, *rank)));
        let tables = Arc::new(Tables::new(splitter, vocabulary, boundaries));
        let tokens = u32::try_from(ranks.tokens().len()).unwrap_or(u32::MAX);
        let reference = ReferenceTokenizer::own(ranks, published);
        Self::of_tables(name, source, tokens, tables, reference)
    }

    fn of_tables(
        name: &str,
        source: String,
        vocabulary: u32,
        tables: Arc<Tables>,
        reference: ReferenceTokenizer,
    ) -> Self {
        Self {
            name: name.to_owned(),
            source,
            vocabulary,
            counting: if tables.may_be_cut() {
                Counting::Once
            } else {
                Counting::Whole
            },
            tables: Some(Arc::clone(&tables)),
            normalised: None,
            counter: Arc::new(Bpe {
                name: name.into(),
                tables,
            }),
            reference,
        }
    }

    pub(crate) fn about(&self) -> EncodingAbout<'_> {
        EncodingAbout {
            title: "An encoding that the pipeline defines",
            models: "",
            vocabulary: self.vocabulary,
            source: &self.source,
            counting: self.counting,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
