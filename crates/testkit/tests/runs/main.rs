//! Whole runs over pipelines in a workshop: what they write, and what stays the same.
#![allow(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    missing_docs
)]

mod across;
mod again;
mod alternatives;
mod bad_exports;
mod corpus;
mod damage;
mod dedup;
mod export;
mod faults;
mod forks;
mod gathering;
mod inputs;
mod learned;
mod limits;
mod lots;
mod mix;
mod redaction;
mod replay;
mod report;
mod resumed;
mod same_bytes;
mod select;
mod shards;
mod teaching;
mod torture;
mod unread;
mod windows;
