//! Tools: what defines them, what they take, and calls and results as text.
//!
//! Schemas and arguments are read and written here, in the forms of all vendors. `messages` pairs results with calls, `naming` names
//! tools and calls.

pub(crate) mod arguments;
pub(crate) mod as_text;
pub(crate) mod called;
pub(crate) mod converted;
pub(crate) mod definition;
pub(crate) mod forms;
pub(crate) mod gemini_schema;
pub(crate) mod hosted;
pub(crate) mod inferred_schema;
pub(crate) mod json_schema;
pub(crate) mod keywords;
pub(crate) mod schema_rules;
pub(crate) mod strict_schema;
