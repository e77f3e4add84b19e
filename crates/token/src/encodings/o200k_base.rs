//! `o200k_base`, the encoding of the models since GPT-4o.
//!
//! Words break between small letters and capitals, so that camelCase becomes two words; marks belong to their letters. Contractions stay
//! with their word. Digits come in threes.

use crate::encoding::{Embedded, Registered};
use crate::split::patterns::O200K;

pub(super) static ENCODING: Registered = Registered::new(
    "o200k_base",
    "OpenAI, 200 k tokens",
    "GPT-5, GPT-4.1, GPT-4o, o1, o3, o4-mini",
    199_998,
    Embedded::Merges(include_bytes!("o200k_base.merges"), &O200K),
);
