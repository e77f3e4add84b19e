//! What vendors write around the message of an answer: the pieces of a stream, and the counted tokens.

pub(crate) mod stream;
pub(crate) mod usage;
