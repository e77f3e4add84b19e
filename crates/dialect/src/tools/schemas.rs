//! Schemas of tools: read, converted into what each vendor takes, and held against its rules.
//!
//! The rest of a definition is in `definition`, and how it is written in `forms`.

pub(crate) mod converted;
pub(crate) mod gemini_schema;
pub(crate) mod json_schema;
pub(crate) mod keywords;
pub(crate) mod schema_rules;
pub(crate) mod strict_schema;
