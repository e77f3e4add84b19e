//! From the receipts of all slices to a published dataset.

pub mod collisions;
pub mod seal;
pub mod summary;
