//! Tools: definitions and their schemas, arguments of calls, and calls and results as text.
//!
//! Definitions and arguments come in as the source wrote them, in the form of any vendor, and go out in the form that a dialect wants, with
//! declared losses; passes and the dialects that write records call this folder. `messages` pairs results with calls, and `naming` chooses
//! the names of tools and the ids of calls.

pub(crate) mod arguments;
pub(crate) mod as_text;
pub(crate) mod called;
pub(crate) mod definition;
pub(crate) mod forms;
pub(crate) mod hosted;
pub(crate) mod inferred_schema;
pub(crate) mod schemas;
