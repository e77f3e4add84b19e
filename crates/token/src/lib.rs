//! Counts tokens: one trait, one registry of encodings, exact and offline.
//!
//! tiktoken-rs brings the vocabularies and is the reference for every count. It does not count in production, because a long run of
//! white space exhausts the backtracking of its splitter and ends in a panic; the splitter and the merge here take time
//! in proportion to the text and give the same tokens.
//!
//! Left out on purpose: special tokens. `<|endoftext|>` in a chat is text like any other, and is counted as text. Only where a
//! template says that a stretch is its own control token, the stretch is one token and a boundary.

mod about;
mod bpe;
mod chunk_counter;
mod chunks;
mod classes;
mod counter;
mod custom_encoding;
mod encoding;
mod encodings;
mod error;
#[cfg(feature = "tokenizers")]
mod hugging_face;
mod join_points;
#[cfg(test)]
mod judged;
mod memory;
mod merge;
mod merge_table;
mod merges;
mod pairs;
mod patterns;
mod pieces;
mod ranks;
mod reference;
mod reference_counter;
mod scan;
mod split;
mod stretches;
mod sync;
mod token_counter;
mod tokenizer_json;
mod vocabulary;

pub use about::{Counting, EncodingAbout};
pub use counter::{Counter, TokenCounts};
pub use encoding::Encoding;
pub use encodings::{ENCODINGS, find};
pub use error::EncodingError;
pub use reference::ReferenceTokenizer;
pub use token_counter::TokenCounter;
