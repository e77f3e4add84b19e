//! Whole runs over pipelines in a test folder: invariance, and properties of the output. The outputs of runs on small
//! inputs are transcripts in `crates/cli/tests/cases/`.
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
mod merging;
mod redaction;
mod replay;
mod report;
mod same_bytes;
mod shards;
mod teaching;
mod texts;
mod torture;
mod unread;
mod windows;
