//! Sources from the outside: fixtures, recognition, rows, and facts found by running the systems' own code.
#![allow(clippy::string_slice, clippy::disallowed_methods)]

mod agent_sessions;
mod canary;
mod detection;
mod exports;
mod frame;
mod gemini_vectors;
mod group_chat;
mod gryag_db;
mod jaibber_events;
mod jaibber_vectors;
mod lists;
mod paid;
mod registry;
mod rows;
mod suna_vectors;
mod tzurot_vectors;
mod unsupported;
mod vectors;
