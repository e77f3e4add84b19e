//! Counts tokens: one trait, one registry of encodings, exact and offline.
//!
//! tiktoken-rs brings the vocabularies and is the reference for every count. It does not count in production, because a long run of
//! white space exhausts the backtracking of its splitter and ends in a panic; the splitter and the merge here take time
//! in proportion to the text and give the same tokens.
//!
//! Left out on purpose: special tokens. `<|endoftext|>` in a chat is text like any other, and is counted as text. Only where a
//! template says that a fragment is its own control token, the fragment is one token and a boundary.

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
