//! Slices of the inputs: cut by one sequential reader, processed by many threads, delivered in order.
//!
//! [`Slicer`] reads inputs, recognises the format of each entry, groups scattered
//! rows by conversation and cuts [`Slice`]s; [`scheduler`] passes them to workers and
//! delivers their results in the order of the inputs; [`records`] iterates over the
//! records of a slice. Runs, checks, `walk` and `tables` all read inputs this way.

use std::sync::Arc;

use chatmill_dataset::SliceId;
use chatmill_diag::Finding;
use chatmill_intake::{Frame, FramingError};
use chatmill_source::{Evidence, Proposal};

mod companions;
mod cut_totals;
pub(crate) mod grouping;
pub(crate) mod merging;
mod recognise;
pub(crate) mod records;
mod repeats;
mod rows;
pub(crate) mod scheduler;
pub(crate) mod shards;
mod slicer;
mod unread;

pub(crate) use cut_totals::{CutCounts, CutTotals};
pub(crate) use repeats::Repeats;
pub(crate) use slicer::Slicer;

use crate::entry::EntryRef;
use crate::record::group::Group;

/// One step through the bytes of a slice.
pub(crate) enum Step {
    /// The following steps belong to this entry.
    Entry(EntryRef),
    /// A record.
    Frame(Frame),
    /// A record that is filtered before it is read.
    Filtered(Frame),
    /// Bytes between records.
    Separator(u64),
    /// The grouped rows of a conversation.
    Group(Group),
    /// Grouped rows that are filtered before they are read.
    FilteredGroup(Group),
    /// Rows of a table that are not read.
    Skipped {
        /// The table.
        table: String,
        /// The number of rows.
        rows: u64,
        /// The number of bytes of the entry.
        bytes: u64,
    },
    /// An entry that is skipped: it is no chat, or excluded.
    SkippedEntry {
        /// The kind of entry.
        kind: &'static str,
        /// The bytes of the entry.
        bytes: u64,
    },
    /// A record that could not be framed.
    FramingError(FramingError),
    /// A finding of the intake.
    Note(Finding),
    /// The end of the entry, with its number of bytes.
    EntryEnd(u64),
    /// The end of a range of an entry that continues in another shard, with its number of bytes.
    RangeEnd(u64),
}

/// A range of the inputs: the unit of work, of file and of resume.
pub(crate) struct Slice {
    /// The number of the slice.
    pub id: SliceId,
    /// Bytes of its frames.
    pub buffer: Vec<u8>,
    /// The steps through the bytes.
    pub steps: Vec<Step>,
    /// Bytes of input that the slice completes, for progress.
    pub input_bytes: u64,
    /// The entries that grouped rows come from, by [`RowPlace::entry`](crate::record::group::RowPlace::entry).
    pub entries: Arc<[EntryRef]>,
}

/// The recognised format of an entry.
#[derive(Default)]
pub struct Recognised {
    /// Index of the input in the plan.
    pub input: usize,
    /// Member of an archive.
    pub entry: String,
    /// Source and evidence.
    pub evidence: Option<Evidence>,
    /// The evidence for each source, by decreasing confidence.
    pub considered: Vec<Evidence>,
    /// The format that the entry looks like, if no source reads it.
    pub looks_like: Option<String>,
    /// A proposed map for the entry, if no source reads it.
    pub proposal: Option<Proposal>,
}

impl Slice {
    /// Adds bytes between records.
    fn separate(&mut self, bytes: u64) {
        match self.steps.last_mut() {
            Some(Step::Separator(before)) => *before += bytes,
            _ if bytes > 0 => self.steps.push(Step::Separator(bytes)),
            _ => {}
        }
    }
}
