//! Functions on single texts: they edit, cut, escape and store them, look into JSON texts, and write times and media as words.
//!
//! Strings and single parts of a message come in, and texts go out, mostly borrowed. This folder knows neither conversations nor losses:
//! its callers, in all folders above, declare the loss that a change of a text is. Words that only one dialect writes are in its file.

pub(crate) mod arena;
pub(crate) mod control_tokens;
pub(crate) mod edit;
pub(crate) mod json;
pub(crate) mod markdown;
pub(crate) mod media;
pub(crate) mod placeholders;
pub(crate) mod run;
pub(crate) mod times;
