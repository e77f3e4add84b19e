//! Inputs from outside: what patterns find, what a scan accepts, what dumps hold. The tests lay out the folders that are read.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

mod discover;
mod fresh_dumps;
mod json_differential;
