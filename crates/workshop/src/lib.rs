//! Helpers for tests of whole runs: a folder to run pipelines in, readers of the resulting tables, kills, and the targets of fuzzing.
//!
//! A development dependency only. It is a separate crate above `testkit`, because it needs the engine. `test_dir` and `rows` serve ordinary
//! tests, `chaos` the proof of resuming, `campaign` and `targets` the fuzzing.
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
