//! The engine: a plan becomes a run.
//!
//! Inputs are cut into slices by one sequential reader; one worker takes a slice from bytes to closed part files; receipts
//! say what is done; sealing proves that nothing disappeared. What a conversation, a rule or a dialect is, it does not know.

pub mod bill;
pub mod check;
pub mod collisions;
pub mod crew;
pub mod field_map;
pub mod fit;
pub mod frame;
pub mod gather;
pub mod group;
pub mod inspect;
pub mod locate;
pub mod pipeline;
pub mod plan;
pub mod progress;
pub mod receipt;
mod recognise;
pub mod redact;
pub mod render;
pub mod rows;
pub mod run;
pub mod seal;
pub mod select;
pub mod slices;
pub mod slowest;
pub mod summary;
mod survey;
pub mod table_map;
pub mod tables;
pub mod totals;
mod transcript;
pub mod trouble;
pub mod walk;
pub mod windows;
pub mod work;

/// What `chatmill_source` proposes for files that nobody reads.
pub mod source {
    pub use chatmill_source::Proposal;
}

pub use plan::{Plan, PlanError};
pub use progress::{Progress, Queues, Silent};
pub use run::{RunError, RunOptions, run};
pub use summary::Summary;
