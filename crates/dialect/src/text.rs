//! Text by itself: changed, cut, marked, borrowed; JSON texts, times and media as words.
//!
//! What is here knows strings and single parts of a message, and neither a conversation nor what it costs to change a text: who calls
//! declares that. Words that only one dialect says stand with it.

pub(crate) mod arena;
pub(crate) mod control_tokens;
pub(crate) mod edit;
pub(crate) mod json;
pub(crate) mod media;
pub(crate) mod placeholders;
pub(crate) mod run;
pub(crate) mod times;
