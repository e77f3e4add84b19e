//! A plan for tables that can be asked for as often as one likes.

use chatmill_engine::Plan;
use pyo3::prelude::*;

use crate::watch::Watch;

/// Tables that hold what dialects make of conversations; the others can be had without rendering anything.
const RENDERED: [&str; 4] = ["renderings", "token_counts", "losses", "totals"];

/// A plan, with the inputs and options that its tables need.
pub(crate) struct Planned {
    /// The plan with its dialects.
    pub(crate) whole: Plan,
    /// The same without them.
    pub(crate) reading: Plan,
    /// Threads that work on it; 0 for as many as there are processors.
    pub(crate) threads: usize,
    /// The Python callback for progress.
    pub(crate) progress: Option<Py<PyAny>>,
}

impl Planned {
    /// The plan that gives these tables at the least price.
    pub(crate) fn of(&self, wanted: &[&'static str]) -> &Plan {
        if wanted.iter().any(|table| RENDERED.contains(table)) {
            &self.whole
        } else {
            &self.reading
        }
    }

    /// A watch for the present thread, which reports progress to the callback.
    pub(crate) fn watch(&self, py: Python<'_>) -> Watch {
        Watch::new(self.progress.as_ref().map(|progress| progress.clone_ref(py)))
    }

    /// The encodings by which columns are called.
    pub(crate) fn encodings(&self) -> Vec<String> {
        self.whole.encoding_names()
    }
}
