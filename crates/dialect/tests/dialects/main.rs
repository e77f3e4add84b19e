//! Tests of dialects with conversations that are built and linked by hand, for tests that check more than text and losses of a rendering:
//! cases in `../cases/` compare these.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs
)]

mod additions;
mod chat;
mod chatml;
mod documents;
mod gryag_compact;
mod hostile_templates;
mod invalid_rows;
mod losses;
mod markdown;
mod openai_tools;
mod parts_anywhere;
mod properties;
mod registry;
mod rule_table;
mod suna_rows;
mod template_ranges;
mod templates;
mod tool_schemas;
mod turn_starts;
mod tzurot_scenarios;
mod validators;
mod windows;
