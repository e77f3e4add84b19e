//! Helpers for tests of whole runs: a folder to run pipelines in, readers of the resulting tables, kills, and
//! the targets of fuzzing.
//!
//! A development dependency only. It stands above `testkit`, because it needs the engine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    clippy::unnecessary_debug_formatting
)]

pub mod campaign;
pub mod chaos;
pub mod corpus;
pub mod rows;
pub mod targets;
pub mod test_dir;

pub use test_dir::TestDir;
