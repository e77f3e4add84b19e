//! Options of a run that are not part of its plan.

use std::path::Path;

use chatmill_dataset::{DatasetError, DatasetParent};

/// Options of a run that are not part of its plan. None of them changes the dataset.
#[derive(Clone, Copy, Default)]
pub struct RunOptions<'r> {
    /// Worker threads; 0 means as many as the machine or its control group provides.
    pub threads: usize,
    /// Whether a finished dataset of a different plan may be replaced.
    pub replace: bool,
    /// The way in which tokens are counted; the counts are equal.
    pub count_mode: CountMode,
    /// The interval of renderings in a slice that tiktoken-rs counts again; 0 for none.
    pub verify_every: u64,
    /// Writes the reports of the complete dataset into this folder before it is published.
    pub report: Option<Reporter<'r>>,
    /// The open folder that the dataset is created in, for folders of
    /// chatmill such as a store. The plan's destination is then its path.
    pub parent: Option<&'r DatasetParent>,
}

/// The way in which tokens are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountMode {
    /// Counts of repeated text are cached, only new text is counted.
    #[default]
    Cached,
    /// The reference tokenizer of each encoding counts every rendering whole; for measurements.
    Reference,
}

/// A function that writes reports into the folder of a complete dataset, from its tables alone.
#[derive(Clone, Copy)]
pub struct Reporter<'r>(pub &'r (dyn Fn(&Path) -> Result<(), DatasetError> + Sync));
