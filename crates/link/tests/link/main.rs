//! Conversations that are built by hand, linked and compared.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

mod build;
mod duplicates;
mod forest;
mod laws;
mod pairing;
mod references;
mod repeats;
