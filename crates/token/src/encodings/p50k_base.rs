//! `p50k_base`, the encoding of the Codex models: `r50k_base` and two dozen tokens for runs of spaces.

use crate::encoding::about::{Counting, EncodingAbout};
use crate::encoding::{Embedded, Registered};
use crate::split::scan::Style;
use crate::split::sync::BoundaryClasses;

pub(super) static ENCODING: Registered = Registered::new(
    "p50k_base",
    EncodingAbout {
        title: "OpenAI, 50 k tokens with runs of spaces",
        models: "text-davinci-003, text-davinci-002, code-davinci-002",
        vocabulary: 50_280,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    Embedded::Merges(
        include_bytes!("p50k_base.merges"),
        Style::GPT2,
        BoundaryClasses::GPT2,
    ),
    tiktoken_rs::p50k_base_singleton,
);
