//! Unfinished work: a folder next to a destination, in which one or many processes finish the slices one by one until
//! they are sealed as a dataset. The engine claims a destination, commits slices, and publishes the sealed dataset.

pub(crate) mod comparison;
pub(crate) mod names;
pub(crate) mod receipt;
pub(crate) mod seal;
pub(crate) mod shard_manifests;
pub(crate) mod shared;
pub(crate) mod staging;
