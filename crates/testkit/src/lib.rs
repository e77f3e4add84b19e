//! Helpers for the tests of several crates: generators of chats, the validator of renderings, and the completeness test
//! of losses.
//!
//! It is only a development dependency. It depends on conversations and dialects but not on the engine, so that the
//! tests of a dialect do not wait for the engine to build; the crate `workshop` runs pipelines. Tests that need both
//! are in `tests/` of this crate.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    clippy::unnecessary_debug_formatting
)]

pub mod archived;
pub mod chats;
pub mod conversations;
pub mod corruption;
pub mod histories;
pub mod losses;
pub mod mutate;
pub mod samples;
pub mod validator;
