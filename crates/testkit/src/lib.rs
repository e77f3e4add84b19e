//! Helpers for tests of several crates: generators of chats, the validator of renderings, the completeness
//! test of losses.
//!
//! A development dependency only. It knows conversations and dialects and no engine, so that a change of a
//! dialect does not make its tests wait for one; pipelines are run by the crate `workshop`. Tests that need
//! both are in `tests/` of this crate.
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
