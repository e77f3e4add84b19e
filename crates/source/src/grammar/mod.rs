//! How each vendor writes one message: roles, parts, calls, results, ids, usage, and definitions of tools.

pub(crate) mod anthropic;
mod any;
mod blocks;
pub(crate) mod converse;
pub(crate) mod definitions;
pub(crate) mod frameworks;
pub(crate) mod openai;
pub(crate) mod responses;
pub(crate) mod sharegpt;
pub(crate) mod signs;
pub(crate) mod usage;

pub(crate) use any::{ai_sdk, any};
pub(crate) use definitions::{Tools, definition, list_of_tools, tools_of_vendor};
pub(crate) use signs::Vendor;
