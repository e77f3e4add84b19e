//! Why a rendering is left out: a filter excludes its row, no message precedes the answer in its text, or a chat template refuses
//! the messages.
//!
//! The rules of an envelope are in the envelope.

pub(crate) mod asked;
pub(crate) mod valid_for;
pub(crate) mod wanted;
