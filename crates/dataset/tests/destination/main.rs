//! Destinations: what may stand there and beside it, and what is never touched.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]
#![allow(clippy::disallowed_methods, reason = "tests look at the files")]

#[path = "../support/mod.rs"]
mod support;

mod edited;
mod forged;
mod lock;
mod places;
mod planted;
mod replacing;
