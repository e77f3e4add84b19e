//! Why a rendering is left out for what its text says: nobody asks before the answer, or a chat template refuses it.
//!
//! What its row says, and its envelope, are judged elsewhere.

pub(crate) mod asked;
pub(crate) mod valid_for;
