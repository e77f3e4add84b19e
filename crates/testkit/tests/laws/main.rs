//! Laws that hold for any input: every loss is reported, nothing panics, and counts are exact.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs
)]

mod any_record;
mod any_rows;
mod counting;
mod drawn;
mod formats;
mod hard_codes;
mod hostile;
mod losses;
mod one_sink;
mod own_encodings;
mod policies;
mod prefix;
mod rules;
mod templates;
mod turns;
