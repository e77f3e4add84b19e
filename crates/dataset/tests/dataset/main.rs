//! Datasets from outside: written, sealed, published, read back and certified. The tests look at the files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

#[path = "../support/mod.rs"]
mod support;

mod absent;
mod certify;
mod destination;
mod reading;
mod staging;
mod tables;
