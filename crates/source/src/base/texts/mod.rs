//! Structures inside texts: JSON in strings, calls written as code, tags, and whole conversations. Grammars, layouts and formats pass a
//! text to these functions, and get its pieces, or `None` for a text without the structure.

pub(crate) mod details;
pub(crate) mod escapes;
pub(crate) mod python;
pub(crate) mod quoted_json;
pub(crate) mod repeated_text;
pub(crate) mod thoughts;
pub(crate) mod transcript;
