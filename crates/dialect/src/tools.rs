//! Tools: what defines them, what they take, and calls and results as text.
//!
//! Schemas and arguments are read and written here, in the forms of all vendors. `messages` pairs results with calls, `naming` names
//! tools and calls.

pub(crate) mod arguments;
pub(crate) mod as_text;
pub(crate) mod called;
pub(crate) mod definition;
pub(crate) mod forms;
pub(crate) mod hosted;
pub(crate) mod inferred_schema;
pub(crate) mod schemas;
