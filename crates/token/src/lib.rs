//! Counts the tokens of texts and renderings: one trait, one registry of encodings, exact and offline.
//!
//! In goes a text, or the rendering that a sink holds with its spans; out come tokens per encoding, divided among the spans' components.
//! `engine`, `report` and `cli` call it. `encodings` is the registry, `files` reads tokenizer files of users, `split` cuts texts into
//! pieces, `bpe` merges the bytes of a piece, and `token_counter` counts many renderings in many encodings at once and remembers what they
//! share.
//!
//! tiktoken-rs supplies the vocabularies and is the reference for every count. It does not count in production, because a long run of white
//! space exhausts the backtracking of its splitter and ends in a panic; the splitter and the merge here take time in proportion to the text
//! and find the same tokens.
//!
//! Special tokens are left out on purpose: `<|endoftext|>` in a chat is counted as ordinary text. Only a fragment that a template marks as
//! a control token is one token and a boundary.

mod bpe;
mod counter;
mod encoding;
mod encodings;
mod error;
mod files;
mod split;
mod steps;
mod token_counter;

pub use counter::{Counter, TokenCounts};
pub use encoding::Encoding;
pub use encoding::about::{Counting, EncodingAbout};
pub use encoding::reference::ReferenceTokenizer;
pub use encodings::model_families::{MODEL_FAMILIES, ModelFamily};
pub use encodings::{ENCODINGS, find, of_model};
pub use error::EncodingError;
pub use files::tokenizer_json::added_tokens;
pub use token_counter::TokenCounter;
pub use token_counter::shared::SharedTokenCounter;
