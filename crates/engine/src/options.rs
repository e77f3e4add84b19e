//! Options of a run beside its plan.

use std::path::Path;

use chatmill_dataset::{DatasetError, DatasetParent};

/// Options of a run beside its plan.
#[derive(Clone, Copy, Default)]
pub struct RunOptions<'r> {
    /// Worker threads; 0 takes those of the machine or its control group.
    pub threads: usize,
    /// Whether a finished dataset of another plan may be replaced.
    pub replace: bool,
    /// The way of counting tokens; the counts are the same.
    pub count_mode: CountMode,
    /// Every how many renderings of a slice tiktoken-rs counts again; 0 for none.
    pub verify_every: u64,
    /// Writes the reports of the complete dataset in this folder, before it is published.
    pub report: Option<Reporter<'r>>,
    /// The open folder in which the dataset is made, where it is one of chatmill's own; the plan's destination is its path.
    pub parent: Option<&'r DatasetParent>,
}

/// The way of counting tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountMode {
    /// New text is counted, the counts of repeated text are cached.
    #[default]
    Cached,
    /// The reference of each encoding counts every rendering whole: for measuring.
    Reference,
}

/// Writes reports into the folder of a complete dataset, from its tables alone.
#[derive(Clone, Copy)]
pub struct Reporter<'r>(pub &'r (dyn Fn(&Path) -> Result<(), DatasetError> + Sync));
