//! The engine below a run: how inputs are cut, walked and placed, and which requests are refused.
#![allow(clippy::disallowed_methods)]

pub(crate) mod desk;
mod limits;
mod lots;
mod pipelines;
mod places;
mod plans;
mod records;
mod selections;
mod severities;
mod slices;
mod tables;
mod walks;
mod windows;
