//! Messages before they become turns: selects those that a rendering shows, reads their texts, orders calls and results, words quotes, and
//! declares what a dialect has no place for.
//!
//! A view comes in; messages, steps, texts and declared losses go out, to `transcript` for turns and to the dialects that write records.
//! Nothing here depends on a single dialect. Blocks and turns are built in `transcript`; definitions and arguments of tools are in `tools`.

pub(crate) mod filter;
pub(crate) mod order;
pub(crate) mod pairing;
pub(crate) mod quote;
pub(crate) mod select;
pub(crate) mod system;
pub(crate) mod text;
pub(crate) mod unsupported;
pub(crate) mod wording;
