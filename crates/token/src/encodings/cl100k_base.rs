//! `cl100k_base`, the encoding of GPT-4 and of the third generation of embeddings.
//!
//! A word may take one sign before it; contractions are pieces of their own. Digits come in threes, and a sign takes the line
//! breaks after it along.

use crate::encoding::about::{Counting, EncodingAbout};
use crate::encoding::{Embedded, Registered};
use crate::split::scan::Style;
use crate::split::sync::BoundaryClasses;

pub(super) static ENCODING: Registered = Registered::new(
    "cl100k_base",
    EncodingAbout {
        title: "OpenAI, 100 k tokens",
        models: "GPT-4, GPT-3.5 Turbo, text-embedding-3, text-embedding-ada-002",
        vocabulary: 100_256,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    Embedded::Merges(
        include_bytes!("cl100k_base.merges"),
        Style::CL100K,
        BoundaryClasses::MODERN,
    ),
    tiktoken_rs::cl100k_base_singleton,
);
