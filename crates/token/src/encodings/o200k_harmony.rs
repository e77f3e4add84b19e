//! `o200k_harmony`, the encoding of the open-weight gpt-oss models.
//!
//! As ordinary text it is `o200k_base`, whose tables it shares; it differs in more than a thousand special tokens, which chat text
//! never contains as tokens.

use std::sync::Arc;

use super::o200k_base;
use crate::about::{About, Counting};
use crate::encoding::Registered;

pub(super) static ENCODING: Registered = Registered::new(
    "o200k_harmony",
    About {
        title: "OpenAI, 200 k tokens, harmony control tokens",
        models: "gpt-oss-20b, gpt-oss-120b",
        vocabulary: 199_998,
        source: "tiktoken-rs 0.12, embedded",
        counting: Counting::Once,
    },
    || Arc::clone(&o200k_base::ENCODING.loaded().tables),
    tiktoken_rs::o200k_harmony_singleton,
);
