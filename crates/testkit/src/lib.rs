//! What tests of several crates share: a workshop to run pipelines in, and a generator of group chats.
//!
//! A development dependency only. Tests that need the whole mill stand in `tests/` beside this crate.
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
pub mod campaign;
pub mod chaos;
pub mod chats;
pub mod conversations;
pub mod corpus;
pub mod damage;
pub mod histories;
pub mod judge;
pub mod losses;
pub mod mutate;
pub mod random;
pub mod rows;
pub mod targets;
pub mod workshop;

pub use workshop::Workshop;
