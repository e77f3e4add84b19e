//! `p50k_base`, the encoding of the Codex models: `r50k_base` and two dozen tokens for runs of spaces.

use std::sync::Arc;

use crate::about::{About, Counting};
use crate::bpe::Tables;
use crate::encoding::Registered;
use crate::merges;
use crate::scan::Style;
use crate::split::Splitter;
use crate::sync::BoundaryClasses;

/// Ordinary tokens.
const TOKENS: u32 = 50_280;

static MERGES: &[u8] = include_bytes!("p50k_base.merges");

pub(super) static ENCODING: Registered = Registered::new(
    "p50k_base",
    About {
        title: "OpenAI, 50 k tokens with runs of spaces",
        models: "text-davinci-003, text-davinci-002, code-davinci-002",
        vocabulary: TOKENS,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    tables,
    tiktoken_rs::p50k_base_singleton,
);

#[expect(clippy::expect_used, reason = "the vocabulary is embedded and tests load it")]
fn tables() -> Arc<Tables> {
    let vocabulary = merges::read(MERGES, TOKENS as usize).expect("the embedded vocabulary is whole");
    Arc::new(Tables::new(
        Splitter::scan(Style::GPT2),
        vocabulary,
        BoundaryClasses::GPT2,
    ))
}
