//! Writers that several dialects share: what they are given, they write, and lose nothing.
//!
//! What fits turns to a dialect is a pass; what only one dialect writes stands with it.

pub(crate) mod list;
pub(crate) mod object;
pub(crate) mod picture;
