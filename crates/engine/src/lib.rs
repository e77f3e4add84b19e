//! Runs a pipeline: inputs go in, a sealed dataset of Parquet tables and a manifest comes out.
//!
//! One sequential reader cuts the inputs into slices. A worker takes each slice from
//! bytes to closed part files and writes a receipt; sealing proves from the receipts
//! that no record was lost. Formats, rules and dialects are in other crates.
//!
//! From the bottom up: [`pipeline`] (the file), [`record`] (one record from bytes to
//! findings), `plan` (the resolved request), `slice` (cutting and scheduling), `work` (a
//! slice becomes part files), `commit` (the dataset is published), [`run()`], and [`shards`]
//! (a run on many machines). [`tables`], [`walk()`], [`check`], [`inspect`] and [`rerender`]
//! use the same parts and write no dataset. Other crates use only what this page exports.

pub mod check;
mod commit;
mod entry;
mod error;
pub mod inspect;
mod options;
pub mod pipeline;
mod plan;
mod problem;
mod progress;
pub mod record;
pub mod rerender;
mod run;
pub mod shards;
mod slice;
pub mod tables;
mod walk;
mod work;

/// Rendering and pricing of one conversation without a dataset.
pub mod conversation {
    pub use crate::work::bill::{BillingMode, OwnSpans, is_copy, requests};
    pub use crate::work::budget::BudgetMeter;
    pub use crate::work::render::{WindowedRenderer, perspectives, render};
    pub use crate::work::shares::Billed;
    pub use crate::work::tables::tool_calls;
}

pub use chatmill_source::Proposal;
pub use commit::summary::{self, RunSummary};
pub use error::{PlanError, ReadError, RunError};
pub use options::{CountMode, Reporter, RunOptions};
pub use plan::{
    CheckSettings, InputReading, Plan, PlannedInput, ReadingOptions, Templates, WindowPlan,
    position_in_sample, source, typed_inputs,
};
pub use problem::{ReadProblem, ReadProblems};
pub use progress::{Progress, Queues, Silent};
pub use run::{Dropped, dropped, run};
pub use slice::scheduler::threads;
pub use walk::{WalkEvent, WalkedRecord, walk};
pub use work::receipt::FindingCount;

#[cfg(test)]
mod tests;
