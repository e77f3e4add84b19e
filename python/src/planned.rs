//! A plan for tables that can be requested any number of times.

use chatmill_engine::Plan;
use pyo3::prelude::*;

use crate::watch::Watch;

/// The tables that need renderings; all others are made without them.
const RENDERED: [&str; 4] = ["renderings", "token_counts", "losses", "totals"];

/// A plan, with the inputs and options that its tables need.
pub(crate) struct Planned {
    /// The plan with its dialects.
    pub(crate) whole: Plan,
    /// The plan without dialects.
    pub(crate) reading: Plan,
    /// Threads that work on it; 0 for as many as there are processors.
    pub(crate) threads: usize,
    /// The Python callback for progress.
    pub(crate) progress: Option<Py<PyAny>>,
}

impl Planned {
    /// Returns the cheapest plan that makes these tables.
    pub(crate) fn of(&self, wanted: &[&'static str]) -> &Plan {
        if wanted.iter().any(|table| RENDERED.contains(table)) {
            &self.whole
        } else {
            &self.reading
        }
    }

    /// Makes a watch for the present thread, which reports progress to the callback.
    pub(crate) fn watch(&self, py: Python<'_>) -> Watch {
        Watch::new(self.progress.as_ref().map(|progress| progress.clone_ref(py)))
    }

    /// Returns the encodings that name columns.
    pub(crate) fn encodings(&self) -> Vec<String> {
        self.whole.encoding_names()
    }
}
