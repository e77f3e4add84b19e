//! Every dialect on conversations that are built and linked by hand.
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
mod group_chat;
mod gryag_compact;
mod gryag_gemini;
mod hostile_templates;
mod invalid_rows;
mod jaibber_context;
mod jaibber_events;
mod judges;
mod laws;
mod losses;
mod openai_chat;
mod openai_tools;
mod policies;
mod registry;
mod room;
mod rule_table;
mod suna_bedrock;
mod suna_rows;
mod templates;
mod tzurot;
mod tzurot_scenarios;
mod vendor_rules;
mod vendors;
mod windows;
