//! Dialects on conversations that are built and linked by hand, where more is to be said than what a rendering is: that, cases
//! in `../cases/` say.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

mod additions;
mod chatml;
mod documents;
mod gryag_compact;
mod hostile_templates;
mod invalid_rows;
mod judges;
mod laws;
mod losses;
mod openai_tools;
mod registry;
mod room;
mod rule_table;
mod suna_rows;
mod templates;
mod tzurot_scenarios;
mod windows;
