//! From the receipts of all slices to a published dataset.

pub(crate) mod collisions;
pub(crate) mod seal;
pub mod summary;
