//! The origin of records: inputs and their entries.

use std::sync::Arc;

use chatmill_source::Source;

/// An input, or a part of one, and the source that reads it.
#[derive(Clone, Default)]
pub struct EntryRef {
    /// Index of the input in the plan.
    pub input: usize,
    /// Whether the input's bytes are those of the entry.
    pub is_plain: bool,
    /// Member of an archive; empty for the input itself.
    pub entry: String,
    /// Table of a database or a dump; empty where there is none.
    pub table: String,
    /// The source that reads it; none where nothing but framing errors is in it.
    pub source: Option<&'static dyn Source>,
    /// Why no source reads its records, where that is known.
    pub refusal: Option<Arc<str>>,
}

impl EntryRef {
    /// An input itself, of which nothing was recognised.
    pub(crate) fn of_input(input: usize) -> Self {
        Self {
            input,
            ..Self::default()
        }
    }
}
