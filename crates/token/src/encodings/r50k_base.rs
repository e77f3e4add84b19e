//! `r50k_base`, the encoding of GPT-2 and GPT-3.

use std::sync::Arc;

use crate::about::{About, Counting};
use crate::bpe::Tables;
use crate::encoding::Registered;
use crate::merges;
use crate::scan::Style;
use crate::split::Splitter;
use crate::sync::BoundaryClasses;

/// Ordinary tokens.
const TOKENS: u32 = 50_256;

/// The first tokens of `p50k_base` are those of this encoding.
static MERGES: &[u8] = include_bytes!("p50k_base.merges");

pub(super) static ENCODING: Registered = Registered::new(
    "r50k_base",
    About {
        title: "OpenAI, 50 k tokens",
        models: "GPT-3 (davinci, curie, babbage, ada), GPT-2",
        vocabulary: TOKENS,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    tables,
    tiktoken_rs::r50k_base_singleton,
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
