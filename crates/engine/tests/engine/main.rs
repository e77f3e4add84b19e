//! The engine below a run: how inputs are cut, walked and placed, and which requests are refused.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

mod desk;
mod limits;
mod lots;
mod pipelines;
mod places;
mod plans;
mod records;
mod selections;
mod severities;
mod slices;
mod tables;
mod walks;
mod windows;
