//! Vocabularies that users bring: rank files and tokenizer files, each read exactly or refused.
//!
//! In come the bytes of a file; out come ranks with a pattern (`ranks`, `tekken`) or a model with its steps (`tokenizer_json`,
//! `sentencepiece`). Files that only the `tokenizers` crate can compute go to `hugging_face`. `encoding::custom_encoding` calls all of
//! them.

#[cfg(feature = "tokenizers")]
pub(crate) mod hugging_face;
pub(crate) mod ranks;
pub(crate) mod sentencepiece;
pub(crate) mod tekken;
pub(crate) mod tokenizer_json;

/// The text of a tokenizer file in JSON; `None` if the file may be a `SentencePiece` model.
pub(crate) fn json(file: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(file).ok()?;
    text.trim_start().starts_with('{').then_some(text)
}
