//! Publishes a dataset: from the receipts of all slices to a sealed folder.
//!
//! [`collisions`] finds conversation ids that occur more than once, [`seal`] proves
//! that no record was lost, writes the manifest and puts the dataset in place, and
//! [`summary`] is the result that callers get. A run and a merge of shards call it.

pub(crate) mod collisions;
pub(crate) mod seal;
pub mod summary;
