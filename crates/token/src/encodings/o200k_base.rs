//! `o200k_base`, the encoding of the models since GPT-4o.
//!
//! Words break where small letters meet capitals, so that camelCase falls into its words; marks belong to their letters.
//! Contractions stay with their word. Digits come in threes.

use std::sync::Arc;

use crate::about::{About, Counting};
use crate::bpe::Tables;
use crate::encoding::Registered;
use crate::merges;
use crate::scan::Style;
use crate::split::Splitter;
use crate::sync::BoundaryClasses;

/// Ordinary tokens.
const TOKENS: u32 = 199_998;

static MERGES: &[u8] = include_bytes!("o200k_base.merges");

pub(super) static ENCODING: Registered = Registered::new(
    "o200k_base",
    About {
        title: "OpenAI, 200 k tokens",
        models: "GPT-5, GPT-4.1, GPT-4o, o1, o3, o4-mini",
        vocabulary: TOKENS,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    tables,
    tiktoken_rs::o200k_base_singleton,
);

#[expect(clippy::expect_used, reason = "the vocabulary is embedded and tests load it")]
fn tables() -> Arc<Tables> {
    let vocabulary = merges::read(MERGES, TOKENS as usize).expect("the embedded vocabulary is whole");
    Arc::new(Tables::new(
        Splitter::scan(Style::O200K),
        vocabulary,
        BoundaryClasses::MODERN,
    ))
}
