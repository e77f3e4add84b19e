//! `r50k_base`, the encoding of GPT-2 and GPT-3.
//!
//! Its tokens are the first ones of `p50k_base`, whose merges it reads.

use crate::encoding::about::{Counting, EncodingAbout};
use crate::encoding::{Embedded, Registered};
use crate::split::scan::Style;
use crate::split::sync::BoundaryClasses;

pub(super) static ENCODING: Registered = Registered::new(
    "r50k_base",
    EncodingAbout {
        title: "OpenAI, 50 k tokens",
        models: "GPT-3 (davinci, curie, babbage, ada), GPT-2",
        vocabulary: 50_256,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    Embedded::Merges(
        include_bytes!("p50k_base.merges"),
        Style::GPT2,
        BoundaryClasses::GPT2,
    ),
    tiktoken_rs::r50k_base_singleton,
);
