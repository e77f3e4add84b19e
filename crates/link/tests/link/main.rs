//! Conversations that are built by hand, linked and compared.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]

mod alternatives;
mod build;
mod cases;
mod duplicates;
mod forest;
mod large;
mod ngrams;
mod properties;
mod words;
