//! Publishes a dataset: from the receipts of all slices to a sealed folder.
//!
//! [`collisions`] finds conversation ids that occur more than once, [`seal`]
//! proves that no record was lost and writes the manifest, and [`summary`] is
//! the result for callers. A run and the end of a run in shards call them.

pub(crate) mod collisions;
pub(crate) mod seal;
pub mod summary;
