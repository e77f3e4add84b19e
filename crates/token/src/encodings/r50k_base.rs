//! `r50k_base`, the encoding of GPT-2 and GPT-3.

use std::sync::Arc;

use crate::bpe::Tables;
use crate::encoding::{About, Counting, Registered};
use crate::scan::Style;
use crate::split::Splitter;
use crate::sync::Borders;
use crate::vocabulary::Vocabulary;

/// One past the highest ordinary rank.
const RANKS: u32 = 50_256;

pub(super) static ENCODING: Registered = Registered::new(
    "r50k_base",
    About {
        title: "OpenAI, 50 k tokens",
        models: "GPT-3 (davinci, curie, babbage, ada), GPT-2",
        vocabulary: 50_256,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    tables,
    tiktoken_rs::r50k_base_singleton,
);

#[expect(clippy::expect_used, reason = "the vocabulary is embedded and tests load it")]
fn tables() -> Arc<Tables> {
    let reference = tiktoken_rs::r50k_base().expect("the embedded vocabulary loads");
    Arc::new(Tables::new(
        Splitter::scan(Style::GPT2),
        Vocabulary::read(&reference, RANKS),
        Borders::GPT2,
    ))
}
