//! Schemas of tools: converts the parameters of a tool to the schema that a vendor accepts, and checks them against the vendor's rules.
//!
//! `forms` calls this folder with the text of a schema and the rules of a dialect, and gets the written text, amounts of losses, and a
//! problem that no repair solves.

pub(crate) mod converted;
pub(crate) mod gemini_schema;
pub(crate) mod json_schema;
pub(crate) mod keywords;
pub(crate) mod schema_rules;
pub(crate) mod spelling;
pub(crate) mod strict_schema;
