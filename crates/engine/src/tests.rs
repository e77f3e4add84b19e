//! Tests of the engine without a run: how inputs are cut, walked and located, and which requests are refused.
#![allow(clippy::disallowed_methods)]

mod limits;
mod pipelines;
mod places;
mod plans;
mod records;
mod selections;
mod severities;
mod shards;
mod slices;
mod tables;
pub(crate) mod test_dir;
mod walks;
mod windows;
