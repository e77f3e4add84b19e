//! Vocabularies that somebody brings: files of ranks and tokenizer files, read or refused.

#[cfg(feature = "tokenizers")]
pub(crate) mod hugging_face;
pub(crate) mod ranks;
pub(crate) mod sentencepiece;
pub(crate) mod tekken;
pub(crate) mod tokenizer_json;
