//! Encodings of one's own: a rank file with its pattern, or a tokenizer file.

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
use crate::files::tokenizer_json::{self, TokenizerFile, TokenizerReading, Way};
use crate::files::{self, sentencepiece, tekken};
use crate::split::patterns::Pattern;
use crate::split::prefix::Prefix;
use crate::split::splitter::Splitter;
use crate::split::sync::BoundaryClasses;
use crate::steps::Steps;

/// An encoding that a pipeline brought along.
pub(crate) struct CustomEncoding {
    pub(crate) name: String,
    source: String,
    vocabulary: u32,
    counting: Counting,
    pub(crate) tables: Option<Arc<Tables>>,
    /// Who counts texts that are not normalised.
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
        match tokenizer_json::read(json)? {
            TokenizerReading::Merges(file) => {
                let own = Self::merging(name, "tokenizer file", *file)?;
                #[cfg(feature = "tokenizers")]
                let own = own.counted_by(json)?;
                Ok(own)
            }
            TokenizerReading::Other(reason) => Self::whole(name, json, &reason),
        }
    }

    /// One that merges by a model, in the shortest way that there is.
    fn merging(name: &str, file: &str, read: TokenizerFile) -> Result<Self, EncodingError> {
        let TokenizerFile { model, steps, way } = read;
        let steps = Arc::new(steps);
        let characters = tokenizer_json::characters();
        let (alphabet, cut) = match &way {
            Way::Bytes { cut, .. } => (Alphabet::Bytes(&characters), cut.clone()),
            Way::Blanks(_) => (Alphabet::Blanks, "not cut".to_owned()),
            Way::Steps => (Alphabet::Characters, "cut step by step".to_owned()),
        };
        let (merges, vocabulary) = reached::vocabulary(&model, alphabet)?;
        let (splitter, boundaries, prefix, normalised) = match way {
            Way::Bytes {
                splitter, boundaries, ..
            } => {
                let normalizers = Arc::clone(&steps.normalizers);
                let normalised = (!normalizers.is_empty()).then(|| {
                    Arc::new(Steps {
                        normalizers,
                        pre_tokenizers: Vec::new(),
                    })
                });
                (splitter, boundaries, Prefix::None, normalised)
            }
            Way::Blanks(prefix) => (Splitter::Whole, BoundaryClasses::NONE, prefix, None),
            Way::Steps => (
                Splitter::Whole,
                BoundaryClasses::NONE,
                Prefix::None,
                Some(Arc::clone(&steps)),
            ),
        };
        let mut tables = Tables::new(splitter, merges, boundaries);
        tables.prefix = prefix;
        let source = format!("{file}, {cut}");
        let reference = ReferenceTokenizer::merging(Arc::new(Merging { model, steps }));
        let mut own = Self::of_tables(name, source, vocabulary, Arc::new(tables), reference);
        if let Some(steps) = normalised {
            own.normalise(steps);
        }
        Ok(own)
    }

    /// Takes these steps before texts are counted.
    fn normalise(&mut self, steps: Arc<Steps>) {
        let is_form = steps.pre_tokenizers.is_empty() && steps.are_forms();
        let tables = if is_form {
            self.tables.clone()
        } else {
            self.tables.take()
        };
        let Some(tables) = tables else { return };
        let native = Arc::new(Native {
            name: self.name.as_str().into(),
            steps,
            tables,
        });
        self.counter = native.clone();
        self.normalised = is_form.then_some(native);
        if !is_form {
            self.counting = Counting::Whole;
        }
    }

    /// One that is counted by the `tokenizers` crate.
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

    /// The same, judged by the `tokenizers` crate where it is there.
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
            title: "An encoding of the pipeline's own",
            models: "",
            vocabulary: self.vocabulary,
            source: &self.source,
            counting: self.counting,
        }
    }
}

/// Names become columns: small letters, digits and `_`, none that the registry has.
#[cfg(test)]
pub(crate) mod tests;
