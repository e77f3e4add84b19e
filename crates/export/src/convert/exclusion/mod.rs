//! Reasons for leaving out a rendering: a filter excludes its row, no message precedes the answer in its text, or a chat template refuses
//! the messages. Each module has a function that returns the reason, or `None`; `convert` calls them for each rendering.
//!
//! The rules of an envelope are in the module of the envelope.

pub(crate) mod asked;
pub(crate) mod valid_for;
pub(crate) mod wanted;
