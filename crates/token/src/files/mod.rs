//! Vocabularies that somebody brings: files of ranks and tokenizer files, read or refused.

#[cfg(feature = "tokenizers")]
pub(crate) mod hugging_face;
pub(crate) mod ranks;
pub(crate) mod sentencepiece;
pub(crate) mod tekken;
pub(crate) mod tokenizer_json;

/// The text of a tokenizer file in JSON; `None` where the file is a model of `SentencePiece`.
pub(crate) fn json(file: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(file).ok()?;
    text.trim_start().starts_with('{').then_some(text)
}
