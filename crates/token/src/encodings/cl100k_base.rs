//! `cl100k_base`, the encoding of GPT-4 and of the third generation of embeddings.
//!
//! A word may take one sign before it; contractions are pieces of their own. Digits come in threes, and a sign takes the line
//! breaks after it along.

use std::sync::Arc;

use crate::about::{Counting, EncodingAbout};
use crate::bpe::Tables;
use crate::encoding::Registered;
use crate::merges;
use crate::scan::Style;
use crate::split::Splitter;
use crate::sync::BoundaryClasses;

/// Ordinary tokens.
const TOKENS: u32 = 100_256;

static MERGES: &[u8] = include_bytes!("cl100k_base.merges");

pub(super) static ENCODING: Registered = Registered::new(
    "cl100k_base",
    EncodingAbout {
        title: "OpenAI, 100 k tokens",
        models: "GPT-4, GPT-3.5 Turbo, text-embedding-3, text-embedding-ada-002",
        vocabulary: TOKENS,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    tables,
    tiktoken_rs::cl100k_base_singleton,
);

#[expect(clippy::expect_used, reason = "the vocabulary is embedded and tests load it")]
fn tables() -> Arc<Tables> {
    let vocabulary = merges::read(MERGES, TOKENS as usize).expect("the embedded vocabulary is whole");
    Arc::new(Tables::new(
        Splitter::scan(Style::CL100K),
        vocabulary,
        BoundaryClasses::MODERN,
    ))
}
