//! Writers that several dialects share: they write what they are given, and lose nothing.
//!
//! What fits turns to a dialect is a pass; what only one dialect writes stands with it.

pub(crate) mod list;
pub(crate) mod object;
pub(crate) mod picture;
