//! Unfinished work: the folder beside a destination in which slices are finished one by one, by one process or by many, until they are
//! sealed as a dataset.

pub(crate) mod comparison;
pub(crate) mod names;
pub(crate) mod receipt;
pub(crate) mod seal;
pub(crate) mod shard_manifests;
pub(crate) mod shared;
pub(crate) mod staging;
