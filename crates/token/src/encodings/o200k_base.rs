//! `o200k_base`, the encoding of the models since GPT-4o.
//!
//! Words break where small letters meet capitals, so that camelCase falls into its words; marks belong to their letters.
//! Contractions stay with their word. Digits come in threes.

use crate::encoding::about::{Counting, EncodingAbout};
use crate::encoding::{Embedded, Registered};
use crate::split::scan::Style;
use crate::split::sync::BoundaryClasses;

pub(super) static ENCODING: Registered = Registered::new(
    "o200k_base",
    EncodingAbout {
        title: "OpenAI, 200 k tokens",
        models: "GPT-5, GPT-4.1, GPT-4o, o1, o3, o4-mini",
        vocabulary: 199_998,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    Embedded::Merges(
        include_bytes!("o200k_base.merges"),
        Style::O200K,
        BoundaryClasses::MODERN,
    ),
    tiktoken_rs::o200k_base_singleton,
);
