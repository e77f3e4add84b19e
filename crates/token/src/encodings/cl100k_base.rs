//! `cl100k_base`, the encoding of GPT-4 and of the third generation of embeddings.
//!
//! A word may take along one sign before it; contractions are separate pieces. Digits come in threes, and a sign takes along the line
//! breaks after it.

use crate::encoding::{Embedded, Registered};
use crate::split::patterns::CL100K;

pub(super) static ENCODING: Registered = Registered::new(
    "cl100k_base",
    "OpenAI, 100 k tokens",
    "GPT-4, GPT-3.5 Turbo, text-embedding-3, text-embedding-ada-002",
    100_256,
    Embedded::Merges(include_bytes!("cl100k_base.merges"), &CL100K),
);
