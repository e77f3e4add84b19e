//! What vendors write around the message of an answer: the pieces of a stream, and the tokens that were counted.

pub(crate) mod stream;
pub(crate) mod usage;
