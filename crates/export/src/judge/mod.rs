//! Why a rendering is left out, for what its row says and for what its text says: it is not wanted, nobody asks before the answer, or a
//! chat template refuses it.
//!
//! What its envelope refuses, the envelope says.

pub(crate) mod asked;
pub(crate) mod valid_for;
pub(crate) mod wanted;
