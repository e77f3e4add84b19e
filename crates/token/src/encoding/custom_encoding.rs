//! Encodings of one's own: a rank file with its pattern, or a tokenizer file.

use std::sync::Arc;

use crate::bpe::tables::{Bpe, Tables};
use crate::bpe::vocabulary::Vocabulary;
use crate::counter::Counter;
use crate::encoding::about::{Counting, EncodingAbout};
use crate::encoding::reference::ReferenceTokenizer;
use crate::error::EncodingError;
#[cfg(feature = "tokenizers")]
use crate::files::hugging_face::Crate;
use crate::files::ranks::Ranks;
use crate::files::tokenizer_json::{self, TokenizerReading};
use crate::split::patterns::Pattern;
use crate::split::sync::BoundaryClasses;

/// An encoding that a pipeline brought along.
pub(crate) struct CustomEncoding {
    pub(crate) name: String,
    source: String,
    vocabulary: u32,
    counting: Counting,
    pub(crate) tables: Option<Arc<Tables>>,
    pub(crate) counter: Arc<dyn Counter>,
    pub(crate) reference: ReferenceTokenizer,
}

impl CustomEncoding {
    pub(crate) fn from_ranks(name: &str, ranks: &str, pattern: &str) -> Result<Self, EncodingError> {
        let pattern = Pattern::read(pattern)?;
        Ok(Self::new(name, "rank file", Ranks::read(ranks)?, pattern))
    }

    pub(crate) fn from_tokenizer(name: &str, json: &str) -> Result<Self, EncodingError> {
        let reason = match tokenizer_json::read(json)? {
            TokenizerReading::Ranks { ranks, pattern } => match Pattern::read(&pattern) {
                Ok(pattern) => {
                    let own = Self::new(name, "tokenizer file", ranks, pattern);
                    #[cfg(feature = "tokenizers")]
                    let own = own.judged_by(json)?;
                    return Ok(own);
                }
                Err(error) => error.to_string(),
            },
            TokenizerReading::Other(reason) => reason.to_owned(),
        };
        Self::whole(name, json, &reason)
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
    fn judged_by(mut self, json: &str) -> Result<Self, EncodingError> {
        self.reference = ReferenceTokenizer::tokenizer(Arc::new(Crate::read(&self.name, json)?));
        Ok(self)
    }

    fn new(name: &str, file: &str, ranks: Ranks, pattern: Pattern) -> Self {
        let source = match &pattern {
            Pattern::Known(family) => format!("{file}, cut as {} does", family.name),
            Pattern::CustomEncoding { .. } => format!("{file}, cut by a pattern of its own"),
        };
        let published = pattern.published().to_owned();
        let (splitter, borders) = pattern.into_cut();
        let vocabulary = Vocabulary::new(ranks.tokens().iter().map(|(token, rank)| (token, *rank)));
        let tables = Arc::new(Tables::new(splitter, vocabulary, borders));
        Self {
            name: name.to_owned(),
            source,
            vocabulary: u32::try_from(ranks.tokens().len()).unwrap_or(u32::MAX),
            counting: if borders == BoundaryClasses::NONE {
                Counting::Whole
            } else {
                Counting::Once
            },
            tables: Some(Arc::clone(&tables)),
            counter: Arc::new(Bpe {
                name: name.into(),
                tables,
            }),
            reference: ReferenceTokenizer::own(ranks, published),
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
