//! `o200k_harmony`, the encoding of the open-weight gpt-oss models.
//!
//! For ordinary text it is `o200k_base`, and shares its tables. It differs in more than a thousand special tokens, which never occur as
//! tokens in the text of a chat.

use super::o200k_base;
use crate::encoding::{Embedded, Registered};

pub(super) static ENCODING: Registered = Registered::new(
    "o200k_harmony",
    "OpenAI, 200 k tokens, harmony control tokens",
    "gpt-oss-20b, gpt-oss-120b",
    199_998,
    Embedded::Of(&o200k_base::ENCODING),
);
