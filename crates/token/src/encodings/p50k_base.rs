//! `p50k_base`, the encoding of the Codex models: `r50k_base` and two dozen tokens for runs of spaces.

use crate::encoding::{Embedded, Registered};
use crate::split::patterns::GPT2;

pub(super) static ENCODING: Registered = Registered::new(
    "p50k_base",
    "OpenAI, 50 k tokens with runs of spaces",
    "text-davinci-003, text-davinci-002, code-davinci-002",
    50_280,
    Embedded::Merges(include_bytes!("p50k_base.merges"), &GPT2),
);
