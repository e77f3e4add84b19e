//! The command line from outside: the real binary on small files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs
)]
#![allow(clippy::disallowed_methods, reason = "tests write the files that they need")]

mod bills;
mod canaries;
#[cfg(unix)]
mod caught;
mod chaos;
mod check;
mod check_reports;
mod check_settings;
mod convert;
mod desk;
mod example;
mod export;
#[cfg(unix)]
mod faults;
mod hostile_names;
mod init;
mod letters;
mod listings;
mod narrow;
mod night;
mod night_campaign;
mod night_interrupted;
#[cfg(unix)]
mod night_planted;
mod nightly_page;
mod no_content;
mod preferences;
mod programs;
mod render;
mod reports;
mod run;
mod shares;
#[cfg(target_os = "linux")]
mod signals;
mod streams;
mod tables;
mod unread;
