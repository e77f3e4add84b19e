//! Messages before they are turns: which are shown, their content and order, what they quote, and what has no place.
//!
//! This folder serves turns and records alike and is fitted to no dialect. Blocks and turns stand in `transcript`, tools but for the order of
//! calls and results in `tools`.

pub(crate) mod filter;
pub(crate) mod order;
pub(crate) mod pairing;
pub(crate) mod quote;
pub(crate) mod select;
pub(crate) mod system;
pub(crate) mod text;
pub(crate) mod unsupported;
pub(crate) mod wording;
