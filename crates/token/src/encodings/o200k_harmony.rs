//! `o200k_harmony`, the encoding of the open-weight gpt-oss models.
//!
//! As ordinary text it is `o200k_base`, whose tables it shares; it differs in more than a thousand special tokens, which chat text
//! never contains as tokens.

use super::o200k_base;
use crate::encoding::about::{Counting, EncodingAbout};
use crate::encoding::{Embedded, Registered};

pub(super) static ENCODING: Registered = Registered::new(
    "o200k_harmony",
    EncodingAbout {
        title: "OpenAI, 200 k tokens, harmony control tokens",
        models: "gpt-oss-20b, gpt-oss-120b",
        vocabulary: 199_998,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    Embedded::Of(&o200k_base::ENCODING),
    tiktoken_rs::o200k_harmony_singleton,
);
