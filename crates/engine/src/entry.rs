//! The origin of records: inputs and their entries.

use std::sync::Arc;

use chatmill_source::Source;

/// An input or an entry of it, and the source that reads it.
#[derive(Clone, Default)]
pub struct EntryRef {
    /// Index of the input in the plan.
    pub input: usize,
    /// Whether the bytes of the entry are the bytes of the input, uncompressed and whole.
    pub is_plain: bool,
    /// Member of an archive; empty for the input itself.
    pub entry: String,
    /// Table of a database or a dump; empty for other entries.
    pub table: String,
    /// The source that reads it; `None` if it contains only framing errors.
    pub source: Option<&'static dyn Source>,
    /// The reason why no source reads its records, if known.
    pub refusal: Option<Arc<str>>,
}

impl EntryRef {
    /// Refers to an input in which nothing was recognised.
    pub(crate) fn of_input(input: usize) -> Self {
        Self {
            input,
            ..Self::default()
        }
    }
}
