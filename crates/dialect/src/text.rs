//! Text by itself: changed, cut, marked, borrowed; JSON texts, times and media as words.
//!
//! This folder knows strings and single parts of a message, and neither conversations nor losses: callers declare what a change of a text
//! costs. Words of a single dialect stand with it.

pub(crate) mod arena;
pub(crate) mod control_tokens;
pub(crate) mod edit;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod media;
pub(crate) mod placeholders;
pub(crate) mod run;
pub(crate) mod times;
