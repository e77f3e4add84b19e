//! The engine: a plan becomes a run.
//!
//! Inputs are cut into slices by one sequential reader; one worker takes a slice from bytes to closed part files; receipts
//! say what is done; sealing proves that nothing disappeared. What a conversation, a rule or a dialect is, it does not know.
//!
//! From the bottom up: [`pipeline`] (the file), [`record`] (one record from bytes to findings), [`plan`] (the resolved
//! request), [`slice`] (cutting and handing out), [`work`] (a slice becomes part files), [`commit`] (a dataset is published),
//! [`mod@run`], [`shards`] (a run that many share out); and beside them [`tables`], [`walk`], [`check`], [`inspect`] and
//! [`again`], which write no dataset.

pub mod again;
pub mod check;
pub mod commit;
pub mod entry;
pub mod error;
pub mod inspect;
pub mod options;
pub mod pipeline;
pub mod plan;
pub mod progress;
pub mod record;
pub mod run;
pub mod shards;
pub mod slice;
pub mod tables;
pub mod trouble;
pub mod walk;
pub mod work;

/// What `chatmill_source` proposes for files that no source reads.
pub mod source {
    pub use chatmill_source::Proposal;
}

pub use commit::summary::RunSummary;
pub use error::{PlanError, RunError};
pub use options::{Reporter, RunOptions};
pub use plan::Plan;
pub use progress::{Progress, Queues, Silent};
pub use run::run;
pub use slice::scheduler::threads;

#[cfg(test)]
mod tests;
