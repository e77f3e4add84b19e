//! `r50k_base`, the encoding of GPT-2 and GPT-3.
//!
//! Its tokens are the first ones of `p50k_base`, and it reads the merges of that encoding.

use crate::encoding::{Embedded, Registered};
use crate::split::patterns::GPT2;

pub(super) static ENCODING: Registered = Registered::new(
    "r50k_base",
    "OpenAI, 50 k tokens",
    "GPT-3 (davinci, curie, babbage, ada), GPT-2",
    50_256,
    Embedded::Merges(include_bytes!("p50k_base.merges"), &GPT2),
);
