//! Tests of the command line that cannot be transcripts (`../cases/`): drawn inputs, whole registries, signals.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]
#![allow(clippy::disallowed_methods, reason = "tests write the files that they need")]

mod canaries;
#[cfg(unix)]
mod caught;
mod chaos;
mod check;
mod example;
#[cfg(unix)]
mod faults;
mod hostile_names;
mod narrow;
mod night_campaign;
#[cfg(unix)]
mod night_planted;
mod no_content;
mod registries;
#[cfg(target_os = "linux")]
mod signals;
mod streams;
mod test_dir;
