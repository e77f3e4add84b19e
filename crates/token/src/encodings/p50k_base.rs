//! `p50k_base`, the encoding of the Codex models: `r50k_base` and two dozen tokens for runs of spaces.

use std::sync::Arc;

use crate::bpe::Tables;
use crate::encoding::{About, Counting, Registered};
use crate::scan::Style;
use crate::split::Splitter;
use crate::sync::Borders;
use crate::vocabulary::Vocabulary;

/// One past the highest ordinary rank.
const RANKS: u32 = 50_281;

pub(super) static ENCODING: Registered = Registered::new(
    "p50k_base",
    About {
        title: "OpenAI, 50 k tokens with runs of spaces",
        models: "text-davinci-003, text-davinci-002, code-davinci-002",
        vocabulary: 50_280,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    tables,
    tiktoken_rs::p50k_base_singleton,
);

#[expect(clippy::expect_used, reason = "the vocabulary is embedded and tests load it")]
fn tables() -> Arc<Tables> {
    let reference = tiktoken_rs::p50k_base().expect("the embedded vocabulary loads");
    Arc::new(Tables::new(
        Splitter::scan(Style::GPT2),
        Vocabulary::read(&reference, RANKS),
        Borders::GPT2,
    ))
}
